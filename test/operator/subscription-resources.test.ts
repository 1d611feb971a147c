/** Apps, plans and switches as resources: creation, repair and removal. */
import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { updateDomain, verifyDomain } from '../../services/mail/domains/store/domains.ts'
import { checkKey, checkSignature, findSigner } from '../../services/subscriptions/catalogue/app-credentials.ts'
import { createApp } from '../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../services/subscriptions/catalogue/manage-plans.ts'
import { canonicalRequest } from '../../services/subscriptions/catalogue/rules/request-signature.ts'
import { findApp } from '../../services/subscriptions/catalogue/store/apps.ts'
import { findPlanByName, findSwitch } from '../../services/subscriptions/catalogue/store/plans-and-flags.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { applySchedules, createSwitch } from '../../services/subscriptions/flags/manage-flags.ts'
import { NEW_SWITCH } from '../../services/subscriptions/flags/rules/flag-spec.ts'
import { giveDomain, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import {
  type OperatorUnderTest,
  operatorUnderTest,
  type Seen,
  type UnderTestOptions,
  untilYounger,
} from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

onApiServer('apps, plans and switches', () => {
  let keys = 0
  const start = async (more: Partial<UnderTestOptions> = {}) => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), ...more })
    const subscriptions = openSubscriptions(operator.foundation)
    const key = `shop-${process.pid}-${keys++}`
    return { operator, subscriptions, key, shop: { appKey: key, appName: `Shop ${key}` } }
  }
  const app = (subscriptions: Subscriptions, key: string) => findApp(subscriptions.collections, key)
  const kept = async (operator: OperatorUnderTest) => {
    const secret = await operator.secret('shop-app')
    if (!secret) throw new Error('no Secret')
    return secret
  }
  /** Applies a plan and a switch of the App `shop`, and waits until both are ready. */
  const offer = async (operator: OperatorUnderTest, deletionPolicy: 'Retain' | 'Delete') => {
    const appRef = { name: 'shop' }
    await operator.apply('SubscriptionPlan', 'pro', {
      appRef,
      name: 'Pro',
      price: '1',
      durationDays: 1,
      deletionPolicy,
    })
    await operator.apply('FeatureSwitch', 'dark', { appRef, name: 'dark', value: '1' })
    await operator.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    await operator.condition('FeatureSwitch', 'dark', 'Ready', 'True')
  }

  test('an App gets its keys in a Secret, and the keys are valid', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    const { status } = await operator.condition('App', 'shop', 'Ready', 'True')
    const secret = await kept(operator)
    expect(secret['app-key']).toBe(key)
    expect(await checkKey(subscriptions, secret['app-secret'] ?? '')).toMatchObject({ app_key: key, kind: 'secret' })
    expect(await checkKey(subscriptions, secret['publishable-key'] ?? '')).toMatchObject({
      app_key: key,
      kind: 'publishable',
    })
    expect(status).toMatchObject({ appId: String((await app(subscriptions, key))?._id), secretName: 'shop-app' })
    expect((await app(subscriptions, key))?.managed_by).toMatchObject({
      kind: 'App',
      namespace: operator.namespace,
      name: 'shop',
    })
    await until(async () => (await app(subscriptions, key))?.k8s?.ready === true)
  })

  test('a plan and a switch become ready with their App, and follow their spec', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('SubscriptionPlan', 'pro', {
      appRef: { name: 'shop' },
      name: 'Pro',
      price: '19.9',
      durationDays: 30,
      features: ['A'],
    })
    await operator.apply('FeatureSwitch', 'dark', {
      appRef: { name: 'shop' },
      name: 'dark',
      value: '1',
      rollout: '12.5',
    })
    const waiting = await operator.condition('SubscriptionPlan', 'pro', 'Ready', 'False')
    expect(waiting.status?.conditions?.[0]).toMatchObject({ reason: 'DependencyNotReady' })
    await operator.apply('App', 'shop', shop)
    await operator.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    await operator.condition('FeatureSwitch', 'dark', 'Ready', 'True')
    expect(await findPlanByName(subscriptions.collections, key, 'Pro')).toMatchObject({
      price_cents: 1990,
      original_price_cents: 1990,
      duration: 30,
      features: ['A'],
    })
    expect(await findSwitch(subscriptions.collections, key, 'dark')).toMatchObject({
      value: '1',
      rollout: 12.5,
      enabled: '1',
    })
    await operator.apply('SubscriptionPlan', 'pro', {
      appRef: { name: 'shop' },
      name: 'Pro',
      price: '25',
      durationDays: 0,
      features: [],
    })
    await until(async () => (await findPlanByName(subscriptions.collections, key, 'Pro'))?.price_cents === 2500)
    expect(await findPlanByName(subscriptions.collections, key, 'Pro')).toMatchObject({
      duration: 0,
      original_price_cents: 2500,
      features: [],
      version: 2,
    })
  })

  test('reverts a change of the database record and emits DriftReverted', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    await subscriptions.collections.apps.updateOne({ app_key: key }, { $set: { app_name: 'Mine now' } })
    await until(async () => (await app(subscriptions, key))?.app_name === shop.appName)
    await until(async () => (await operator.events('shop')).includes('DriftReverted'))
  })

  describe('the sender of its reminders', () => {
    const mailFrom = 'Notice@mail.example.org'
    const begin = async (role: 'admin' | 'user' = 'admin') => {
      const started = await start()
      const { operator, subscriptions, key, shop } = started
      const owner = await giveUser(operator.mongo.db, { username: 'platform', role })
      const domain = await giveDomain(operator.mongo.db, owner._id, 'mail.example.org')
      const declare = (spec: object = { mailFrom }) => operator.apply('App', 'shop', { ...shop, ...spec })
      const stored = async () => (await app(subscriptions, key))?.mail_from
      return { ...started, owner, domain, declare, stored }
    }
    const reasonOf = ({ status }: Seen, type: string) =>
      status?.conditions?.find(condition => condition.type === type)?.reason

    test('is used once its domain is verified and its owner listed, and is removed when either ends', async () => {
      const { operator, owner, domain, declare, stored } = await begin()
      await declare()
      const pending = await operator.condition('App', 'shop', 'SenderUsable', 'False')
      expect(reasonOf(pending, 'SenderUsable')).toBe('DomainNotUsable')
      expect(pending.status?.conditions?.[0]).toMatchObject({
        type: 'Ready',
        status: 'False',
        message: expect.stringMatching(
          /^Notice@mail\.example\.org is in no verified domain .* the platform's own sender/,
        ),
      })
      // The rest of the app is ready.
      expect(reasonOf(pending, 'Accepted')).toBe('Accepted')
      expect(pending.status).toMatchObject({ secretName: 'shop-app' })
      expect(pending.status).not.toHaveProperty('mailFrom')

      await verifyDomain(operator.mongo.db, domain._id, 'dns', operator.clock.now())
      await until(
        async () => reasonOf((await operator.get('App', 'shop')) as Seen, 'SenderUsable') === 'OwnerNotAllowed',
      )
      expect(await stored()).toBeUndefined()

      await operator.allowOwners('other, platform')
      const ready = await operator.condition('App', 'shop', 'Ready', 'True')
      expect(reasonOf(ready, 'SenderUsable')).toBe('Available')
      expect(ready.status).toMatchObject({ mailFrom })
      expect(await stored()).toBe(mailFrom)

      await updateDomain(operator.mongo.db, domain._id, { status: 'suspended' })
      await operator.condition('App', 'shop', 'SenderUsable', 'False')
      expect(await stored()).toBeUndefined()
      await updateDomain(operator.mongo.db, domain._id, { status: 'verified' })
      await operator.condition('App', 'shop', 'Ready', 'True')
      expect(await stored()).toBe(mailFrom)

      await operator.allowOwners('other')
      await operator.condition('App', 'shop', 'SenderUsable', 'False')
      expect(await stored()).toBeUndefined()
      await operator.allowOwners('platform')
      await operator.condition('App', 'shop', 'Ready', 'True')
      await operator.mongo.db
        .collection<{ _id: string }>('users')
        .updateOne({ _id: owner._id }, { $set: { role: 'user' } })
      await operator.condition('App', 'shop', 'SenderUsable', 'False')
      await operator.mongo.db
        .collection<{ _id: string }>('users')
        .updateOne({ _id: owner._id }, { $set: { role: 'admin' } })
      await operator.condition('App', 'shop', 'Ready', 'True')

      await declare({})
      await until(async () => (await stored()) === undefined)
      const without = await operator.condition('App', 'shop', 'Ready', 'True')
      expect(reasonOf(without, 'SenderUsable')).toBeUndefined()
      expect(await operator.events('shop')).not.toContain('DriftReverted')
    })

    test('is not used if the domain belongs to a user who is no admin, even if the Namespace lists the user', async () => {
      const { operator, domain, declare, stored } = await begin('user')
      await verifyDomain(operator.mongo.db, domain._id, 'dns', operator.clock.now())
      await operator.allowOwners('platform')
      await declare()
      const refused = await operator.condition('App', 'shop', 'SenderUsable', 'False')
      expect(reasonOf(refused, 'SenderUsable')).toBe('DomainNotUsable')
      expect(await stored()).toBeUndefined()
    })

    test('reverts changes of sender and signature setting in the database and emits DriftReverted', async () => {
      const { operator, subscriptions, key, domain, declare, stored } = await begin()
      await verifyDomain(operator.mongo.db, domain._id, 'dns', operator.clock.now())
      await operator.allowOwners('platform')
      await declare({ mailFrom, requireSignature: true })
      await operator.condition('App', 'shop', 'Ready', 'True')
      await subscriptions.collections.apps.updateOne({ app_key: key }, { $set: { mail_from: 'boss@mail.example.org' } })
      await until(async () => (await stored()) === mailFrom)
      await until(async () => (await operator.events('shop')).includes('DriftReverted'))
      await subscriptions.collections.apps.updateOne({ app_key: key }, { $unset: { require_signature: 1 } })
      await until(async () => (await app(subscriptions, key))?.require_signature === true)
    })
  })

  test('an App that requires signatures gets a valid signing key in its Secret and keeps it when the requirement ends', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', { ...shop, requireSignature: true })
    await operator.condition('App', 'shop', 'Ready', 'True')
    expect((await app(subscriptions, key))?.require_signature).toBe(true)
    const secret = await kept(operator)
    const signer = await findSigner(subscriptions, secret['hmac-key-id'] ?? '')
    if (!signer) throw new Error('no such signing key')
    const request = {
      keyId: signer._id,
      timestamp: String(Math.floor(operator.clock.now().getTime() / 1000)),
      nonce: 'once-only',
    }
    const given = { ...request, method: 'GET', target: '/server/user?app_key=x', body: '' }
    const sign = (with_: string) => createHmac('sha256', with_).update(canonicalRequest(given)).digest('base64')
    await expect(checkSignature(subscriptions, signer, { ...given, signature: sign('another') })).rejects.toMatchObject(
      {
        code: 'app_signature_invalid',
      },
    )
    await checkSignature(subscriptions, signer, { ...given, signature: sign(secret['hmac-secret'] ?? '') })

    await operator.apply('App', 'shop', { ...shop, requireSignature: false })
    await until(async () => (await app(subscriptions, key))?.require_signature === undefined)
    await operator.admin.request({
      method: 'DELETE',
      path: `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`,
    })
    await until(async () => (await operator.secret('shop-app')) !== undefined)
    expect(await kept(operator)).toMatchObject({ 'hmac-key-id': signer._id, 'hmac-secret': secret['hmac-secret'] })
  })

  test('adds the signing key to a Secret of an earlier release without reporting a change', async () => {
    const { operator, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`
    const body = { data: { 'hmac-key-id': null, 'hmac-secret': null } }
    await operator.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await until(async () => (await kept(operator))['hmac-secret'] !== undefined)
    await operator.condition('App', 'shop', 'Ready', 'True')
    expect((await operator.events('shop')).filter(reason => reason.startsWith('Secret'))).toEqual([])
  })

  test('restores a lost Secret with a new app secret, keeps the old one valid and emits SecretRestored', async () => {
    const { operator, subscriptions, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const before = await kept(operator)
    await operator.admin.request({
      method: 'DELETE',
      path: `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`,
    })
    await until(async () => (await operator.secret('shop-app')) !== undefined)
    const after = await kept(operator)
    expect(after['publishable-key']).toBe(before['publishable-key'])
    expect(after['app-secret']).not.toBe(before['app-secret'])
    expect(await checkKey(subscriptions, after['app-secret'] ?? '')).toBeDefined()
    expect(await checkKey(subscriptions, before['app-secret'] ?? '')).toBeDefined()
    await until(async () => (await operator.events('shop')).includes('SecretRestored'))
  })

  test('creates one app secret only while its Secret cannot be written, and one more for a lost Secret', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const { operator, subscriptions, key, shop } = await start({ client: token => proxy.client(token) })
    const refuse = (times: number) => {
      let left = times
      proxy.failure = ({ method, path }) =>
        method !== 'GET' && path.includes(`/namespaces/${operator.namespace}/secrets`) && left-- > 0
          ? { status: 500, reason: 'InternalError' }
          : undefined
      return () => left < 0
    }
    const secrets = () => subscriptions.collections.credentials.find({ app_key: key, kind: 'secret' }).lean()
    const written = refuse(2)
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    expect(written()).toBe(true)
    const { 'app-secret': first = '' } = await kept(operator)
    expect(await secrets()).toHaveLength(1)
    expect((await secrets())[0]).not.toHaveProperty('undelivered')
    const rewritten = refuse(2)
    await operator.admin.request({
      method: 'DELETE',
      path: `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`,
    })
    await until(rewritten, 30_000)
    await until(async () => (await operator.secret('shop-app')) !== undefined)
    const { 'app-secret': second = '' } = await kept(operator)
    expect([await checkKey(subscriptions, first), await checkKey(subscriptions, second)]).not.toContain(undefined)
    expect((await secrets()).map(({ revoked_at }) => revoked_at)).toEqual([undefined, undefined])
    await until(async () => (await secrets()).every(({ undelivered }) => undelivered === undefined))
  })

  test('replaces an app secret that was changed in its Secret by a valid one', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`
    const body = { data: { 'app-secret': Buffer.from('mine now').toString('base64') } }
    await operator.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await until(
      async () => (await checkKey(subscriptions, (await kept(operator))['app-secret'] ?? ''))?.app_key === key,
    )
    await until(async () => (await operator.events('shop')).includes('SecretRestored'))
  })

  test('does not overwrite a foreign Secret', async () => {
    const { operator, shop } = await start()
    await operator.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${operator.namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-app' }, stringData: { mine: 'yes' } },
    })
    await operator.apply('App', 'shop', shop)
    const { status } = await operator.condition('App', 'shop', 'SecretSynced', 'False')
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Ready', reason: 'Conflict' })
    expect(await operator.secret('shop-app')).toEqual({ mine: 'yes' })
  })

  test('takes over an existing app only with both annotations', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await createApp(subscriptions, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
    await operator.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true' } })
    const refused = await operator.condition('App', 'shop', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]?.message).toContain('postwright.dev/owners')
    expect((await app(subscriptions, key))?.app_name).toBe('Old')
    await operator.allowOwners(`other, ${key}`)
    await operator.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true', touched: '1' } })
    await operator.condition('App', 'shop', 'Ready', 'True')
    expect((await app(subscriptions, key))?.app_name).toBe(shop.appName)
  })

  test('an App, its plan and its switch are taken over by the same manifest after kubectl delete, and by no other namespace', async () => {
    const { operator, subscriptions, key, shop } = await start()
    const appRef = { name: 'shop' }
    const flag = { appRef, name: 'dark', value: '1', deletionPolicy: 'Retain' }
    const declare = async () => {
      await operator.apply('App', 'shop', shop)
      await operator.apply('SubscriptionPlan', 'pro', { appRef, name: 'Pro', price: '1', durationDays: 1 })
      await operator.apply('FeatureSwitch', 'dark', flag)
      for (const [kind, name] of all) await operator.condition(kind, name, 'Ready', 'True')
    }
    const all = [
      ['SubscriptionPlan', 'pro'],
      ['FeatureSwitch', 'dark'],
      ['App', 'shop'],
    ] as const
    await declare()
    const first = await app(subscriptions, key)
    for (const [kind, name] of all) await operator.removeAndWait(kind, name)
    // A cluster collects the Secret with its owner.
    const path = `/api/v1/namespaces/${operator.namespace}/secrets/shop-app`
    await operator.admin.request({ method: 'DELETE', path })
    expect(await app(subscriptions, key)).toMatchObject({ released_by: { namespace: operator.namespace } })
    expect((await app(subscriptions, key))?.managed_by).toBeUndefined()
    expect((await findSwitch(subscriptions.collections, key, 'dark'))?.managed_by).toBeUndefined()
    await declare()
    const again = await app(subscriptions, key)
    expect(again).toMatchObject({ _id: first?._id, managed_by: { namespace: operator.namespace } })
    expect(again).not.toHaveProperty('released_by')
    // It is no adopted app: its namespace needs no list to keep it.
    expect(again).not.toHaveProperty('adopted')
  })

  test('a retained App stays closed to a resource of another namespace', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await createApp(subscriptions, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
    const released_by = { kind: 'App', namespace: `${operator.namespace}-other`, name: 'shop', uid: 'u' }
    await subscriptions.collections.apps.updateOne({ app_key: key }, { $set: { released_by } })
    await operator.apply('App', 'shop', shop)
    const refused = await operator.condition('App', 'shop', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]?.reason).toBe('Conflict')
    expect((await app(subscriptions, key))?.managed_by).toBeUndefined()
  })

  test('a plan of the panel is adopted with the annotation, and keeps the fields that the resource leaves out', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const panelMade = {
      ...{ description: 'For teams', original_price_cents: 900, features: ['A', 'B'], sort_order: 4 },
      ...{ status: '0' as const, trial_days: 14, grace_days: 3, auto_renew_allowed: false },
    }
    await createPlan(subscriptions, systemActor, key, {
      ...{ name: 'Pro', price_cents: 100, duration: 30 },
      ...panelMade,
    })
    const spec = { appRef: { name: 'shop' }, name: 'Pro', price: '2', durationDays: 30 }
    await operator.apply('SubscriptionPlan', 'pro', spec)
    const refused = await operator.condition('SubscriptionPlan', 'pro', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('postwright.dev/adopt'),
    })
    await operator.apply('SubscriptionPlan', 'pro', spec, { annotations: { 'postwright.dev/adopt': 'true' } })
    await operator.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    const stored = () => findPlanByName(subscriptions.collections, key, 'Pro')
    expect(await stored()).toMatchObject({ price_cents: 200, ...panelMade })
    await operator.apply('SubscriptionPlan', 'pro', { ...spec, trialDays: 0, graceDays: 5, description: '' })
    await until(async () => (await stored())?.grace_days === 5)
    expect(await stored()).toMatchObject({ ...panelMade, trial_days: 0, grace_days: 5, description: '' })
    // A field that is removed from the resource keeps its value.
    await operator.apply('SubscriptionPlan', 'pro', { ...spec, price: '3' })
    await until(async () => (await stored())?.price_cents === 300)
    expect(await stored()).toMatchObject({ ...panelMade, trial_days: 0, grace_days: 5, description: '' })
  })

  test('a switch of the panel is adopted with the annotation, and keeps the fields that the resource leaves out', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const panelMade = {
      ...{ description: 'Dark mode', title: 'Dark', enabled: '0' as const, client_visible: '1' as const },
      ...{ rollout: 12.5, schedules: [{ at: 9_999_999_999, enabled: '1' as const }] },
      rules: [{ name: 'r', conditions: [{ attribute: 'v', operator: 'eq' as const, values: ['1'] }], value: '0' }],
    }
    await createSwitch(subscriptions, systemActor, { appKey: key, name: 'dark' }, { ...NEW_SWITCH, ...panelMade })
    const spec = { appRef: { name: 'shop' }, name: 'dark', value: '1' }
    await operator.apply('FeatureSwitch', 'dark', spec)
    const refused = await operator.condition('FeatureSwitch', 'dark', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('postwright.dev/adopt'),
    })
    const stored = () => findSwitch(subscriptions.collections, key, 'dark')
    expect(await stored()).toMatchObject({ value: '0' })
    const annotations = { 'postwright.dev/adopt': 'true' }
    await operator.apply('FeatureSwitch', 'dark', spec, { annotations })
    const ready = await operator.condition('FeatureSwitch', 'dark', 'Ready', 'True')
    expect(ready.status).toMatchObject({ enabled: false })
    expect(await stored()).toMatchObject({ ...panelMade, value: '1', managed_by: { name: 'dark' } })
    await operator.apply('FeatureSwitch', 'dark', { ...spec, enabled: true, rules: [] }, { annotations })
    await until(async () => (await stored())?.enabled === '1')
    expect(await stored()).toMatchObject({ ...panelMade, enabled: '1', rules: [] })
  })

  test.each(['{"a":}', '{"a":[}', '{"a":1,}'])(
    'a JSON value whose brackets and marks the API server cannot check is refused by the operator: %s',
    async value => {
      const { operator, subscriptions, key, shop } = await start()
      await operator.apply('App', 'shop', shop)
      await operator.condition('App', 'shop', 'Ready', 'True')
      const spec = { appRef: { name: 'shop' }, name: 'limits', type: 'json' }
      await operator.apply('FeatureSwitch', 'limits', { ...spec, value })
      const { status } = await operator.condition('FeatureSwitch', 'limits', 'Accepted', 'False')
      expect(status?.conditions?.slice(0, 3)).toMatchObject([
        { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: expect.stringContaining('value') },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec' },
        { type: 'Accepted', status: 'False', reason: 'InvalidSpec' },
      ])
      expect(await findSwitch(subscriptions.collections, key, 'limits')).toBeUndefined()
      await operator.apply('FeatureSwitch', 'limits', { ...spec, value: '{"a":1}' })
      await operator.condition('FeatureSwitch', 'limits', 'Ready', 'True')
      expect(await findSwitch(subscriptions.collections, key, 'limits')).toMatchObject({ value: '{"a":1}' })
    },
  )

  test('declared schedules take effect in time and are not reverted', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    const soon = new Date(operator.clock.now().getTime() + 60_000).toISOString()
    const schedules = [{ at: soon, value: '1', rollout: '25' }]
    const spec = { appRef: { name: 'shop' }, name: 'launch', value: '0', schedules }
    await operator.apply('FeatureSwitch', 'launch', spec)
    await operator.condition('FeatureSwitch', 'launch', 'Ready', 'True')
    const stored = () => findSwitch(subscriptions.collections, key, 'launch')
    expect(await stored()).toMatchObject({ value: '0', rollout: 100, schedules: [{ value: '1', rollout: 25 }] })
    operator.clock.advance(61_000)
    expect(await applySchedules(subscriptions, systemActor)).toBe(1)
    await operator.apply('FeatureSwitch', 'launch', { ...spec, title: 'Launched' })
    await until(async () => (await stored())?.title === 'Launched')
    expect(await stored()).toMatchObject({ value: '1', rollout: 25, schedules: [] })
    expect(await operator.events('launch')).not.toContain('DriftReverted')
  })

  test('an app of the panel is adopted with the fields that the resource leaves out', async () => {
    const { operator, subscriptions, key, shop } = await start()
    const made = await createApp(
      subscriptions,
      systemActor,
      { app_name: 'Old', app_description: 'On the web', status: '0' },
      { appKey: key, settings: { require_signature: true, mail_from: '' } },
    )
    await operator.allowOwners(key)
    const annotations = { 'postwright.dev/adopt': 'true' }
    await operator.apply('App', 'shop', shop, { annotations })
    await operator.condition('App', 'shop', 'Ready', 'True')
    const kept = { _id: made.app._id, app_name: shop.appName, app_description: 'On the web' }
    expect(await app(subscriptions, key)).toMatchObject({ ...kept, status: '0', require_signature: true })
    await operator.apply('App', 'shop', { ...shop, status: 'Enabled', requireSignature: false }, { annotations })
    await until(async () => (await app(subscriptions, key))?.status === '1')
    expect(await app(subscriptions, key)).toMatchObject(kept)
    expect((await app(subscriptions, key))?.require_signature).toBeUndefined()
  })

  describe('an app that was taken over and whose key the Namespace no longer lists', () => {
    const adopt = { annotations: { 'postwright.dev/adopt': 'true' } }
    const withAdopted = async () => {
      const started = await start()
      const { operator, subscriptions, key, shop } = started
      await createApp(
        subscriptions,
        systemActor,
        { app_name: 'Old', app_description: '', status: '1' },
        { appKey: key },
      )
      await operator.allowOwners(key)
      await operator.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete' }, adopt)
      await operator.condition('App', 'shop', 'Ready', 'True')
      await offer(operator, 'Delete')
      const secret = await kept(operator)
      const works = async () => (await checkKey(subscriptions, secret['app-secret'] ?? '')) !== undefined
      expect(await works()).toBe(true)
      return { ...started, secret, works }
    }

    test('is released with its plans and switches, and the secrets that were created are revoked', async () => {
      const { operator, subscriptions, key, shop, secret, works } = await withAdopted()
      await operator.allowOwners('other')
      await until(async () => (await app(subscriptions, key))?.managed_by === undefined)
      await until(async () => !(await works()))
      expect(await findSigner(subscriptions, secret['hmac-key-id'] ?? '')).toBeUndefined()
      expect(await checkKey(subscriptions, secret['publishable-key'] ?? '')).toMatchObject({ kind: 'publishable' })
      await operator.condition('App', 'shop', 'Accepted', 'False')
      for (const [kind, name] of [
        ['SubscriptionPlan', 'pro'],
        ['FeatureSwitch', 'dark'],
        ['App', 'shop'],
      ] as const)
        await operator.removeAndWait(kind, name)
      expect(await app(subscriptions, key)).toMatchObject({ app_name: shop.appName, live: true })
      const plan = await findPlanByName(subscriptions.collections, key, 'Pro')
      expect([plan?.managed_by, plan?.deleted_at]).toEqual([undefined, undefined])
      expect(await findSwitch(subscriptions.collections, key, 'dark')).toMatchObject({ value: '1' })
    })

    test('loses nothing if its resources are deleted before the operator sees the change', async () => {
      const { operator, subscriptions, key, works } = await withAdopted()
      await operator.running.stop()
      await operator.allowOwners(null)
      const all = [
        ['SubscriptionPlan', 'pro'],
        ['FeatureSwitch', 'dark'],
        ['App', 'shop'],
      ] as const
      for (const [kind, name] of all) await operator.remove(kind, name)
      await operator.another()
      for (const [kind, name] of all) await until(async () => (await operator.get(kind, name)) === undefined)
      expect((await app(subscriptions, key))?.live).toBe(true)
      expect((await findPlanByName(subscriptions.collections, key, 'Pro'))?.deleted_at).toBeUndefined()
      expect(await findSwitch(subscriptions.collections, key, 'dark')).toBeDefined()
      expect(await works()).toBe(false)
    })

    test('is taken over again with a new secret when it is listed again', async () => {
      const { operator, subscriptions, key, secret, works } = await withAdopted()
      await operator.allowOwners(null)
      await until(async () => (await app(subscriptions, key))?.managed_by === undefined)
      await operator.allowOwners(key)
      await operator.condition('App', 'shop', 'Ready', 'True')
      await until(async () => (await kept(operator))['app-secret'] !== secret['app-secret'])
      expect(await checkKey(subscriptions, (await kept(operator))['app-secret'] ?? '')).toMatchObject({ app_key: key })
      expect(await works()).toBe(false)
    })
  })

  test('an app that the namespace created needs no list', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.allowOwners(key)
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    await operator.allowOwners(null)
    await operator.apply('App', 'shop', { ...shop, appName: 'Renamed' })
    await operator.condition('App', 'shop', 'Ready', 'True')
    expect(await app(subscriptions, key)).toMatchObject({ app_name: 'Renamed', managed_by: { name: 'shop' } })
  })

  test('the older of two Apps with one key holds it, and the younger takes over when it is deleted', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await operator.condition('App', 'shop', 'Ready', 'True')
    await operator.apply('App', 'zhop', { ...shop, appName: 'Second' })
    const loser = await operator.condition('App', 'zhop', 'Accepted', 'False')
    expect(loser.status?.conditions?.[0]).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('/shop came first'),
    })
    await operator.remove('App', 'shop')
    await operator.condition('App', 'zhop', 'Ready', 'True')
    expect((await app(subscriptions, key))?.managed_by?.name).toBe('zhop')
  })

  test('Retain releases the records, Delete removes them', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', shop)
    await offer(operator, 'Delete')
    await operator.removeAndWait('SubscriptionPlan', 'pro')
    await operator.removeAndWait('FeatureSwitch', 'dark')
    await operator.removeAndWait('App', 'shop')
    expect((await findPlanByName(subscriptions.collections, key, 'Pro'))?.deleted_at).toBeInstanceOf(Date)
    expect(await findSwitch(subscriptions.collections, key, 'dark')).toBeUndefined()
    expect(await app(subscriptions, key)).toMatchObject({ app_name: shop.appName })
    expect((await app(subscriptions, key))?.managed_by).toBeUndefined()
  })

  test.each(['Retain', 'Delete'] as const)(
    'plans and switches that are deleted after their App leave no managed record: %s',
    async deletionPolicy => {
      const { operator, subscriptions, key, shop } = await start()
      await operator.apply('App', 'shop', shop)
      await offer(operator, deletionPolicy)
      await operator.removeAndWait('App', 'shop')
      await operator.removeAndWait('SubscriptionPlan', 'pro')
      await operator.removeAndWait('FeatureSwitch', 'dark')
      const plan = await findPlanByName(subscriptions.collections, key, 'Pro')
      expect(plan?.managed_by).toBeUndefined()
      expect(plan?.deleted_at !== undefined).toBe(deletionPolicy === 'Delete')
      expect(await findSwitch(subscriptions.collections, key, 'dark')).toBeUndefined()
    },
  )

  describe('an App of another namespace without permission', () => {
    /** An operator for two namespaces, and an App of the other one. */
    const withStranger = async () => {
      const other = await extraNamespace(sharedApiServer())
      const started = await start({ namespaces: [other] })
      const { operator, shop } = started
      const stranger = () => operator.apply('App', 'theirs', { ...shop, appName: 'Theirs' }, {}, other)
      return { ...started, other, stranger }
    }

    test('does not inherit the app of a deleted App', async () => {
      const { operator, subscriptions, key, shop, other, stranger } = await withStranger()
      await operator.apply('App', 'shop', shop)
      await operator.condition('App', 'shop', 'Ready', 'True')
      await stranger()
      await operator.condition('App', 'theirs', 'Accepted', 'False', other)
      await operator.remove('App', 'shop')
      await until(async () => (await app(subscriptions, key))?.managed_by === undefined)
      await until(async () => {
        const { status } = (await operator.get('App', 'theirs', other)) as Seen
        return status?.conditions?.[0]?.message.includes('postwright.dev/owners') ?? false
      })
      expect(await operator.secret('theirs-app', other)).toBeUndefined()
    })

    test('does not block an App that may take the app over', async () => {
      const { operator, subscriptions, key, shop, other, stranger } = await withStranger()
      await createApp(
        subscriptions,
        systemActor,
        { app_name: 'Old', app_description: '', status: '1' },
        { appKey: key },
      )
      await untilYounger(await stranger())
      await operator.condition('App', 'theirs', 'Accepted', 'False', other)
      await operator.allowOwners(key)
      await operator.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true' } })
      await operator.condition('App', 'shop', 'Ready', 'True')
      expect((await app(subscriptions, key))?.managed_by?.namespace).toBe(operator.namespace)
    })

    test('waits, once it is permitted, for the App that holds the app, even if it is older', async () => {
      const { operator, subscriptions, key, shop, other, stranger } = await withStranger()
      const adopt = { annotations: { 'postwright.dev/adopt': 'true' } }
      await createApp(
        subscriptions,
        systemActor,
        { app_name: 'Old', app_description: '', status: '1' },
        { appKey: key },
      )
      await untilYounger(await stranger())
      await operator.condition('App', 'theirs', 'Accepted', 'False', other)
      await operator.allowOwners(key)
      await operator.apply('App', 'shop', shop, adopt)
      await operator.condition('App', 'shop', 'Ready', 'True')
      await operator.allowOwners(key, other)
      await operator.apply('App', 'theirs', { ...shop, appName: 'Theirs now' }, adopt, other)
      const { status } = await operator.condition('App', 'theirs', 'Accepted', 'False', other)
      expect(status?.conditions?.[0]?.message).toContain(`${operator.namespace}/shop came first`)
      await operator.apply('App', 'shop', { ...shop, appName: 'Renamed' }, adopt)
      await operator.condition('App', 'shop', 'Ready', 'True')
      expect((await app(subscriptions, key))?.app_name).toBe('Renamed')
      // In a restored cluster the resource has another uid than the record.
      await operator.mongo.db
        .collection('sub_apps')
        .updateOne({ app_key: key }, { $set: { 'managed_by.uid': 'before the restore' } })
      await operator.apply('App', 'shop', { ...shop, appName: 'Restored' }, adopt)
      await operator.condition('App', 'shop', 'Ready', 'True')
      expect((await app(subscriptions, key))?.app_name).toBe('Restored')
      await operator.remove('App', 'shop')
      await operator.condition('App', 'theirs', 'Ready', 'True', other)
      expect(await app(subscriptions, key)).toMatchObject({ app_name: 'Theirs now', managed_by: { name: 'theirs' } })
    })

    test('a forged status does not let it create plans and switches in the app', async () => {
      const { operator, subscriptions, key, shop, other, stranger } = await withStranger()
      await operator.apply('App', 'shop', shop)
      const { status } = await operator.condition('App', 'shop', 'Ready', 'True')
      await stranger()
      await operator.condition('App', 'theirs', 'Accepted', 'False', other)
      await operator.forgeStatus('App', 'theirs', { appId: status?.appId }, other)
      await operator.apply(
        'SubscriptionPlan',
        'pro',
        { appRef: { name: 'theirs' }, name: 'Pro', price: '0', durationDays: 0 },
        {},
        other,
      )
      await operator.apply('FeatureSwitch', 'dark', { appRef: { name: 'theirs' }, name: 'dark', value: '1' }, {}, other)
      await operator.condition('SubscriptionPlan', 'pro', 'Accepted', 'Unknown', other)
      await operator.condition('FeatureSwitch', 'dark', 'Accepted', 'Unknown', other)
      expect([
        await findPlanByName(subscriptions.collections, key, 'Pro'),
        await findSwitch(subscriptions.collections, key, 'dark'),
      ]).toEqual([undefined, undefined])
    })
  })

  test('does not reconcile paused resources, and deletes them without changing the record', async () => {
    const { operator, subscriptions, key, shop } = await start()
    await operator.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete' })
    await operator.condition('App', 'shop', 'Ready', 'True')
    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    await operator.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete', appName: 'Changed' }, paused)
    const seen = await operator.condition('App', 'shop', 'Ready', 'False')
    expect(seen.status?.conditions?.[0]).toMatchObject({ reason: 'Paused' })
    expect((await app(subscriptions, key))?.app_name).toBe(shop.appName)
    await operator.removeAndWait('App', 'shop')
    expect(await app(subscriptions, key)).toMatchObject({ app_key: key, app_name: shop.appName })
  })
})
