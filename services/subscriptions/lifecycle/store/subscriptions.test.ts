/** Lists of subscriptions: every filter finds what a plain comparison finds, along the index that it names. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes } from '../../../platform/database/mongo.ts'
import { afterPosition } from '../../../platform/database/read-page.ts'
import type { Position } from '../../rules/paging.ts'
import { givesAccess, STATUS, type Status } from '../../rules/subscription-lifecycle.ts'
import { type Collections, openCollections, subscriptionCollections } from '../../store/collections.ts'
import type { SubscriptionDoc } from '../../store/documents.ts'
import { createCount } from '../../store/list-totals.ts'
import { listSubscriptions, type SubscriptionFilter, subscriptionQuery } from './subscriptions.ts'

const NOW = 1_800_000_000
const ROWS = 400
let mongo: TestDatabase
let collections: Collections
let all: SubscriptionDoc[]

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  collections = openCollections(mongo.db)
  all = Array.from({ length: ROWS }, (_, i) => row(i + 1))
  await collections.subscriptions.insertMany(all)
})
afterAll(() => mongo.stop())

/** Every mixture of status, plan, method, renewal and end; every seventh active one has lapsed and waits for the sweep. */
function row(n: number): SubscriptionDoc {
  const status = [STATUS.active, STATUS.active, STATUS.expired, STATUS.refunded, STATUS.pending][n % 5] ?? STATUS.active
  const end = n % 11 === 0 ? 0 : n % 7 === 0 ? NOW - n : NOW + n * 3_600
  return {
    _id: n,
    app_key: n % 9 === 0 ? 'other' : 'demo',
    user_id: n % 50,
    plan_id: 1 + (n % 3),
    plan: { plan_id: 1 + (n % 3), version: 1, name: 'P', price_cents: 1, duration: 30, grace_days: 0, features: [] },
    payment_method: n % 2 === 0 ? 'alipay' : 'wechat',
    payment_id: `P${n}`,
    paid_cents: 1,
    status,
    start: NOW - 1_000,
    end,
    lapse_at: end,
    auto_renew: n % 4 === 0,
    since: NOW - 1_000,
    version: 1,
    // Ties, so that the order needs the id as well.
    created_at: new Date((NOW - Math.floor(n / 10)) * 1000),
    updated_at: new Date(NOW * 1000),
  }
}

/** The same question without a database. */
function expected(filter: SubscriptionFilter): number[] {
  const shown = (known: SubscriptionDoc): Status =>
    known.status === STATUS.active && !givesAccess(known, NOW) ? STATUS.expired : known.status
  const ending = (known: SubscriptionDoc, until: number) =>
    known.status === STATUS.active && known.end > NOW && known.end <= until
  const found = all.filter(
    known =>
      known.app_key === 'demo' &&
      (!filter.userIds || filter.userIds.includes(known.user_id)) &&
      (filter.status === undefined || shown(known) === filter.status) &&
      (filter.planId === undefined || known.plan_id === filter.planId) &&
      (filter.method === undefined || known.payment_method === filter.method) &&
      (filter.autoRenew === undefined || known.auto_renew === filter.autoRenew) &&
      (filter.endsUntil === undefined || ending(known, filter.endsUntil)) &&
      (!filter.anyOf ||
        filter.anyOf.userIds.includes(known.user_id) ||
        filter.anyOf.paymentId === known.payment_id ||
        filter.anyOf.id === known._id) &&
      (!filter.created?.from || known.created_at >= filter.created.from) &&
      (!filter.created?.to || known.created_at < filter.created.to),
  )
  return found.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || b._id - a._id).map(({ _id }) => _id)
}

const statuses = [undefined, STATUS.pending, STATUS.active, STATUS.expired, STATUS.refunded]
const created = { from: new Date((NOW - 30) * 1000), to: new Date((NOW - 5) * 1000) }
const filters: SubscriptionFilter[] = statuses.flatMap(status =>
  [undefined, 2].flatMap(planId =>
    [undefined, 'alipay'].flatMap(method =>
      [undefined, true, false].flatMap(autoRenew => ({ status, planId, method, autoRenew })),
    ),
  ),
)
filters.push(
  { endsUntil: NOW + 7 * 86_400 },
  { endsUntil: NOW + 7 * 86_400, method: 'wechat', autoRenew: true },
  { created },
  { created, status: STATUS.expired },
  { userIds: [7] },
  { userIds: [7], status: STATUS.active },
  { anyOf: { userIds: [3, 4], paymentId: 'P11', id: 12 } },
  { anyOf: { userIds: [], paymentId: 'none', id: 0 } },
)

test(`${filters.length} filters give all pages in order, without a record twice or left out`, async () => {
  const count = createCount()
  for (const filter of filters) {
    const wanted = expected(filter)
    const query = await subscriptionQuery(collections, 'demo', filter, NOW)
    const pages: number[] = []
    for (let number = 1; number === 1 || pages.length < wanted.length; number++) {
      const page = { number, size: 30, offset: (number - 1) * 30 }
      const found = await listSubscriptions(collections, count, new Date(NOW * 1000), { query, key: 'k', page })
      expect([filter, found.total]).toEqual([filter, wanted.length])
      if (found.items.length === 0) break
      pages.push(...found.items.map(({ _id }) => _id))
    }
    expect([filter, pages]).toEqual([filter, wanted])
    const walked: number[] = []
    let after: Position | undefined
    do {
      const page = { number: 1, size: 7, offset: 0, after }
      const found = await listSubscriptions(collections, count, new Date(NOW * 1000), { query, key: 'k', page })
      walked.push(...found.items.map(({ _id }) => _id))
      after = found.next
    } while (after)
    expect([filter, walked]).toEqual([filter, wanted])
  }
})

test('pages are walked along an index that has every key in order: skipped records are never read', async () => {
  for (const filter of [{}, { status: STATUS.active }, { planId: 2 }, { method: 'alipay' }, { autoRenew: true }]) {
    const { filter: query, walk } = await subscriptionQuery(collections, 'demo', filter, NOW)
    const cursor = collections.subscriptions.find(query).hint(walk ?? {})
    const plan = await cursor.sort({ created_at: -1, _id: -1 }).skip(40).limit(10).explain('executionStats')
    const { totalDocsExamined, nReturned } = plan.executionStats
    expect([filter, totalDocsExamined, nReturned]).toEqual([filter, 10, 10])
    const after = { at: new Date((NOW - 20) * 1000), id: 205 }
    const deep = collections.subscriptions
      .find({ $and: [query, afterPosition<SubscriptionDoc>(after)] })
      .hint(walk ?? {})
    const { executionStats } = await deep.sort({ created_at: -1, _id: -1 }).limit(10).explain('executionStats')
    // At most the ten records of that very moment are read in vain.
    expect(executionStats.nReturned).toBe(10)
    expect(executionStats.totalDocsExamined).toBeLessThanOrEqual(20)
  }
})
