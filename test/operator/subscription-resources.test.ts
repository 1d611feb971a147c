/** Apps, plans and switches as resources: creation, repair and removal. */
import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { updateDomain, verifyDomain } from '../../services/mail/domains/store/domains.ts'
import { checkKey, checkSignature, findSigner } from '../../services/subscriptions/catalogue/app-credentials.ts'
import { createApp } from '../../services/subscriptions/catalogue/manage-apps.ts'
import { canonicalRequest } from '../../services/subscriptions/catalogue/rules/request-signature.ts'
import { findApp } from '../../services/subscriptions/catalogue/store/apps.ts'
import { findPlanByName, findSwitch } from '../../services/subscriptions/catalogue/store/plans-and-flags.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../../services/subscriptions/context.ts'
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
    const o = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), ...more })
    const s = openSubscriptions(o.foundation)
    const key = `shop-${process.pid}-${keys++}`
    return { o, s, key, shop: { appKey: key, appName: `Shop ${key}` } }
  }
  const app = (s: Subscriptions, key: string) => findApp(s.c, key)
  const kept = async (o: OperatorUnderTest) => {
    const secret = await o.secret('shop-app')
    if (!secret) throw new Error('no Secret')
    return secret
  }
  /** Applies a plan and a switch of the App `shop`, and waits until both are ready. */
  const offer = async (o: OperatorUnderTest, deletionPolicy: 'Retain' | 'Delete') => {
    const appRef = { name: 'shop' }
    await o.apply('SubscriptionPlan', 'pro', { appRef, name: 'Pro', price: '1', durationDays: 1, deletionPolicy })
    await o.apply('FeatureSwitch', 'dark', { appRef, name: 'dark', value: '1' })
    await o.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    await o.condition('FeatureSwitch', 'dark', 'Ready', 'True')
  }

  test('an App gets its keys in a Secret, and the keys are valid', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    const { status } = await o.condition('App', 'shop', 'Ready', 'True')
    const secret = await kept(o)
    expect(secret['app-key']).toBe(key)
    expect(await checkKey(s, secret['app-secret'] ?? '')).toMatchObject({ app_key: key, kind: 'secret' })
    expect(await checkKey(s, secret['publishable-key'] ?? '')).toMatchObject({ app_key: key, kind: 'publishable' })
    expect(status).toMatchObject({ appId: String((await app(s, key))?._id), secretName: 'shop-app' })
    expect((await app(s, key))?.managed_by).toMatchObject({ kind: 'App', namespace: o.namespace, name: 'shop' })
    await until(async () => (await app(s, key))?.k8s?.ready === true)
  })

  test('a plan and a switch become ready with their App, and follow their spec', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('SubscriptionPlan', 'pro', {
      appRef: { name: 'shop' },
      name: 'Pro',
      price: '19.9',
      durationDays: 30,
      features: ['A'],
    })
    await o.apply('FeatureSwitch', 'dark', { appRef: { name: 'shop' }, name: 'dark', value: '1', rollout: '12.5' })
    const waiting = await o.condition('SubscriptionPlan', 'pro', 'Ready', 'False')
    expect(waiting.status?.conditions?.[0]).toMatchObject({ reason: 'DependencyNotReady' })
    await o.apply('App', 'shop', shop)
    await o.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    await o.condition('FeatureSwitch', 'dark', 'Ready', 'True')
    expect(await findPlanByName(s.c, key, 'Pro')).toMatchObject({
      price_cents: 1990,
      original_price_cents: 1990,
      duration: 30,
      features: ['A'],
    })
    expect(await findSwitch(s.c, key, 'dark')).toMatchObject({ value: '1', rollout: 12.5, enabled: '1' })
    await o.apply('SubscriptionPlan', 'pro', { appRef: { name: 'shop' }, name: 'Pro', price: '25', durationDays: 0 })
    await until(async () => (await findPlanByName(s.c, key, 'Pro'))?.price_cents === 2500)
    expect(await findPlanByName(s.c, key, 'Pro')).toMatchObject({ duration: 0, features: [], version: 2 })
  })

  test('reverts a change of the database record and emits DriftReverted', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    await s.c.apps.updateOne({ app_key: key }, { $set: { app_name: 'Mine now' } })
    await until(async () => (await app(s, key))?.app_name === shop.appName)
    await until(async () => (await o.events('shop')).includes('DriftReverted'))
  })

  describe('the sender of its reminders', () => {
    const mailFrom = 'Notice@mail.example.org'
    const begin = async (role: 'admin' | 'user' = 'admin') => {
      const started = await start()
      const { o, s, key, shop } = started
      const owner = await giveUser(o.mongo.db, { username: 'platform', role })
      const domain = await giveDomain(o.mongo.db, owner._id, 'mail.example.org')
      const declare = (spec: object = { mailFrom }) => o.apply('App', 'shop', { ...shop, ...spec })
      const stored = async () => (await app(s, key))?.mail_from
      return { ...started, owner, domain, declare, stored }
    }
    const reasonOf = ({ status }: Seen, type: string) =>
      status?.conditions?.find(condition => condition.type === type)?.reason

    test('is used once its domain is verified and its owner listed, and is removed when either ends', async () => {
      const { o, owner, domain, declare, stored } = await begin()
      await declare()
      const pending = await o.condition('App', 'shop', 'SenderUsable', 'False')
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

      await verifyDomain(o.mongo.db, domain._id, 'dns', o.clock.now())
      await until(async () => reasonOf((await o.get('App', 'shop')) as Seen, 'SenderUsable') === 'OwnerNotAllowed')
      expect(await stored()).toBeUndefined()

      await o.allowOwners('other, platform')
      const ready = await o.condition('App', 'shop', 'Ready', 'True')
      expect(reasonOf(ready, 'SenderUsable')).toBe('Available')
      expect(ready.status).toMatchObject({ mailFrom })
      expect(await stored()).toBe(mailFrom)

      await updateDomain(o.mongo.db, domain._id, { status: 'suspended' })
      await o.condition('App', 'shop', 'SenderUsable', 'False')
      expect(await stored()).toBeUndefined()
      await updateDomain(o.mongo.db, domain._id, { status: 'verified' })
      await o.condition('App', 'shop', 'Ready', 'True')
      expect(await stored()).toBe(mailFrom)

      await o.allowOwners('other')
      await o.condition('App', 'shop', 'SenderUsable', 'False')
      expect(await stored()).toBeUndefined()
      await o.allowOwners('platform')
      await o.condition('App', 'shop', 'Ready', 'True')
      await o.mongo.db.collection<{ _id: string }>('users').updateOne({ _id: owner._id }, { $set: { role: 'user' } })
      await o.condition('App', 'shop', 'SenderUsable', 'False')
      await o.mongo.db.collection<{ _id: string }>('users').updateOne({ _id: owner._id }, { $set: { role: 'admin' } })
      await o.condition('App', 'shop', 'Ready', 'True')

      await declare({})
      await until(async () => (await stored()) === undefined)
      const without = await o.condition('App', 'shop', 'Ready', 'True')
      expect(reasonOf(without, 'SenderUsable')).toBeUndefined()
      expect(await o.events('shop')).not.toContain('DriftReverted')
    })

    test('is not used if the domain belongs to a user who is no admin, even if the Namespace lists the user', async () => {
      const { o, domain, declare, stored } = await begin('user')
      await verifyDomain(o.mongo.db, domain._id, 'dns', o.clock.now())
      await o.allowOwners('platform')
      await declare()
      const refused = await o.condition('App', 'shop', 'SenderUsable', 'False')
      expect(reasonOf(refused, 'SenderUsable')).toBe('DomainNotUsable')
      expect(await stored()).toBeUndefined()
    })

    test('reverts changes of sender and signature setting in the database and emits DriftReverted', async () => {
      const { o, s, key, domain, declare, stored } = await begin()
      await verifyDomain(o.mongo.db, domain._id, 'dns', o.clock.now())
      await o.allowOwners('platform')
      await declare({ mailFrom, requireSignature: true })
      await o.condition('App', 'shop', 'Ready', 'True')
      await s.c.apps.updateOne({ app_key: key }, { $set: { mail_from: 'boss@mail.example.org' } })
      await until(async () => (await stored()) === mailFrom)
      await until(async () => (await o.events('shop')).includes('DriftReverted'))
      await s.c.apps.updateOne({ app_key: key }, { $unset: { require_signature: 1 } })
      await until(async () => (await app(s, key))?.require_signature === true)
    })
  })

  test('an App that requires signatures gets a valid signing key in its Secret and keeps it when the requirement ends', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', { ...shop, requireSignature: true })
    await o.condition('App', 'shop', 'Ready', 'True')
    expect((await app(s, key))?.require_signature).toBe(true)
    const secret = await kept(o)
    const signer = await findSigner(s, secret['hmac-key-id'] ?? '')
    if (!signer) throw new Error('no such signing key')
    const request = {
      keyId: signer._id,
      timestamp: String(Math.floor(o.clock.now().getTime() / 1000)),
      nonce: 'once-only',
    }
    const given = { ...request, method: 'GET', target: '/server/user?app_key=x', body: '' }
    const sign = (with_: string) => createHmac('sha256', with_).update(canonicalRequest(given)).digest('base64')
    await expect(checkSignature(s, signer, { ...given, signature: sign('another') })).rejects.toMatchObject({
      code: 'app_signature_invalid',
    })
    await checkSignature(s, signer, { ...given, signature: sign(secret['hmac-secret'] ?? '') })

    await o.apply('App', 'shop', { ...shop, requireSignature: false })
    await until(async () => (await app(s, key))?.require_signature === undefined)
    await o.admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${o.namespace}/secrets/shop-app` })
    await until(async () => (await o.secret('shop-app')) !== undefined)
    expect(await kept(o)).toMatchObject({ 'hmac-key-id': signer._id, 'hmac-secret': secret['hmac-secret'] })
  })

  test('adds the signing key to a Secret of an earlier release without reporting a change', async () => {
    const { o, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    const path = `/api/v1/namespaces/${o.namespace}/secrets/shop-app`
    const body = { data: { 'hmac-key-id': null, 'hmac-secret': null } }
    await o.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await until(async () => (await kept(o))['hmac-secret'] !== undefined)
    await o.condition('App', 'shop', 'Ready', 'True')
    expect((await o.events('shop')).filter(reason => reason.startsWith('Secret'))).toEqual([])
  })

  test('restores a lost Secret with a new app secret, keeps the old one valid and emits SecretRestored', async () => {
    const { o, s, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    const before = await kept(o)
    await o.admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${o.namespace}/secrets/shop-app` })
    await until(async () => (await o.secret('shop-app')) !== undefined)
    const after = await kept(o)
    expect(after['publishable-key']).toBe(before['publishable-key'])
    expect(after['app-secret']).not.toBe(before['app-secret'])
    expect(await checkKey(s, after['app-secret'] ?? '')).toBeDefined()
    expect(await checkKey(s, before['app-secret'] ?? '')).toBeDefined()
    await until(async () => (await o.events('shop')).includes('SecretRestored'))
  })

  test('creates one app secret only while its Secret cannot be written, and one more for a lost Secret', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    onTestFinished(() => proxy.stop())
    const { o, s, key, shop } = await start({ client: token => proxy.client(token) })
    const refuse = (times: number) => {
      let left = times
      proxy.failure = ({ method, path }) =>
        method !== 'GET' && path.includes(`/namespaces/${o.namespace}/secrets`) && left-- > 0
          ? { status: 500, reason: 'InternalError' }
          : undefined
      return () => left < 0
    }
    const secrets = () => s.c.credentials.find({ app_key: key, kind: 'secret' }).toArray()
    const written = refuse(2)
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    expect(written()).toBe(true)
    const { 'app-secret': first = '' } = await kept(o)
    expect(await secrets()).toHaveLength(1)
    expect((await secrets())[0]).not.toHaveProperty('undelivered')
    const rewritten = refuse(2)
    await o.admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${o.namespace}/secrets/shop-app` })
    await until(rewritten, 30_000)
    await until(async () => (await o.secret('shop-app')) !== undefined)
    const { 'app-secret': second = '' } = await kept(o)
    expect([await checkKey(s, first), await checkKey(s, second)]).not.toContain(undefined)
    expect((await secrets()).map(({ revoked_at }) => revoked_at)).toEqual([undefined, undefined])
    await until(async () => (await secrets()).every(({ undelivered }) => undelivered === undefined))
  })

  test('replaces an app secret that was changed in its Secret by a valid one', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    const path = `/api/v1/namespaces/${o.namespace}/secrets/shop-app`
    const body = { data: { 'app-secret': Buffer.from('mine now').toString('base64') } }
    await o.admin.request({ method: 'PATCH', path, body, patch: 'merge' })
    await until(async () => (await checkKey(s, (await kept(o))['app-secret'] ?? ''))?.app_key === key)
    await until(async () => (await o.events('shop')).includes('SecretRestored'))
  })

  test('does not overwrite a foreign Secret', async () => {
    const { o, shop } = await start()
    await o.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${o.namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-app' }, stringData: { mine: 'yes' } },
    })
    await o.apply('App', 'shop', shop)
    const { status } = await o.condition('App', 'shop', 'SecretSynced', 'False')
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Ready', reason: 'Conflict' })
    expect(await o.secret('shop-app')).toEqual({ mine: 'yes' })
  })

  test('takes over an existing app only with both annotations', async () => {
    const { o, s, key, shop } = await start()
    await createApp(s, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
    await o.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true' } })
    const refused = await o.condition('App', 'shop', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]?.message).toContain('postwright.dev/owners')
    expect((await app(s, key))?.app_name).toBe('Old')
    await o.allowOwners(`other, ${key}`)
    await o.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true', touched: '1' } })
    await o.condition('App', 'shop', 'Ready', 'True')
    expect((await app(s, key))?.app_name).toBe(shop.appName)
  })

  describe('an app that was taken over and whose key the Namespace no longer lists', () => {
    const adopt = { annotations: { 'postwright.dev/adopt': 'true' } }
    const withAdopted = async () => {
      const started = await start()
      const { o, s, key, shop } = started
      await createApp(s, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
      await o.allowOwners(key)
      await o.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete' }, adopt)
      await o.condition('App', 'shop', 'Ready', 'True')
      await offer(o, 'Delete')
      const secret = await kept(o)
      const works = async () => (await checkKey(s, secret['app-secret'] ?? '')) !== undefined
      expect(await works()).toBe(true)
      return { ...started, secret, works }
    }

    test('is released with its plans and switches, and the secrets that were created are revoked', async () => {
      const { o, s, key, shop, secret, works } = await withAdopted()
      await o.allowOwners('other')
      await until(async () => (await app(s, key))?.managed_by === undefined)
      await until(async () => !(await works()))
      expect(await findSigner(s, secret['hmac-key-id'] ?? '')).toBeUndefined()
      expect(await checkKey(s, secret['publishable-key'] ?? '')).toMatchObject({ kind: 'publishable' })
      await o.condition('App', 'shop', 'Accepted', 'False')
      for (const [kind, name] of [
        ['SubscriptionPlan', 'pro'],
        ['FeatureSwitch', 'dark'],
        ['App', 'shop'],
      ] as const)
        await o.removeWholly(kind, name)
      expect(await app(s, key)).toMatchObject({ app_name: shop.appName, live: true })
      const plan = await findPlanByName(s.c, key, 'Pro')
      expect([plan?.managed_by, plan?.deleted_at]).toEqual([undefined, undefined])
      expect(await findSwitch(s.c, key, 'dark')).toMatchObject({ value: '1' })
    })

    test('loses nothing if its resources are deleted before the operator sees the change', async () => {
      const { o, s, key, works } = await withAdopted()
      await o.running.stop()
      await o.allowOwners(null)
      const all = [
        ['SubscriptionPlan', 'pro'],
        ['FeatureSwitch', 'dark'],
        ['App', 'shop'],
      ] as const
      for (const [kind, name] of all) await o.remove(kind, name)
      await o.another()
      for (const [kind, name] of all) await until(async () => (await o.get(kind, name)) === undefined)
      expect((await app(s, key))?.live).toBe(true)
      expect((await findPlanByName(s.c, key, 'Pro'))?.deleted_at).toBeUndefined()
      expect(await findSwitch(s.c, key, 'dark')).toBeDefined()
      expect(await works()).toBe(false)
    })

    test('is taken over again with a new secret when it is listed again', async () => {
      const { o, s, key, secret, works } = await withAdopted()
      await o.allowOwners(null)
      await until(async () => (await app(s, key))?.managed_by === undefined)
      await o.allowOwners(key)
      await o.condition('App', 'shop', 'Ready', 'True')
      await until(async () => (await kept(o))['app-secret'] !== secret['app-secret'])
      expect(await checkKey(s, (await kept(o))['app-secret'] ?? '')).toMatchObject({ app_key: key })
      expect(await works()).toBe(false)
    })
  })

  test('an app that the namespace created needs no list', async () => {
    const { o, s, key, shop } = await start()
    await o.allowOwners(key)
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    await o.allowOwners(null)
    await o.apply('App', 'shop', { ...shop, appName: 'Renamed' })
    await o.condition('App', 'shop', 'Ready', 'True')
    expect(await app(s, key)).toMatchObject({ app_name: 'Renamed', managed_by: { name: 'shop' } })
  })

  test('the older of two Apps with one key holds it, and the younger takes over when it is deleted', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    await o.apply('App', 'zhop', { ...shop, appName: 'Second' })
    const loser = await o.condition('App', 'zhop', 'Accepted', 'False')
    expect(loser.status?.conditions?.[0]).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('/shop came first'),
    })
    await o.remove('App', 'shop')
    await o.condition('App', 'zhop', 'Ready', 'True')
    expect((await app(s, key))?.managed_by?.name).toBe('zhop')
  })

  test('Retain releases the records, Delete removes them', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await offer(o, 'Delete')
    await o.removeWholly('SubscriptionPlan', 'pro')
    await o.removeWholly('FeatureSwitch', 'dark')
    await o.removeWholly('App', 'shop')
    expect((await findPlanByName(s.c, key, 'Pro'))?.deleted_at).toBeInstanceOf(Date)
    expect(await findSwitch(s.c, key, 'dark')).toBeUndefined()
    expect(await app(s, key)).toMatchObject({ app_name: shop.appName })
    expect((await app(s, key))?.managed_by).toBeUndefined()
  })

  test.each(['Retain', 'Delete'] as const)(
    'plans and switches that are deleted after their App leave no managed record: %s',
    async deletionPolicy => {
      const { o, s, key, shop } = await start()
      await o.apply('App', 'shop', shop)
      await offer(o, deletionPolicy)
      await o.removeWholly('App', 'shop')
      await o.removeWholly('SubscriptionPlan', 'pro')
      await o.removeWholly('FeatureSwitch', 'dark')
      const plan = await findPlanByName(s.c, key, 'Pro')
      expect(plan?.managed_by).toBeUndefined()
      expect(plan?.deleted_at !== undefined).toBe(deletionPolicy === 'Delete')
      expect(await findSwitch(s.c, key, 'dark')).toBeUndefined()
    },
  )

  describe('an App of another namespace without permission', () => {
    /** An operator for two namespaces, and an App of the other one. */
    const withStranger = async () => {
      const other = await extraNamespace(sharedApiServer())
      const started = await start({ namespaces: [other] })
      const { o, shop } = started
      const stranger = () => o.apply('App', 'theirs', { ...shop, appName: 'Theirs' }, {}, other)
      return { ...started, other, stranger }
    }

    test('does not inherit the app of a deleted App', async () => {
      const { o, s, key, shop, other, stranger } = await withStranger()
      await o.apply('App', 'shop', shop)
      await o.condition('App', 'shop', 'Ready', 'True')
      await stranger()
      await o.condition('App', 'theirs', 'Accepted', 'False', other)
      await o.remove('App', 'shop')
      await until(async () => (await app(s, key))?.managed_by === undefined)
      await until(async () => {
        const { status } = (await o.get('App', 'theirs', other)) as Seen
        return status?.conditions?.[0]?.message.includes('postwright.dev/owners') ?? false
      })
      expect(await o.secret('theirs-app', other)).toBeUndefined()
    })

    test('does not block an App that may take the app over', async () => {
      const { o, s, key, shop, other, stranger } = await withStranger()
      await createApp(s, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
      await untilYounger(await stranger())
      await o.condition('App', 'theirs', 'Accepted', 'False', other)
      await o.allowOwners(key)
      await o.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true' } })
      await o.condition('App', 'shop', 'Ready', 'True')
      expect((await app(s, key))?.managed_by?.namespace).toBe(o.namespace)
    })

    test('waits, once it is permitted, for the App that holds the app, even if it is older', async () => {
      const { o, s, key, shop, other, stranger } = await withStranger()
      const adopt = { annotations: { 'postwright.dev/adopt': 'true' } }
      await createApp(s, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
      await untilYounger(await stranger())
      await o.condition('App', 'theirs', 'Accepted', 'False', other)
      await o.allowOwners(key)
      await o.apply('App', 'shop', shop, adopt)
      await o.condition('App', 'shop', 'Ready', 'True')
      await o.allowOwners(key, other)
      await o.apply('App', 'theirs', { ...shop, appName: 'Theirs now' }, adopt, other)
      const { status } = await o.condition('App', 'theirs', 'Accepted', 'False', other)
      expect(status?.conditions?.[0]?.message).toContain(`${o.namespace}/shop came first`)
      await o.apply('App', 'shop', { ...shop, appName: 'Renamed' }, adopt)
      await o.condition('App', 'shop', 'Ready', 'True')
      expect((await app(s, key))?.app_name).toBe('Renamed')
      // In a restored cluster the resource has another uid than the record.
      await o.mongo.db
        .collection('sub_apps')
        .updateOne({ app_key: key }, { $set: { 'managed_by.uid': 'before the restore' } })
      await o.apply('App', 'shop', { ...shop, appName: 'Restored' }, adopt)
      await o.condition('App', 'shop', 'Ready', 'True')
      expect((await app(s, key))?.app_name).toBe('Restored')
      await o.remove('App', 'shop')
      await o.condition('App', 'theirs', 'Ready', 'True', other)
      expect(await app(s, key)).toMatchObject({ app_name: 'Theirs now', managed_by: { name: 'theirs' } })
    })

    test('a forged status does not let it create plans and switches in the app', async () => {
      const { o, s, key, shop, other, stranger } = await withStranger()
      await o.apply('App', 'shop', shop)
      const { status } = await o.condition('App', 'shop', 'Ready', 'True')
      await stranger()
      await o.condition('App', 'theirs', 'Accepted', 'False', other)
      await o.forgeStatus('App', 'theirs', { appId: status?.appId }, other)
      await o.apply(
        'SubscriptionPlan',
        'pro',
        { appRef: { name: 'theirs' }, name: 'Pro', price: '0', durationDays: 0 },
        {},
        other,
      )
      await o.apply('FeatureSwitch', 'dark', { appRef: { name: 'theirs' }, name: 'dark', value: '1' }, {}, other)
      await o.condition('SubscriptionPlan', 'pro', 'Accepted', 'Unknown', other)
      await o.condition('FeatureSwitch', 'dark', 'Accepted', 'Unknown', other)
      expect([await findPlanByName(s.c, key, 'Pro'), await findSwitch(s.c, key, 'dark')]).toEqual([
        undefined,
        undefined,
      ])
    })
  })

  test('does not reconcile paused resources, and deletes them without changing the record', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete' })
    await o.condition('App', 'shop', 'Ready', 'True')
    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    await o.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete', appName: 'Changed' }, paused)
    const seen = await o.condition('App', 'shop', 'Ready', 'False')
    expect(seen.status?.conditions?.[0]).toMatchObject({ reason: 'Paused' })
    expect((await app(s, key))?.app_name).toBe(shop.appName)
    await o.removeWholly('App', 'shop')
    expect(await app(s, key)).toMatchObject({ app_key: key, app_name: shop.appName })
  })
})
