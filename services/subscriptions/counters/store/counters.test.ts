/** Running counters: increments, the nightly repair and the readers agree. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes } from '../../../platform/database/mongo.ts'
import { repairCounters, repairDay, writeOpening } from '../../jobs/store/repair-and-purge.ts'
import { STATUS } from '../../rules/subscription-lifecycle.ts'
import { type Collections, openCollections, subscriptionCollections } from '../../store/collections.ts'
import type { SubscriptionDoc } from '../../store/documents.ts'
import { tallyChange } from '../rules/counter-changes.ts'
import { bump, bumpDay, emptyDay, readCounters, readDays } from './counters.ts'

let mongo: TestDatabase
let collections: Collections
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  collections = openCollections(mongo.db)
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  for (const collection of [
    collections.counters,
    collections.days,
    collections.subscriptions,
    collections.users,
    collections.payments,
  ])
    await (collection as typeof collections.days).deleteMany({})
})

/** Names that an object has from its prototype are names of methods like any other. */
const METHODS = ['alipay', 'wechat', 'constructor']

const subscription = fc.record({
  status: fc.constantFrom(...Object.values(STATUS)),
  user: fc.integer({ min: 1, max: 4 }),
  plan: fc.integer({ min: 1, max: 3 }),
  method: fc.constantFrom(...METHODS),
  permanent: fc.boolean(),
  auto_renew: fc.boolean(),
  paid: fc.integer({ min: 0, max: 99_999_999 }),
  // Sixteenths are where half a hundredth of a cent is left over.
  duration: fc.constantFrom(0, 1, 7, 16, 30, 48, 365, 36_500),
})
type Drawn = typeof subscription extends fc.Arbitrary<infer T> ? T : never

function documentOf(drawn: Drawn, index: number): SubscriptionDoc {
  const { status, user, plan, method, permanent, auto_renew, paid, duration } = drawn
  const snapshot = { plan_id: plan, version: 1, name: 'P', price_cents: paid, duration, grace_days: 0, features: [] }
  return {
    ...{ _id: index + 1, app_key: 'demo', user_id: user, plan_id: plan, plan: snapshot, status, auto_renew },
    ...{ payment_method: method, payment_id: `P${index}`, paid_cents: paid, start: 1, since: 1 },
    ...{ end: permanent ? 0 : 2_000_000_000, lapse_at: permanent ? 0 : 2_000_000_000, version: 1 },
    ...{ created_at: new Date(0), updated_at: new Date(0) },
  }
}

/** Pays half a hundredth of a cent per month next to integers. */
const HALF: Drawn = {
  ...{ status: STATUS.active, user: 1, plan: 1, method: 'alipay' },
  ...{ permanent: false, auto_renew: true, paid: 3, duration: 16 },
}

/** Without zeros: increments leave zeros that the repair does not write. */
const counted = (group: Record<string, number>) =>
  Object.fromEntries(Object.entries(group).filter(([, amount]) => amount !== 0))

test('counters changed step by step equal those of the repair', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(subscription, { minLength: 1, maxLength: 12 }), async drawn => {
      const documents = drawn.map(documentOf)
      await collections.subscriptions.deleteMany({})
      await collections.counters.deleteMany({})
      await collections.subscriptions.insertMany(documents)
      for (const document of documents) await bump(collections, 'demo', tallyChange(undefined, document))
      const moved = await readCounters(collections, ['demo'])
      await repairCounters(collections, 'demo')
      const { users_paying, ...repaired } = await readCounters(collections, ['demo'])
      for (const group of ['by_plan', 'by_method', 'by_status'] as const)
        expect(counted(moved[group])).toEqual(counted(repaired[group]))
      for (const field of ['subs_total', 'subs_active', 'subs_permanent', 'subs_auto_renew', 'mrr'] as const)
        expect([field, moved[field]]).toEqual([field, repaired[field]])
      expect(users_paying).toBe(
        new Set(documents.filter(({ status }) => status === STATUS.active).map(({ user_id }) => user_id)).size,
      )
    }),
    { numRuns: 25, examples: [[[HALF]]] },
  )
})

describe('counters of several apps', () => {
  test('are their sum, by plan, method and status, whatever the names', async () => {
    await bump(collections, 'a', { users_total: 2, 'by_method.constructor': 1, 'by_method.alipay': 2, 'by_plan.1': 3 })
    await bump(collections, 'b', { users_total: 3, 'by_method.constructor': 4, 'by_status.2': 5, mrr: 7 })
    await bump(collections, 'c', { users_total: 100 })
    const { by_method, by_plan, by_status, ...numbers } = await readCounters(collections, ['a', 'b', 'unknown'])
    expect(by_method).toEqual({ alipay: 2, constructor: 5 })
    expect([by_plan, by_status]).toEqual([{ 1: 3 }, { 2: 5 }])
    expect(numbers).toMatchObject({ users_total: 5, users_active: 0, mrr: 7 })
  })

  test('of none are zero', async () => {
    expect(await readCounters(collections, [])).toEqual({
      ...{ _id: '', users_total: 0, users_active: 0, users_paying: 0, subs_total: 0, subs_active: 0 },
      ...{ subs_permanent: 0, subs_auto_renew: 0, mrr: 0, by_plan: {}, by_method: {}, by_status: {} },
    })
  })

  test('moved in parallel lose no increment', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => bump(collections, 'a', { subs_total: 1, [`by_plan.${n % 2}`]: 1 })),
    )
    expect(await readCounters(collections, ['a'])).toMatchObject({ subs_total: 50, by_plan: { 0: 25, 1: 25 } })
  })

  test('that do not move write nothing', async () => {
    await bump(collections, 'a', {})
    await bumpDay(collections, 'a', '2026-02-28', {})
    await bumpDay(collections, 'a', '2026-02-28', { new_users: 0 })
    expect([await collections.counters.countDocuments(), await collections.days.countDocuments()]).toEqual([0, 0])
  })
})

describe('a method with a name of the prototype', () => {
  test('is counted by the repair, and counted on afterwards', async () => {
    await collections.subscriptions.insertMany(
      [1, 2].map(plan => documentOf({ ...HALF, plan, method: 'constructor' }, plan)),
    )
    await repairCounters(collections, 'demo')
    expect((await collections.counters.findOne({ _id: 'demo' }))?.by_method).toEqual({ constructor: 2 })
    await bump(collections, 'demo', { 'by_method.constructor': 1 })
    expect((await readCounters(collections, ['demo'])).by_method).toEqual({ constructor: 3 })
  })
})

describe('counters of days', () => {
  test('are summed by day over the apps, both ends included, in leap years too', async () => {
    for (const day of ['2028-02-28', '2028-02-29', '2028-03-01', '2028-03-02']) {
      await bumpDay(collections, 'a', day, { new_users: 1, revenue_cents: 10 })
      await bumpDay(collections, 'b', day, { new_users: 2, revenue_cents: -5 })
      await bumpDay(collections, 'c', day, { new_users: 99 })
    }
    const days = await readDays(collections, ['a', 'b'], '2028-02-29', '2028-03-01')
    expect([...days.keys()].toSorted()).toEqual(['2028-02-29', '2028-03-01'])
    for (const counts of days.values()) expect(counts).toEqual({ ...emptyDay(), new_users: 3, revenue_cents: 5 })
    expect(await readDays(collections, ['a'], '2028-03-01', '2028-02-29')).toEqual(new Map())
  })

  test('that are repaired are counted from the first instant of the day to the last before the next', async () => {
    const [from, to] = [new Date('2026-03-01T16:00:00Z'), new Date('2026-03-02T16:00:00Z')]
    const at = [new Date(from.getTime() - 1), from, new Date(to.getTime() - 1), to]
    await collections.users.insertMany(at.map((created_at, n) => ({ _id: n, app_key: 'demo', created_at }) as never))
    const row = { app_key: 'demo', kind: 'payment', amount_cents: 100, new_period: 'first' }
    await collections.payments.insertMany(at.map((created_at, n) => ({ _id: n, ...row, created_at }) as never))
    const refund = { kind: 'refund', amount_cents: -30, new_period: 'none' }
    await collections.payments.insertOne({ _id: 9, ...row, ...refund, created_at: from } as never)
    await collections.payments.insertOne({ _id: 10, ...row, new_period: 'renewal', created_at: from } as never)
    await collections.subscriptions.insertMany(
      at.map(
        (end, n) => ({ _id: n, app_key: 'demo', user_id: n, ended_at: Math.floor(end.getTime() / 1000) }) as never,
      ),
    )
    await bumpDay(collections, 'demo', '2026-03-02', { login_users: 7, new_users: 99, refunds: 99 })
    await repairDay(collections, 'demo', { day: '2026-03-02', from, to })
    expect((await readDays(collections, ['demo'], '2026-03-02', '2026-03-02')).get('2026-03-02')).toEqual({
      ...emptyDay(),
      ...{ new_users: 2, login_users: 7, new_subs: 2, renewals: 1, refunds: 1, ended: 2, revenue_cents: 270 },
    })
  })

  test('keep the opening that was written first, also when nothing has happened on the day', async () => {
    await bump(collections, 'demo', { subs_active: 5, subs_permanent: 2 })
    await Promise.all([1, 2, 3].map(() => writeOpening(collections, 'demo', '2026-03-01')))
    await bump(collections, 'demo', { subs_active: 5 })
    await writeOpening(collections, 'demo', '2026-03-01')
    expect(await collections.days.find().toArray()).toEqual([
      { _id: 'demo/2026-03-01', app_key: 'demo', day: '2026-03-01', opening_timed: 3 },
    ])
    await writeOpening(collections, 'unknown', '2026-03-01')
    expect(await collections.days.findOne({ app_key: 'unknown' })).toMatchObject({ opening_timed: 0 })
  })
})
