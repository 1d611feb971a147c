/** What the stores promise to writers at the same time, and to names and words of any kind. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { replaceVersion } from '../../platform/database/models.ts'
import { ensureIndexes, isDuplicateKey } from '../../platform/database/mongo.ts'
import { listApps } from '../catalogue/store/apps.ts'
import {
  allSwitches,
  dueSwitches,
  findPlan,
  listPlans,
  listSwitches,
  planNames,
} from '../catalogue/store/plans-and-flags.ts'
import { NEW_SWITCH } from '../flags/rules/flag-spec.ts'
import { addRefunded, findPayment } from '../lifecycle/store/payments.ts'
import { closeOrder } from '../payments/store/orders.ts'
import { claimEvent, insertEvent, postponeEvent, settleEvent } from '../payments/store/payment-events.ts'
import { claimReminder, markReminded, releasePlace, takePlace } from '../reminders/store/reminders.ts'
import { pageOf } from '../rules/paging.ts'
import { type Collections, openCollections, subscriptionCollections } from './collections.ts'
import type { OrderDoc, PaymentDoc, PaymentEventDoc } from './documents.ts'
import type { AppDoc, PlanDoc, SwitchDoc } from './models.ts'
import { rememberNonce } from './nonces-and-idempotency.ts'
import { createIds, type IdKind } from './sequence-ids.ts'

const NOW = new Date('2028-02-29T10:00:00Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)
let mongo: TestDatabase
let collections: Collections
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  collections = openCollections(mongo.db)
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  for (const { name } of subscriptionCollections) await mongo.db.collection(name).deleteMany({})
})

const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

describe('numbers', () => {
  test.each<IdKind>(['plan', 'subscription'])(
    'of %s are unique over many parallel callers and processes',
    async kind => {
      const processes = [createIds(collections), createIds(collections), createIds(collections)]
      const given = await many(650, n => (processes[n % 3] as (typeof processes)[number]).next(kind))
      expect(new Set(given).size).toBe(650)
      expect(Math.min(...given)).toBe(1)
      expect(given.every(Number.isSafeInteger)).toBe(true)
    },
  )

  test('of one process increase, and continue after those of earlier processes', async () => {
    const first = await createIds(collections).next('audit')
    const second = createIds(collections)
    const numbers = []
    for (let n = 0; n < 150; n++) numbers.push(await second.next('audit'))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(numbers[0]).toBeGreaterThan(first)
  })

  test('of kinds are apart', async () => {
    const ids = createIds(collections)
    expect([await ids.next('app'), await ids.next('plan'), await ids.next('app')]).toEqual([1, 1, 2])
  })

  test('are allocated again after the database was unavailable', async () => {
    let away = true
    const sequences = new Proxy(collections.sequences, {
      get: (of, name) => {
        if (away && name === 'findOneAndUpdate') return () => Promise.reject(new Error('away'))
        return Reflect.get(of, name).bind(of)
      },
    })
    const ids = createIds({ sequences })
    const outcomes = await Promise.allSettled([ids.next('user'), ids.next('user')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    away = false
    expect(await many(3, () => ids.next('user'))).toEqual([1, 2, 3])
  })
})

describe('searching', () => {
  const names = [
    'Gold',
    'gold+',
    'Gold (2028)',
    'a.b',
    'axb',
    '套餐',
    '^start',
    'back\\slash',
    '50%',
    '😀 plan',
    '__proto__',
  ]
  const found: [string, string[]][] = [
    ['GOLD', ['Gold', 'gold+', 'Gold (2028)']],
    ['gold+', ['gold+']],
    ['(20', ['Gold (2028)']],
    ['a.b', ['a.b']],
    ['.*', []],
    ['^', ['^start']],
    ['$', []],
    ['\\', ['back\\slash']],
    ['餐', ['套餐']],
    ['😀', ['😀 plan']],
    ['__proto__', ['__proto__']],
    ['[', []],
    ['0%', ['50%']],
    ['(?i', []],
  ]

  test.each(found)('plans and switches for %j match anywhere, literally', async (search, expected) => {
    await collections.plans.insertMany(names.map((name, n) => plan(n, { name })))
    await collections.switches.insertMany(names.map((name, n) => flag(n, { name: `s${n}`, description: name })))
    const plans = await listPlans(collections, 'shop', { search }, pageOf({}))
    expect([plans.items.map(({ name }) => name), plans.total]).toEqual([expected, expected.length])
    const switches = await listSwitches(collections, 'shop', { search }, pageOf({}))
    expect(switches.items.map(({ description }) => description).toSorted()).toEqual(expected.toSorted())
  })

  test('apps finds names in any case and keys by their beginning, in scope only', async () => {
    const app = (n: number, app_key: string, app_name: string, more: Partial<AppDoc> = {}): AppDoc => ({
      ...{ _id: n, app_key, app_name, app_description: '', status: '1', live: true, version: 1 },
      ...{ created_at: NOW, updated_at: NOW, ...more },
    })
    const { live: _, ...gone } = app(5, 'shop-old', 'Shop gone')
    await collections.apps.insertMany([
      app(1, 'shop', 'My Shop'),
      app(2, 'other', 'SHOP window', { status: '0' }),
      app(3, 'third', 'a.shop'),
      app(4, 'shop-2', 'Second'),
      gone,
    ])
    const keys = async (filter: Parameters<typeof listApps>[1]) =>
      (await listApps(collections, filter, pageOf({}))).items.map(({ app_key }) => app_key)
    expect(await keys({ search: 'shop' })).toEqual(['shop', 'other', 'shop-2'])
    expect(await keys({ search: 'SHOP W' })).toEqual(['other'])
    expect(await keys({ search: '.' })).toEqual([])
    expect(await keys({ search: 'shop', status: '1', appKeys: ['other', 'shop-2'] })).toEqual(['shop-2'])
    expect(await keys({ appKeys: [] })).toEqual([])
    expect(await keys({})).toEqual(['shop', 'other', 'third', 'shop-2'])
  })

  test('pages of plans hold each once, in the order of the shop, equal places by number', async () => {
    await collections.plans.insertMany(names.map((name, n) => plan(names.length - n, { name, sort_order: n % 3 })))
    const all = (await listPlans(collections, 'shop', {}, pageOf({ pageSize: 100 }))).items
    const order = all.map(({ sort_order, _id }) => sort_order * 1_000 + _id)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    const pages = await many(3, n => listPlans(collections, 'shop', {}, pageOf({ page: n + 1, pageSize: 4 })))
    expect(pages.flatMap(({ items }) => items)).toEqual(all)
    expect((await listPlans(collections, 'shop', {}, pageOf({ page: 9 }))).items).toEqual([])
  })

  test('a deleted plan is not found, but its name is known for past sales', async () => {
    await collections.plans.insertMany([plan(1, { deleted_at: NOW }), plan(2, { name: 'live' })])
    expect(await findPlan(collections, 'shop', 1)).toBeUndefined()
    expect(await findPlan(collections, 'other', 2)).toBeUndefined()
    expect((await listPlans(collections, 'shop', {}, pageOf({}))).items.map(({ _id }) => _id)).toEqual([2])
    expect(await planNames(collections, [1, 2, 3])).toEqual(
      new Map([
        [1, 'plan 1'],
        [2, 'live'],
      ]),
    )
  })

  function plan(_id: number, more: Partial<PlanDoc> = {}): PlanDoc {
    return {
      ...{ _id, app_key: 'shop', name: `plan ${_id}`, description: '', status: '1', sort_order: 0, features: [] },
      ...{ price_cents: 0, original_price_cents: 0, duration: 30, trial_days: 0, grace_days: 0 },
      ...{ auto_renew_allowed: false, version: 1, edits: 1, created_at: NOW, updated_at: NOW, ...more },
    }
  }

  test('of many who replace the same edit of a plan one does', async () => {
    await collections.plans.insertOne(plan(1))
    const outcomes = await many(5, n =>
      mongo.transaction(session =>
        replaceVersion(collections.plans, plan(1, { edits: 2, sort_order: n }), 'edits', session),
      ),
    )
    expect(outcomes.filter(Boolean)).toHaveLength(1)
  })
})

function flag(_id: number, more: Partial<SwitchDoc> = {}): SwitchDoc {
  const by = { created_by: 'ann', updated_by: 'ann', created_at: NOW, updated_at: NOW }
  return { ...NEW_SWITCH, _id, app_key: 'shop', name: 's', version: 1, ...by, ...more }
}

test.each<[string, number[], boolean]>([
  ['one to come', [1_001], false],
  ['one that is due this second', [1_000], true],
  ['one of the past among others', [5_000, 999, 7_000], true],
  ['none', [], false],
])('a switch with %s: due is %s', async (_, times, due) => {
  const schedules = times.map(at => ({ at, value: '1' }))
  await collections.switches.insertOne(flag(1, { schedules }))
  expect((await dueSwitches(collections, 1_000)).length === 1).toBe(due)
  expect(await allSwitches(collections, 'shop')).toHaveLength(1)
})

describe('money that was given back', () => {
  const payment = (more: Partial<PaymentDoc> = {}) =>
    ({ _id: 1, app_key: 'shop', amount_cents: 1_000, refunded_cents: 0, ...more }) as PaymentDoc
  const giveBack = (cents: number) => mongo.transaction(session => addRefunded(collections, payment(), cents, session))

  test('in parallel never exceed the paid amount', async () => {
    await collections.payments.insertOne(payment())
    const outcomes = await many(8, () => giveBack(300))
    expect(outcomes.filter(Boolean)).toHaveLength(3)
    expect((await collections.payments.findOne({ _id: 1 }))?.refunded_cents).toBe(900)
    expect([await giveBack(101), await giveBack(100), await giveBack(0), await giveBack(1)]).toEqual([
      ...[false, true, true, false],
    ])
  })

  test.each<[string, Parameters<typeof findPayment>[1], number | undefined]>([
    ['by its number', { payment_key: 'shop/alipay/P1' }, 1],
    ['by the reference', { client_key: 'shop/r1' }, 1],
    ['by either, when the other is new', { payment_key: 'shop/alipay/P9', client_key: 'shop/r1' }, 1],
    ['of another method', { payment_key: 'shop/wechat/P1' }, undefined],
    ['of another app', { payment_key: 'other/alipay/P1', client_key: 'other/r1' }, undefined],
    ['by nothing, although rows without a key exist', {}, undefined],
    ['by empty keys', { payment_key: '', client_key: '' }, undefined],
  ])('a payment is found %s', async (_, keys, id) => {
    await collections.payments.insertMany([
      payment({ payment_key: 'shop/alipay/P1', client_key: 'shop/r1' }),
      payment({ _id: 2 }),
      payment({ _id: 3 }),
    ])
    expect((await findPayment(collections, keys))?._id).toBe(id)
  })

  test('a payment and a reference are booked once', async () => {
    const book = (_id: number, more: Partial<PaymentDoc>) =>
      collections.payments.insertOne(payment({ _id, ...more })).then(
        () => 'booked',
        (error: unknown) => (isDuplicateKey(error) ? 'there already' : 'failed'),
      )
    const booked = await many(4, n => book(n + 1, { payment_key: 'k', client_key: `r${n}` }))
    expect(booked.toSorted()).toEqual(['booked', 'there already', 'there already', 'there already'])
    expect(await book(9, { payment_key: 'l', client_key: 'r9' })).toBe('booked')
    expect(await book(10, { payment_key: 'm', client_key: 'r9' })).toBe('there already')
  })
})

test.each<[OrderDoc['status'], 'paid' | 'closed', OrderDoc['status']]>([
  ['open', 'paid', 'paid'],
  ['open', 'closed', 'closed'],
  ['closed', 'paid', 'paid'],
  ['paid', 'closed', 'paid'],
  ['paid', 'paid', 'paid'],
])('an order that is %s and set to %s is %s', async (before, reported, after) => {
  await collections.orders.insertOne({
    _id: 'shop/1',
    app_key: 'shop',
    user_id: 1,
    plan_id: 1,
    status: before,
  } as OrderDoc)
  await closeOrder(collections, 'shop/1', reported)
  expect((await collections.orders.findOne({ _id: 'shop/1' }))?.status).toBe(after)
})

describe('a notice', () => {
  const event = (n: number, more: Partial<PaymentEventDoc> = {}): PaymentEventDoc => ({
    ...{ _id: `alipay/shop/${n}`, app_key: 'shop', channel: 'alipay', notice: {}, state: 'waiting', attempts: 0 },
    ...{ due: NOW, received_at: NOW },
    ...more,
  })

  test('received many times in parallel is stored once', async () => {
    expect((await many(6, () => insertEvent(collections, event(1)))).filter(Boolean)).toHaveLength(1)
  })

  test('is taken by one of many workers, the longest due first, and comes back when its worker died', async () => {
    for (let n = 0; n < 4; n++) await insertEvent(collections, event(n, { due: later(-n * 1_000) }))
    await insertEvent(collections, event(9, { due: later(1) }))
    await insertEvent(collections, event(8, { state: 'applied', due: later(-99_000) }))
    const take = (now: Date) => claimEvent(collections, now, new Date(now.getTime() + 60_000))
    expect((await take(NOW))?._id).toBe('alipay/shop/3')
    const rest = await many(6, () => take(NOW))
    expect(rest.flatMap(taken => taken?._id ?? []).toSorted()).toEqual([0, 1, 2].map(n => `alipay/shop/${n}`))
    const again = await take(later(60_000))
    expect(again?.attempts).toBe(again?._id === 'alipay/shop/9' ? 1 : 2)
  })

  test.each(['ignored', 'rejected'] as const)(
    'that was applied is not %s afterwards by a slower worker',
    async late => {
      await insertEvent(collections, event(1))
      await settleEvent(collections, 'alipay/shop/1', 'applied', '', NOW)
      await settleEvent(collections, 'alipay/shop/1', late, 'too late', later(1))
      expect(await collections.paymentEvents.findOne({})).toMatchObject({
        state: 'applied',
        reason: '',
        applied_at: NOW,
      })
    },
  )

  test('that was settled is not put off any more', async () => {
    await insertEvent(collections, event(1, { state: 'applied', due: later(-1) }))
    await postponeEvent(collections, 'alipay/shop/1', later(1), 'not yet')
    expect(await collections.paymentEvents.findOne({})).toEqual(event(1, { state: 'applied', due: later(-1) }))
  })
})

describe('a reminder', () => {
  const claim = (at: Date, stale = later(-600_000)) =>
    claimReminder(
      collections,
      { _id: '1/2/ends_in_7', app_key: 'shop', subscription_id: 1, state: 'claimed', at },
      stale,
    )

  test('is claimed by one of many workers', async () => {
    expect((await many(8, () => claim(NOW))).filter(Boolean)).toHaveLength(1)
  })

  test('of a worker who died is claimed once more, when its claim is old enough, by one of many', async () => {
    await claim(NOW)
    expect(await claim(later(600_000), NOW)).toBe(false)
    expect((await many(8, () => claim(later(600_001), later(1)))).filter(Boolean)).toHaveLength(1)
  })

  test('that went out is never claimed again', async () => {
    await claim(NOW)
    await markReminded(collections, '1/2/ends_in_7', NOW)
    expect(await claim(later(1e10), later(1e10))).toBe(false)
  })

  test('uses the quota of its day and app while there is one, whoever writes the first document of the day', async () => {
    const take = (app = 'shop', day = '2028-02-29', places = 3) => takePlace(collections, app, day, places)
    const bumped = collections.days.updateOne({ _id: 'shop/2028-02-29' }, { $inc: { new_users: 1 } }, { upsert: true })
    const taken = await many(10, () => take())
    await bumped
    expect(taken.filter(Boolean)).toHaveLength(3)
    expect([await take('other'), await take('shop', '2028-03-01'), await take()]).toEqual([true, true, false])
    await releasePlace(collections, 'shop', '2028-02-29')
    expect([await take(), await take(), await take('shop', '2028-02-29', 4)]).toEqual([true, false, true])
  })
})

test('a nonce is accepted once among parallel requests', async () => {
  expect((await many(6, () => rememberNonce(collections, 'key/nonce', later(1)))).filter(Boolean)).toHaveLength(1)
  expect(await rememberNonce(collections, 'other/nonce', later(1))).toBe(true)
})
