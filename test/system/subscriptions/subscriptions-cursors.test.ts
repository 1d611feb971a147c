/** Lists paginated by cursor: complete and without duplicates at any depth, also while the list grows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

const USERS = 25
let api: SubscriptionApi
let plan: string
let number = 0

/** A user with a subscription; every five have the same creation time. */
async function newUser(): Promise<string> {
  const n = ++number
  if (n % 5 === 0) api.clock.advance(1_000)
  const profile = { nickname: `ann ${n}`, platform: n % 2 === 0 ? 'ios' : 'web' }
  const { id } = (await api.server('POST', '/server/user', { body: { openid: `o-${n}`, ...profile } })).body.data
  const body = { user_id: id, plan_id: plan, payment_method: 'alipay', payment_id: `P${n}` }
  await api.server('POST', '/server/subscription', { body })
  return id
}

beforeAll(async () => {
  api = await startSubscriptionApi()
  const body = { name: 'month', price: '10.00', duration: 30, features: '{"features":[]}' }
  const headers = { prefer: 'return=representation' }
  plan = (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
  for (let n = 0; n < USERS; n++) await newUser()
})
afterAll(() => api.stop())

const lists: [path: string, name: string, filter: Record<string, string>][] = [
  ['/user', 'users', {}],
  ['/user', 'users', { status: '1' }],
  ['/user', 'users', { platform: 'ios' }],
  ['/user', 'users', { search: 'ann' }],
  ['/user', 'users', { order: 'asc' }],
  ['/user', 'users', { search: 'ann', order: 'asc' }],
  ['/user', 'users', { start_date: '2026-11-21', end_date: '2026-11-21' }],
  ['/subscription', 'subscriptions', {}],
  ['/subscription', 'subscriptions', { status: '1', payment_method: 'alipay' }],
  ['/subscription', 'subscriptions', { search: 'ann' }],
  ['/audit_log', 'audit_logs', {}],
  ['/audit_log', 'audit_logs', { target_kind: 'subscription' }],
]

async function page(path: string, name: string, query: Record<string, string>) {
  const { data } = (await api.call('GET', path, { query: { app_key: 'demo', ...query } })).body
  const ids: string[] = data[name].map(({ id }: { id: string }) => id)
  return { ids, next: data.pagination.next_cursor as string | undefined, total: Number(data.pagination.total_records) }
}

/** Collects all ids by cursor; `between` runs after each page. */
async function walk(path: string, name: string, query: Record<string, string>, between = async () => {}) {
  const ids: string[] = []
  let { next, ...first } = await page(path, name, query)
  for (ids.push(...first.ids); next !== undefined; ids.push(...first.ids)) {
    await between()
    ;({ next, ...first } = await page(path, name, { ...query, cursor: next }))
  }
  return ids
}

test.each(lists)('%s: %s by cursor are the same as by page, %j', async (path, name, filter) => {
  const all = (await page(path, name, { ...filter, pageSize: '100' })).ids
  expect(all.length).toBeGreaterThan(5)
  for (const pageSize of ['1', '4', '100']) expect(await walk(path, name, { ...filter, pageSize })).toEqual(all)
  const second = await page(path, name, { ...filter, pageSize: '4', page: '2' })
  expect(second.ids).toEqual(all.slice(4, 8))
  const third = await page(path, name, { ...filter, pageSize: '4', cursor: second.next ?? '' })
  expect(third.ids).toEqual(all.slice(8, 12))
  expect(third.total).toBe(all.length)
})

test('new entries do not affect a list that is being read', async () => {
  const before = (await page('/user', 'users', { pageSize: '100' })).ids
  expect(await walk('/user', 'users', { pageSize: '6' }, async () => void (await newUser()))).toEqual(before)
})

test.each(['x', '1.2', Buffer.from('1.2.3').toString('base64url'), '{"$gt":""}', 'a'.repeat(65)])(
  'rejects an invalid cursor: %s',
  async cursor => {
    for (const path of ['/user', '/subscription', '/audit_log']) {
      const { body } = await api.call('GET', path, { query: { app_key: 'demo', cursor } })
      expect([body.code, body.data.errors?.[0]?.field]).toEqual([42200, 'cursor'])
    }
  },
)
