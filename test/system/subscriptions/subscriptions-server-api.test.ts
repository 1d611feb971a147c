/** The server API: operations of an app's back end on users, orders, payments, refunds and entitlements. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
const plans: Record<string, string> = {}
beforeAll(async () => {
  api = await startSubscriptionApi()
  const base = { description: '', price: 10, features: '{"features":["a"]}', trial_days: 7, grace_days: 2 }
  for (const [name, more] of Object.entries({
    timed: { duration: 30 },
    forever: { duration: 0, features: '{"features":["b"]}' },
    off: { duration: 30, status: 0 },
  })) {
    const headers = { prefer: 'return=representation' }
    const made = await api.call('POST', '/subscription_plan', { body: { ...base, name, ...more }, headers })
    plans[name] = made.body.data.id
  }
})
afterAll(() => api.stop())

const post = (path: string, body: object) => api.server('POST', path, { body })
const user = async (openid: string, more = {}) => (await post('/server/user', { openid, ...more })).body.data
const pay = (body: object) =>
  post('/server/subscription', { plan_id: plans.timed, payment_method: 'alipay', amount: '10.00', ...body })
const DAY = 86_400

describe('users', () => {
  test('are created once, recognized by any identity, and their logins counted', async () => {
    const first = await user('o-1', { unionid: 'u-1', nickname: 'Ann' })
    expect(first).toMatchObject({ created: true, login_count: '1' })
    const again = (await post('/server/user', { unionid: 'u-1', phone: '138' })).body.data
    expect(again).toMatchObject({ id: first.id, created: false, login_count: '2', phone: '138', nickname: 'Ann' })
    const other = (await post('/server/user', { openid: 'o-app', unionid: 'u-1' })).body.data
    expect(other).toMatchObject({ id: first.id, openid: 'o-1' })
  })

  test('the identities of two users conflict, and concurrent first logins create one user', async () => {
    await user('o-2')
    await post('/server/user', { huawei_openid: 'h-3' })
    expect((await post('/server/user', { openid: 'o-2', huawei_openid: 'h-3' })).body.code).toBe(40909)
    const many = await Promise.all(Array.from({ length: 8 }, () => user('o-parallel')))
    expect(new Set(many.map(({ id }) => id)).size).toBe(1)
  })

  test('an identity is required', async () => {
    const { body } = await post('/server/user', { nickname: 'nobody' })
    expect(body.data.errors[0]).toMatchObject({ rule: 'identity' })
  })

  test('an erasure request can be withdrawn', async () => {
    const { id } = await user('o-leaving')
    expect((await api.server('PUT', `/server/user/${id}`, { body: { status: 2 } })).body.data.status).toBe('2')
    expect((await api.server('PUT', `/server/user/${id}`, { body: { status: '1' } })).body.data.status).toBe('1')
  })
})

describe('payments', () => {
  test('start a subscription; repeating a payment changes nothing, and a new one extends it', async () => {
    const { id } = await user('o-pay')
    const first = (await pay({ user_id: id, payment_id: 'P1', auto_renew: 1 })).body.data
    expect(first).toMatchObject({ repeated: false, subscription: { status: '1', payment_id: 'P1', auto_renew: '1' } })
    const repeat = (await pay({ user_id: id, payment_id: 'P1' })).body.data
    expect(repeat).toMatchObject({ repeated: true, subscription: { end_date: first.subscription.end_date } })
    const second = (await pay({ user_id: id, payment_id: 'P2' })).body.data.subscription
    expect(Number(second.end_date) - Number(first.subscription.end_date)).toBe(30 * DAY)
    expect(second.id).toBe(first.subscription.id)
  })

  test('one of eight concurrent notices of one payment counts', async () => {
    const { id } = await user('o-burst')
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay({ user_id: id, payment_id: 'B1' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(answers.filter(({ body }) => !body.data.repeated)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.data.subscription.end_date)).size).toBe(1)
  })

  test('concurrent different payments all count', async () => {
    const { id } = await user('o-sum')
    const answers = await Promise.all([1, 2, 3].map(n => pay({ user_id: id, payment_id: `S${n}` })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const list = await api.call('GET', '/subscription', { query: { app_key: 'demo', user_id: id } })
    const [{ start_date, end_date }] = list.body.data.subscriptions
    expect(Number(end_date) - Number(start_date)).toBe(90 * DAY)
  })

  test('a payment of another user is rejected', async () => {
    const { id } = await user('o-thief')
    expect((await pay({ user_id: id, payment_id: 'P1' })).body.code).toBe(40908)
  })

  test('a permanent subscription is not renewed; a trial is granted once', async () => {
    const { id } = await user('o-forever')
    const buy = (payment_id: string) => pay({ user_id: id, plan_id: plans.forever, payment_id })
    expect((await buy('F1')).body.data.subscription).toMatchObject({
      end_date: '0',
      is_permanent: true,
      auto_renew: '0',
    })
    expect((await buy('F2')).body.code).toBe(40903)
    const trial = () => pay({ user_id: id, payment_method: 'trial' })
    const [one, two] = [(await trial()).body.data, (await trial()).body.data]
    expect(Number(one.subscription.end_date) - Number(one.subscription.start_date)).toBe(7 * DAY)
    expect([one.repeated, two.repeated]).toEqual([false, true])
  })

  test('an order fixes the amount; a user has one open order for a plan', async () => {
    const { id } = await user('o-order')
    const order = (out_trade_no: string) =>
      post('/server/order', { user_id: id, plan_id: plans.timed, payment_method: 'alipay', out_trade_no })
    const opened = (await order('T-1')).body.data
    expect(opened).toMatchObject({ amount: '10.00', repeated: false, subscription: { status: '0' } })
    expect((await order('T-2')).body.data).toMatchObject({ out_trade_no: 'T-1', repeated: true })
    expect((await pay({ user_id: id, payment_id: 'O1', amount: 9.99 })).body.code).toBe(42230)
    const paid = (await pay({ user_id: id, payment_id: 'O1' })).body.data.subscription
    expect(paid).toMatchObject({ id: opened.subscription.id, status: '1' })
    const off = { user_id: id, plan_id: plans.off, payment_method: 'alipay', out_trade_no: 'T-3' }
    expect((await post('/server/order', off)).body.code).toBe(40903)
  })

  test('a partial refund keeps the access, a full one ends it, and a repeat changes nothing', async () => {
    const { id } = await user('o-refund')
    const { subscription } = (await pay({ user_id: id, payment_id: 'R1' })).body.data
    const refund = (body: object) => post(`/server/subscription/${subscription.id}/refund`, body)
    expect((await refund({ refund_id: 'r1', amount: 4 })).body.data.subscription.status).toBe('1')
    expect((await refund({ refund_id: 'r1', amount: 4 })).body.data.repeated).toBe(true)
    expect((await refund({ refund_id: 'r2', amount: 7 })).body.code).toBe(42230)
    const full = (await refund({ refund_id: 'r3' })).body.data.subscription
    expect(full).toMatchObject({ status: '4', is_expired: true, is_permanent: false })
    expect((await refund({ refund_id: 'r4', amount: 0 })).body.code).toBe(40903)
    expect((await post(`/server/subscription/${subscription.id}/renew`, { payment_id: 'R2' })).body.code).toBe(40903)
    const next = (await pay({ user_id: id, payment_id: 'R3' })).body.data.subscription
    expect(next.id).not.toBe(subscription.id)
  })

  test('renew and cancel by the id of the subscription', async () => {
    const { id } = await user('o-renew')
    const { subscription } = (await pay({ user_id: id, payment_id: 'N1', auto_renew: '1' })).body.data
    const path = `/server/subscription/${subscription.id}`
    const longer = (await post(`${path}/renew`, { payment_id: 'N2' })).body.data.subscription
    expect(Number(longer.end_date) - Number(subscription.end_date)).toBe(30 * DAY)
    expect((await post(`${path}/cancel`, {})).body.data).toMatchObject({ status: '1', auto_renew: '0' })
    expect((await post(`${path}/cancel`, { at: 'now' })).body.data).toMatchObject({ status: '3' })
    expect((await post('/server/subscription/999999/cancel', {})).body.code).toBe(40403)
  })
})

describe('entitlements', () => {
  const entitlement = async (id: string, headers = {}) =>
    api.server('GET', '/server/entitlement', { query: { user_id: id }, headers })

  test('contain the features of all plans, stay during the grace period, and end after it', async () => {
    const { id } = await user('o-ent')
    expect((await entitlement(id)).body.data).toMatchObject({ active: false, features: [], expires_at: '' })
    const { subscription } = (await pay({ user_id: id, payment_id: 'E1' })).body.data
    const active = await entitlement(id)
    expect(active.body.data).toMatchObject({ active: true, features: ['a'] })
    const etag = active.headers.get('etag') ?? ''
    expect((await entitlement(id, { 'if-none-match': etag })).status).toBe(304)
    api.clock.advance(30 * DAY * 1000)
    expect((await entitlement(id)).body.data.active).toBe(true)
    const shown = await api.context.collections.subscriptions.findOne({ _id: Number(subscription.id) })
    expect(shown?.status).toBe(1)
    api.clock.advance(2 * DAY * 1000)
    expect((await entitlement(id)).body.data.active).toBe(false)
    const late = (await pay({ user_id: id, payment_id: 'E2' })).body.data.subscription
    expect(late).toMatchObject({ id: subscription.id, status: '1' })
    expect(Number(late.start_date)).toBe(Math.floor(api.clock.now().getTime() / 1000))
  })

  test('a disabled user has none', async () => {
    const { id } = await user('o-disabled')
    await pay({ user_id: id, payment_id: 'D1' })
    await api.context.collections.users.updateOne({ _id: Number(id) }, { $set: { status: '0' } })
    expect((await entitlement(id)).body.data.active).toBe(false)
  })

  test('return 40401 for an unknown user', async () => {
    expect((await entitlement('424242')).body.code).toBe(40401)
  })

  test("find the user by any identity of the app, and reject an unknown app's", async () => {
    const { id } = await user('o-named', { unionid: 'u-named', huawei_unionid: 'h-named' })
    await user('o-named-2')
    await pay({ user_id: id, payment_id: 'EN1' })
    const by = async (query: Record<string, string>, headers = {}) =>
      (await api.server('GET', '/server/entitlement', { query, headers })).body
    for (const query of [{ openid: 'o-named' }, { unionid: 'u-named' }, { huawei_unionid: 'h-named' }])
      expect((await by(query)).data).toMatchObject({ user_id: id, active: true })
    expect((await by({ openid: 'o-named', unionid: 'u-named' })).data.user_id).toBe(id)
    // An exact openid takes precedence over an identity that spans apps.
    expect((await by({ openid: 'o-named-2', unionid: 'u-named' })).data).toMatchObject({ active: false })
    await api.later(0)
    const other = (await api.call('POST', '/app_manage', { body: { app_name: 'Other' } })).body.data
    const authorization = `Bearer ${other.app_secret}`
    expect((await by({ openid: 'o-named' }, { authorization })).code).toBe(40401)
    expect((await by({ user_id: id }, { authorization })).code).toBe(40401)
    expect((await by({})).code).toBe(42200)
  })
})

describe('purchases restored from a device', () => {
  test('count once and never shorten what was paid', async () => {
    const { id } = await user('o-local')
    const now = Math.floor(api.clock.now().getTime() / 1000)
    const kept = {
      user_id: id,
      plan_id: plans.timed,
      client_ref: 'dev-1',
      start_date: now - DAY,
      end_date: now + 5 * DAY,
    }
    const sync = (purchase: object) => post('/server/local_sync', { purchases: [purchase] })
    const [first] = (await sync(kept)).body.data.results
    expect(first).toMatchObject({ client_ref: 'dev-1', repeated: false })
    expect((await sync(kept)).body.data.results[0].repeated).toBe(true)
    const shown = await api.context.collections.subscriptions.findOne({ _id: Number(first.subscription_id) })
    expect(shown).toMatchObject({ payment_method: 'local_sync', payment_id: '0'.repeat(28) })
    const { subscription } = (await pay({ user_id: id, payment_id: 'L1' })).body.data
    await sync({ ...kept, client_ref: 'dev-2', end_date: now + DAY })
    const after = await api.context.collections.subscriptions.findOne({ _id: Number(subscription.id) })
    expect(String(after?.end)).toBe(subscription.end_date)
  })
})

describe('signed requests', () => {
  async function signed(change: { body?: string; skew?: number; nonce?: string; secret?: string } = {}) {
    const { id, secret } = await hmacKey()
    const body = JSON.stringify({ openid: 'o-signed' })
    const timestamp = String(Math.floor(api.clock.now().getTime() / 1000) + (change.skew ?? 0))
    const nonce = change.nonce ?? randomBytes(12).toString('hex')
    const digest = createHash('sha256').update(body).digest('hex')
    const text = `POST\n/server/user\n${timestamp}\n${nonce}\n${digest}\n`
    const signature = createHmac('sha256', change.secret ?? secret)
      .update(text)
      .digest('base64')
    const authorization = `SUB-HMAC-SHA256 key_id=${id}, timestamp=${timestamp}, nonce=${nonce}, signature="${signature}"`
    return api.server('POST', '/server/user', { body: change.body ?? body, headers: { authorization } })
  }
  let key: { id: string; secret: string } | undefined
  async function hmacKey() {
    await api.later(0)
    const path = `/app_manage/${api.demo.id}/credential`
    key ??= (await api.call('POST', path, { body: { kind: 'hmac' } })).body.data as {
      id: string
      secret: string
    }
    return key
  }

  test('can be required once the app has a key; then its Bearer secret is rejected', async () => {
    await api.later(0)
    const path = `/app_manage/${api.demo.id}`
    const demand = async (require_signature: number) =>
      (await api.call('PUT', path, { body: { require_signature } })).body
    expect((await demand(1)).code).toBe(40903)
    await hmacKey()
    expect((await demand(1)).data.require_signature).toBe('1')
    api.clock.advance(1_100)
    const bearer = { authorization: `Bearer ${api.demo.secret}` }
    expect((await post('/server/user', { openid: 'o-1' })).body.code).toBe(40111)
    const flags = (headers: Record<string, string>) =>
      api.call('POST', '/ofrep/v1/evaluate/flags', { token: '', query: {}, body: { context: {} }, headers })
    expect((await flags(bearer)).status).toBe(401)
    expect((await flags({ 'x-api-key': api.demo.publishableKey })).status).toBe(200)
    expect((await signed()).body.code).toBe(0)
    expect((await api.call('PUT', path, { body: { app_description: 'x' } })).body.data.require_signature).toBe('1')
    expect((await demand(0)).data.require_signature).toBe('0')
    api.clock.advance(1_100)
    expect((await post('/server/user', { openid: 'o-1' })).body.code).toBe(0)
  })

  test.each<[string, Parameters<typeof signed>[0], number]>([
    ['accept a valid signature', {}, 0],
    ['reject another body', { body: '{"openid":"other"}' }, 40111],
    ['reject another secret', { secret: 'x' }, 40111],
    ['reject an old timestamp', { skew: -301 }, 40111],
    ['reject a future timestamp', { skew: 301 }, 40111],
    ['accept a nonce once', { nonce: 'nonce-nonce-1' }, 0],
    ['reject a repeated nonce', { nonce: 'nonce-nonce-1' }, 40111],
  ])('%s', async (_, change, code) => {
    expect((await signed(change)).body.code).toBe(code)
  })
})
