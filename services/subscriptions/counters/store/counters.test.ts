/** Running figures: what is moved step by step, what the repair counts, and what is read agree. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes } from '../../../platform/database/mongo.ts'
import { repairCounters, repairDay, writeOpening } from '../../jobs/store/repair-and-purge.ts'
import { STATUS } from '../../rules/period.ts'
import { type Collections, openCollections, subscriptionCollections } from '../../store/collections.ts'
import type { SubscriptionDoc } from '../../store/documents.ts'
import { tallyChange } from '../rules/counter-changes.ts'
import { bump, bumpDay, emptyDay, readCounters, readDays } from './counters.ts'

let mongo: TestDatabase
let c: Collections
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  c = openCollections(mongo.db)
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  for (const collection of [c.counters, c.days, c.subscriptions, c.users, c.payments])
    await (collection as typeof c.days).deleteMany({})
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

/** Pays half a hundredth of a cent in a month beside whole ones. */
const HALF: Drawn = {
  ...{ status: STATUS.active, user: 1, plan: 1, method: 'alipay' },
  ...{ permanent: false, auto_renew: true, paid: 3, duration: 16 },
}

/** Without what is zero: steps leave zeros behind that nobody counts. */
const counted = (group: Record<string, number>) =>
  Object.fromEntries(Object.entries(group).filter(([, amount]) => amount !== 0))

test('figures that were moved step by step are those that the repair counts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(subscription, { minLength: 1, maxLength: 12 }), async drawn => {
      const documents = drawn.map(documentOf)
      await c.subscriptions.deleteMany({})
      await c.counters.deleteMany({})
      await c.subscriptions.insertMany(documents)
      for (const document of documents) await bump(c, 'demo', tallyChange(undefined, document))
      const moved = await readCounters(c, ['demo'])
      await repairCounters(c, 'demo')
      const { users_paying, ...repaired } = await readCounters(c, ['demo'])
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

describe('figures of several apps', () => {
  test('are their sum, by plan, method and status, whatever the names', async () => {
    await bump(c, 'a', { users_total: 2, 'by_method.constructor': 1, 'by_method.alipay': 2, 'by_plan.1': 3 })
    await bump(c, 'b', { users_total: 3, 'by_method.constructor': 4, 'by_status.2': 5, mrr: 7 })
    await bump(c, 'c', { users_total: 100 })
    const { by_method, by_plan, by_status, ...numbers } = await readCounters(c, ['a', 'b', 'nobody'])
    expect(by_method).toEqual({ alipay: 2, constructor: 5 })
    expect([by_plan, by_status]).toEqual([{ 1: 3 }, { 2: 5 }])
    expect(numbers).toMatchObject({ users_total: 5, users_active: 0, mrr: 7 })
  })

  test('of none are zero', async () => {
    expect(await readCounters(c, [])).toEqual({
      ...{ _id: '', users_total: 0, users_active: 0, users_paying: 0, subs_total: 0, subs_active: 0 },
      ...{ subs_permanent: 0, subs_auto_renew: 0, mrr: 0, by_plan: {}, by_method: {}, by_status: {} },
    })
  })

  test('moved by many at once lose none', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => bump(c, 'a', { subs_total: 1, [`by_plan.${n % 2}`]: 1 })))
    expect(await readCounters(c, ['a'])).toMatchObject({ subs_total: 50, by_plan: { 0: 25, 1: 25 } })
  })

  test('that do not move write nothing', async () => {
    await bump(c, 'a', {})
    await bumpDay(c, 'a', '2026-02-28', {})
    await bumpDay(c, 'a', '2026-02-28', { new_users: 0 })
    expect([await c.counters.countDocuments(), await c.days.countDocuments()]).toEqual([0, 0])
  })
})

describe('a method with a name of the prototype', () => {
  test('is counted by the repair, and goes on to be counted', async () => {
    await c.subscriptions.insertMany([1, 2].map(plan => documentOf({ ...HALF, plan, method: 'constructor' }, plan)))
    await repairCounters(c, 'demo')
    expect((await c.counters.findOne({ _id: 'demo' }))?.by_method).toEqual({ constructor: 2 })
    await bump(c, 'demo', { 'by_method.constructor': 1 })
    expect((await readCounters(c, ['demo'])).by_method).toEqual({ constructor: 3 })
  })
})

describe('figures of days', () => {
  test('are summed by day over the apps, both ends included, in leap years too', async () => {
    for (const day of ['2028-02-28', '2028-02-29', '2028-03-01', '2028-03-02']) {
      await bumpDay(c, 'a', day, { new_users: 1, revenue_cents: 10 })
      await bumpDay(c, 'b', day, { new_users: 2, revenue_cents: -5 })
      await bumpDay(c, 'c', day, { new_users: 99 })
    }
    const days = await readDays(c, ['a', 'b'], '2028-02-29', '2028-03-01')
    expect([...days.keys()].toSorted()).toEqual(['2028-02-29', '2028-03-01'])
    for (const figures of days.values()) expect(figures).toEqual({ ...emptyDay(), new_users: 3, revenue_cents: 5 })
    expect(await readDays(c, ['a'], '2028-03-01', '2028-02-29')).toEqual(new Map())
  })

  test('that are repaired are counted from the first instant of the day to the last before the next', async () => {
    const [from, to] = [new Date('2026-03-01T16:00:00Z'), new Date('2026-03-02T16:00:00Z')]
    const at = [new Date(from.getTime() - 1), from, new Date(to.getTime() - 1), to]
    await c.users.insertMany(at.map((created_at, n) => ({ _id: n, app_key: 'demo', created_at }) as never))
    const row = { app_key: 'demo', kind: 'payment', amount_cents: 100, new_period: 'first' }
    await c.payments.insertMany(at.map((created_at, n) => ({ _id: n, ...row, created_at }) as never))
    const refund = { kind: 'refund', amount_cents: -30, new_period: 'none' }
    await c.payments.insertOne({ _id: 9, ...row, ...refund, created_at: from } as never)
    await c.payments.insertOne({ _id: 10, ...row, new_period: 'renewal', created_at: from } as never)
    await c.subscriptions.insertMany(
      at.map(
        (end, n) => ({ _id: n, app_key: 'demo', user_id: n, ended_at: Math.floor(end.getTime() / 1000) }) as never,
      ),
    )
    await bumpDay(c, 'demo', '2026-03-02', { login_users: 7, new_users: 99, refunds: 99 })
    await repairDay(c, 'demo', { day: '2026-03-02', from, to })
    expect((await readDays(c, ['demo'], '2026-03-02', '2026-03-02')).get('2026-03-02')).toEqual({
      ...emptyDay(),
      ...{ new_users: 2, login_users: 7, new_subs: 2, renewals: 1, refunds: 1, ended: 2, revenue_cents: 270 },
    })
  })

  test('keep the opening that was written first, also when nothing has happened on the day', async () => {
    await bump(c, 'demo', { subs_active: 5, subs_permanent: 2 })
    await Promise.all([1, 2, 3].map(() => writeOpening(c, 'demo', '2026-03-01')))
    await bump(c, 'demo', { subs_active: 5 })
    await writeOpening(c, 'demo', '2026-03-01')
    expect(await c.days.find().toArray()).toEqual([
      { _id: 'demo/2026-03-01', app_key: 'demo', day: '2026-03-01', opening_timed: 3 },
    ])
    await writeOpening(c, 'nobody', '2026-03-01')
    expect(await c.days.findOne({ app_key: 'nobody' })).toMatchObject({ opening_timed: 0 })
  })
})
