/** Apps, plans and switches as resources: into the database, back after changes, out again. */
import { expect, inject, test } from 'vitest'
import { openSubscriptions, type Subscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { checkKey } from '../../services/subscriptions/credentials.ts'
import { createApp } from '../../services/subscriptions/manage-apps.ts'
import { findApp } from '../../services/subscriptions/store/apps.ts'
import { findPlanByName, findSwitch } from '../../services/subscriptions/store/plans.ts'
import { onApiServer, sharedApiServer } from '../support/apiserver-shared.ts'
import { type OperatorUnderTest, operatorUnderTest } from '../support/operator.ts'
import { until } from '../support/until.ts'

onApiServer('apps, plans and switches', () => {
  let keys = 0
  const start = async () => {
    const o = await operatorUnderTest({ server: sharedApiServer(), mongoUri: inject('mongoUri') })
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

  test('an App gets its keys in a Secret, and they work', async () => {
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

  test('a plan and a switch follow their App and their spec', async () => {
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

  test('a change in the database is put right and told', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    await s.c.apps.updateOne({ app_key: key }, { $set: { app_name: 'Mine now' } })
    await until(async () => (await app(s, key))?.app_name === shop.appName)
    await until(async () => (await o.events('shop')).includes('DriftReverted'))
  })

  test('a lost Secret comes back with a new app secret, the old one still works, and an Event says so', async () => {
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

  test('a Secret of somebody else is not overwritten', async () => {
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

  test('an app that exists is taken over only with both annotations', async () => {
    const { o, s, key, shop } = await start()
    await createApp(s, systemActor, { app_name: 'Old', app_description: '', status: '1' }, { appKey: key })
    await o.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true' } })
    const refused = await o.condition('App', 'shop', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]?.message).toContain('postwright.dev/owners')
    expect((await app(s, key))?.app_name).toBe('Old')
    const owners = { metadata: { annotations: { 'postwright.dev/owners': `other, ${key}` } } }
    await o.admin.request({ method: 'PATCH', path: `/api/v1/namespaces/${o.namespace}`, body: owners, patch: 'merge' })
    await o.apply('App', 'shop', shop, { annotations: { 'postwright.dev/adopt': 'true', touched: '1' } })
    await o.condition('App', 'shop', 'Ready', 'True')
    expect((await app(s, key))?.app_name).toBe(shop.appName)
  })

  test('of two Apps with one key the older holds it, and the younger takes over when it goes', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.condition('App', 'shop', 'Ready', 'True')
    await o.apply('App', 'zhop', { ...shop, appName: 'Second' })
    const loser = await o.condition('App', 'zhop', 'Accepted', 'False')
    expect(loser.status?.conditions?.[0]).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('/shop is older'),
    })
    await o.remove('App', 'shop')
    await o.condition('App', 'zhop', 'Ready', 'True')
    expect((await app(s, key))?.managed_by?.name).toBe('zhop')
  })

  test('Retain hands the records back, Delete removes them', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', shop)
    await o.apply('SubscriptionPlan', 'pro', {
      appRef: { name: 'shop' },
      name: 'Pro',
      price: '1',
      durationDays: 1,
      deletionPolicy: 'Delete',
    })
    await o.apply('FeatureSwitch', 'dark', { appRef: { name: 'shop' }, name: 'dark', value: '1' })
    await o.condition('SubscriptionPlan', 'pro', 'Ready', 'True')
    await o.condition('FeatureSwitch', 'dark', 'Ready', 'True')
    for (const [kind, name] of [
      ['SubscriptionPlan', 'pro'],
      ['FeatureSwitch', 'dark'],
      ['App', 'shop'],
    ] as const) {
      await o.remove(kind, name)
      await until(async () => (await o.get(kind, name)) === undefined)
    }
    expect((await findPlanByName(s.c, key, 'Pro'))?.deleted_at).toBeInstanceOf(Date)
    expect(await findSwitch(s.c, key, 'dark')).toBeUndefined()
    expect(await app(s, key)).toMatchObject({ app_name: shop.appName })
    expect((await app(s, key))?.managed_by).toBeUndefined()
  })

  test('paused resources are left alone, and deleted without touching the record', async () => {
    const { o, s, key, shop } = await start()
    await o.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete' })
    await o.condition('App', 'shop', 'Ready', 'True')
    const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }
    await o.apply('App', 'shop', { ...shop, deletionPolicy: 'Delete', appName: 'Changed' }, paused)
    const seen = await o.condition('App', 'shop', 'Ready', 'False')
    expect(seen.status?.conditions?.[0]).toMatchObject({ reason: 'Paused' })
    expect((await app(s, key))?.app_name).toBe(shop.appName)
    await o.remove('App', 'shop')
    await until(async () => (await o.get('App', 'shop')) === undefined)
    expect(await app(s, key)).toMatchObject({ app_key: key, app_name: shop.appName })
  })
})
