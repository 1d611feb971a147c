/** What administrators see of one end user: found by id or identity, its payments, access, switches and changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
let ada: string
let grace: string
let plan: string
let lifetime: string
let bought: string

const features = '{"features":["export","sync"]}'
const query = (more: Record<string, string> = {}) => ({ query: { app_key: 'demo', ...more } })

beforeAll(async () => {
  api = await startSubscriptionApi()
  const planOf = async (name: string, duration: number) => {
    const headers = { prefer: 'return=representation' }
    const body = { name, price: 19.9, duration, features }
    return (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
  }
  const userOf = async (body: object) => (await api.server('POST', '/server/user', { body })).body.data.id
  plan = await planOf('Monthly', 30)
  lifetime = await planOf('Lifetime', 0)
  ada = await userOf({ openid: 'oA-da_1', nickname: 'Ada', platform: 'ios', country: 'CN', phone: '1380000' })
  grace = await userOf({ openid: 'oGrace', unionid: 'uGrace', nickname: 'Grace', platform: 'android' })
  const body = { user_id: ada, plan_id: plan, payment_method: 'alipay', payment_id: 'P-1', amount: '19.90' }
  bought = (await api.server('POST', '/server/subscription', { body })).body.data.subscription.id
})
afterAll(() => api.stop())

describe('search', () => {
  const found = async (path: string, search: string) => {
    const { data } = (await api.call('GET', path, query({ search }))).body
    return (data.users ?? data.subscriptions).map((one: { id: string }) => one.id)
  }

  test.each([
    ['an openid', () => 'oA-da_1', () => [ada]],
    ['a unionid', () => 'uGrace', () => [grace]],
    ['an id', () => grace, () => [grace]],
    ['the beginning of a name', () => 'gra', () => [grace]],
    ['the beginning of an openid, which finds nothing', () => 'oA-da', () => []],
    ['an openid in another case, which finds nothing', () => 'OA-DA_1', () => []],
    ['a pattern, literally', () => 'o.*', () => []],
  ])('finds users by %s', async (_, text, ids) => {
    expect(await found('/user', text())).toEqual(ids())
  })

  test('combines with other filters, the export, and the count', async () => {
    const { data } = (await api.call('GET', '/user', query({ search: ada, platform: 'android' }))).body
    expect([data.users, data.pagination.total_records]).toEqual([[], 0])
    const { data: hit } = (await api.call('GET', '/user', query({ search: ada, platform: 'ios' }))).body
    expect([hit.users.length, hit.pagination.total_records]).toEqual([1, 1])
    const { text } = await api.call('GET', '/user/export', query({ search: 'oA-da_1' }))
    expect(text.trim().split('\n')).toHaveLength(2)
  })

  test('a text that is an id and the beginning of a phone finds both', async () => {
    const phone = `${grace}555`
    const { id } = (await api.server('POST', '/server/user', { body: { openid: 'oPhone', phone } })).body.data
    expect((await found('/user', grace)).toSorted()).toEqual([grace, id].toSorted())
  })

  test.each([
    ['the openid of the user', () => 'oA-da_1'],
    ['the id of the user', () => ada],
  ])('finds subscriptions by %s', async (_, text) => {
    expect(await found('/subscription', text())).toEqual([bought])
  })

  test('refuses more than the longest identity', async () => {
    expect((await api.call('GET', '/user', query({ search: 'x'.repeat(128) }))).status).toBe(200)
    expect((await api.call('GET', '/user', query({ search: 'x'.repeat(129) }))).body.code).toBe(42200)
  })
})

describe('payments', () => {
  const payments = async (id: string, more: Record<string, string> = {}) =>
    (await api.call('GET', `/user/${id}/payment`, query(more))).body.data

  test('are listed newest first, with grants and refunds', async () => {
    api.clock.advance(60_000)
    await api.call('POST', '/subscription', { body: { user_id: ada, plan_id: lifetime } })
    api.clock.advance(60_000)
    await api.call('PUT', `/subscription/${bought}`, { body: { action: 'refund', reason: 'Asked for it' } })
    const { payments: rows, pagination } = await payments(ada)
    expect(pagination.total_records).toBe(3)
    const shown = rows.map(({ kind, plan_name, payment_method, amount, refunded_amount, new_period }: Row) =>
      [kind, plan_name, payment_method, amount, refunded_amount, new_period].join(' '),
    )
    expect(shown).toEqual([
      'refund Monthly alipay 19.90 0.00 none',
      'payment Lifetime manual 0.00 0.00 first',
      'payment Monthly alipay 19.90 19.90 first',
    ])
    expect(rows[2]).toMatchObject({ payment_id: 'P-1', subscription_id: bought, plan_id: plan })
  })

  test('have pages', async () => {
    const { payments: rows, pagination } = await payments(ada, { page: '2', pageSize: '2' })
    expect([rows.length, pagination.total_pages]).toEqual([1, 2])
  })

  test('of a user without subscriptions are none, of an unknown user an error', async () => {
    expect((await payments(grace)).payments).toEqual([])
    expect((await api.call('GET', '/user/999999/payment')).body.code).toBe(40401)
  })

  interface Row extends Record<'kind' | 'plan_name' | 'payment_method' | 'amount', string> {
    refunded_amount: string
    new_period: string
  }
})

describe('access', () => {
  test('is that of the server API', async () => {
    for (const id of [ada, grace]) {
      const shown = await api.call('GET', `/user/${id}/entitlement`)
      const served = await api.server('GET', '/server/entitlement', { query: { user_id: id } })
      expect(shown.body.data).toEqual(served.body.data)
    }
    const { data } = (await api.call('GET', `/user/${ada}/entitlement`)).body
    expect(data).toMatchObject({ active: true, features: ['export', 'sync'], expires_at: '0' })
    expect((await api.call('GET', '/user/999999/entitlement')).body.code).toBe(40401)
  })
})

describe('switches', () => {
  const evaluate = (body: object, token?: string) =>
    api.call('POST', '/switch_manage/evaluate', { body, ...(token === undefined ? {} : { token }) })
  const ios = [{ attribute: 'platform', operator: 'eq', values: ['ios'] }]

  beforeAll(async () => {
    for (const body of [
      { name: 'colour', type: 'string', value: 'blue', rules: [{ name: 'Apple', conditions: ios, value: 'green' }] },
      { name: 'half', type: 'boolean', value: '1', rollout: 50 },
      { name: 'secret', type: 'boolean', value: '1', client_visible: '0' },
    ])
      expect((await api.call('POST', '/switch_manage', { body })).status).toBe(200)
  })

  test('are evaluated for a user as a program of the app sees them', async () => {
    for (const id of [ada, grace]) {
      const { data } = (await evaluate({ user_id: id })).body
      expect(data.context).toMatchObject({ targetingKey: id, user_id: id })
      const { flags } = (
        await api.call('POST', '/ofrep/v1/evaluate/flags', {
          ...{ token: '', query: {}, headers: { authorization: `Bearer ${api.demo.secret}` } },
          body: { context: data.context },
        })
      ).body
      const reasons = (list: { key?: string; name?: string; reason: string }[]) =>
        list.map(({ key, name, reason }) => `${key ?? name} ${reason}`)
      expect(reasons(data.switches)).toEqual(reasons(flags))
    }
  })

  test('name the rule that decides', async () => {
    const one = async (body: object) => (await evaluate({ name: 'colour', ...body })).body.data.switches
    expect(await one({ user_id: ada })).toMatchObject([{ display_value: 'green', rule: 1, rule_name: 'Apple' }])
    expect(await one({ user_id: grace })).toMatchObject([{ display_value: 'blue', rule_name: '' }])
    expect(await one({ user_id: grace, context: { platform: 'ios' } })).toMatchObject([{ display_value: 'green' }])
    expect(await one({ context: { platform: 'ios' } })).toMatchObject([{ display_value: 'green' }])
    expect(await one({})).toMatchObject([{ display_value: 'blue' }])
  })

  test('an unsaved definition is evaluated and not stored', async () => {
    const before = (await api.call('GET', '/switch_manage')).body.data
    const fresh = { name: 'fresh', type: 'boolean', value: '0', rules: [{ conditions: ios, value: '1' }] }
    const { switches } = (await evaluate({ user_id: ada, definition: fresh })).body.data
    expect(switches).toMatchObject([{ name: 'fresh', outcome: 'value', rule: 1, display_value: '开启' }])
    const shared = { ...fresh, rules: [], rollout: 20 }
    expect((await evaluate({ user_id: ada, definition: shared })).body.data.switches).toMatchObject([
      { outcome: 'undecided' },
    ])
    const changed = { name: 'colour', value: 'red', rules: [] }
    expect((await evaluate({ user_id: ada, definition: changed })).body.data.switches).toMatchObject([
      { name: 'colour', type: 'string', display_value: 'red' },
    ])
    expect((await api.call('GET', '/switch_manage')).body.data).toEqual(before)
  })

  test.each<[string, object, number, string]>([
    ['a value that does not fit', { definition: { type: 'number', value: 'x' } }, 42200, 'value'],
    [
      'a rule without an attribute',
      { definition: { rules: [{ conditions: [{ attribute: '', operator: 'eq', values: ['x'] }] }] } },
      42200,
      'definition.rules.0.conditions.0.attribute',
    ],
    ['a bad name', { definition: { name: '1x' } }, 42200, 'definition.name'],
    ['an object as an attribute', { context: { a: { $where: '1' } } }, 42200, 'context.a'],
    [
      'too many attributes',
      { context: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, '1'])) },
      42200,
      'context',
    ],
    ['an attribute that is too long', { context: { a: 'x'.repeat(201) } }, 42200, 'context.a'],
    ['an unknown switch', { name: 'nowhere' }, 40404, ''],
    ['an unknown user', { user_id: '999999' }, 40401, ''],
  ])('refuse %s', async (_, body, code, field) => {
    const { body: answer } = await evaluate(body)
    expect(answer.code).toBe(code)
    expect(answer.data.errors?.[0]?.field ?? '').toBe(field)
  })

  test('may be evaluated by viewers of the app', async () => {
    const viewer = await api.logIn('viewer', ['demo'])
    expect((await evaluate({ user_id: ada }, viewer)).status).toBe(200)
  })
})

describe('changes', () => {
  test('of a user and of its subscriptions are listed together', async () => {
    await api.call('PUT', `/user/${ada}`, { body: { status: '0' } })
    const { data } = (await api.call('GET', '/audit_log', query({ user_id: ada }))).body
    const actions = data.audit_logs.map(({ action }: { action: string }) => action)
    expect(actions[0]).toBe('user.update')
    expect(actions).toContain('subscription.refund')
    const targets = new Set(data.audit_logs.map(({ target_kind }: { target_kind: string }) => target_kind))
    expect([...targets].toSorted()).toEqual(['subscription', 'user'])
    expect((await api.call('GET', '/audit_log', query({ user_id: grace }))).body.data.audit_logs).toEqual([])
  })

  test('combine with the other filters', async () => {
    const { data } = (await api.call('GET', '/audit_log', query({ user_id: ada, action: 'user.update' }))).body
    expect(data.audit_logs).toHaveLength(1)
    expect((await api.call('GET', '/audit_log', query({ user_id: 'x' }))).body.code).toBe(42200)
  })
})
