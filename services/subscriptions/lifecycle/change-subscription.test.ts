import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { DAY_MS, DAY_SECONDS } from '../../platform/durations.ts'
import { type Actor, type Subscriptions, systemActor } from '../context.ts'
import { openOrder } from '../payments/orders.ts'
import {
  begin,
  cancel,
  expire,
  extend,
  type Period,
  refund,
  STATUS,
  type Step,
  setAutoRenew,
} from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { PaymentDoc, SubscriptionDoc } from '../store/documents.ts'
import { createWebhook } from '../webhooks/manage-webhooks.ts'
import { changePeriod, periodOf, stepped, writeChange } from './change-subscription.ts'

type Decide = Parameters<typeof changePeriod>[4]

const ann: Actor = { kind: 'admin', id: 'a-1', name: 'ann', requestId: 'req-1', ip: '192.0.2.1' }
/** The largest number of days that the API accepts. */
const MAX_DAYS = 36_500

const extendBy =
  (days: number): Decide =>
  (period, plan, now) =>
    extend(period, plan, days, now)
const cancelNow: Decide = (period, _, now) => cancel(period, 'now', now)

/** A user with an active subscription of 30 days; `change` applies one step to it. */
async function held() {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, giveUser, givePlan, pay, clock } = subscriptions
  await giveApp('shop')
  const user = await giveUser('shop')
  const plan = await givePlan('shop')
  const first = await pay(user, plan)
  const change = (decide: Decide, target: { appKey?: string; id?: number; version?: number } = {}, by = context) =>
    changePeriod(by, ann, { appKey: 'shop', id: first._id, ...target }, 'subscription.test', decide)
  const entries = () => context.collections.audit.find({ action: 'subscription.test' }).sort({ _id: 1 }).toArray()
  const counters = async () => context.collections.counters.findOne({ _id: 'shop' })
  const today = async () => context.collections.days.findOne({ _id: `shop/${context.zone.day(clock.now())}` })
  /** Everything that a change writes. */
  const everything = async () => ({
    subscriptions: await context.collections.subscriptions.find().sort({ _id: 1 }).toArray(),
    payments: await context.collections.payments.find().sort({ _id: 1 }).toArray(),
    audit: await context.collections.audit.find().sort({ _id: 1 }).toArray(),
    events: await context.collections.webhookEvents.find().sort({ _id: 1 }).toArray(),
    counters: await context.collections.counters.find().toArray(),
    days: await context.collections.days.find().toArray(),
  })
  return { ...subscriptions, user, plan, first, change, entries, counters, today, everything }
}
type Held = Awaited<ReturnType<typeof held>>

/** A record for another plan of the same user, not stored yet. */
async function another({ context, first, givePlan }: Held, more: Partial<SubscriptionDoc> = {}) {
  const plan = await givePlan('shop')
  const _id = await context.ids.next('subscription')
  return { ...first, _id, plan_id: plan._id, version: 1, ...more }
}

/** The payment of a record, not stored yet. */
async function paymentFor({ context }: Held, record: SubscriptionDoc): Promise<PaymentDoc> {
  return {
    _id: await context.ids.next('payment'),
    app_key: record.app_key,
    subscription_id: record._id,
    user_id: record.user_id,
    plan_id: record.plan_id,
    kind: 'payment',
    method: 'wechat',
    payment_key: `shop/wechat/${record._id}`,
    payment_id: String(record._id),
    amount_cents: 990,
    paid_at: context.clock.now(),
    refunded_cents: 0,
    new_period: 'first',
    created_at: context.clock.now(),
  }
}

/** The same module, in which `other` runs right before each transaction. */
function overtaken(context: Subscriptions, other: () => Promise<unknown>): Subscriptions {
  const transaction: Subscriptions['mongo']['transaction'] = async (work, options) => {
    await other()
    return context.mongo.transaction(work, options)
  }
  return { ...context, mongo: { ...context.mongo, transaction } }
}

describe('a step is stored, audited and counted', () => {
  test.each<
    [string, Decide, afterDays: number, (first: SubscriptionDoc, now: number) => Partial<SubscriptionDoc>, number]
  >([
    ['an extension', extendBy(1), 1, first => ({ status: 1, end: first.end + DAY_SECONDS }), 0],
    ['the longest extension', extendBy(MAX_DAYS), 1, first => ({ end: first.end + MAX_DAYS * DAY_SECONDS }), 0],
    ['the renewal turned on', period => setAutoRenew(period, true), 1, () => ({ status: 1, auto_renew: true }), 0],
    [
      'the expiry at its end',
      (period, _, now) => expire(period, now),
      30,
      first => ({ status: 2, ended_at: first.end }),
      1,
    ],
    [
      'a cancellation',
      cancelNow,
      1,
      (first, now) => ({ status: 3, end: now, ended_at: now, previous_end: first.end }),
      1,
    ],
    [
      'a refund',
      (period, _, now) => refund(period, now),
      1,
      (first, now) => ({ status: 4, end: now, previous_end: first.end }),
      1,
    ],
  ])('%s', async (_, decide, afterDays, expected, ended) => {
    const { clock, first, change, stored, entries, counters, today } = await held()
    clock.advance(afterDays * DAY_MS)
    const now = clock.now()
    const after = await change(decide)
    expect(await stored(first._id)).toEqual(after)
    expect(after).toMatchObject({ ...expected(first, secondsOf(now)), version: 2, updated_at: now, since: first.since })
    expect('current' in after).toBe(after.status < STATUS.cancelled)
    expect(await entries()).toMatchObject([
      { app_key: 'shop', actor: { name: 'ann' }, target: { kind: 'subscription', id: String(first._id) }, at: now },
    ])
    expect((await today())?.ended ?? 0).toBe(ended)
    const { subs_active = 0, users_paying = 0 } = (await counters()) ?? {}
    expect([subs_active, users_paying]).toEqual(ended ? [0, 0] : [1, 1])
  })

  test('its reason and changes are in the audit log, and its event is queued', async () => {
    const { context, first } = await held()
    await createWebhook(context, systemActor, 'shop', { url: 'https://example.com/', events: [], enabled: true })
    const target = { appKey: 'shop', id: first._id, reason: 'Ann asked' }
    await changePeriod(context, ann, target, 'subscription.extend', extendBy(1))
    const end = first.end + DAY_SECONDS
    expect(await context.collections.audit.findOne({ action: 'subscription.extend' })).toMatchObject({
      ...{ reason: 'Ann asked', changes: { end: [first.end, end], lapse_at: [first.lapse_at, end] } },
    })
    expect(await context.collections.webhookEvents.find().toArray()).toMatchObject([
      { app_key: 'shop', type: 'subscription.renewed', data: { id: String(first._id), end_date: String(end) } },
    ])
  })

  test('an unpaid order that is cancelled does not count as ended', async () => {
    const { context, givePlan, user, change, stored, today } = await held()
    const order = { appKey: 'shop', userId: user._id, method: 'alipay', outTradeNo: 'T-1', autoRenew: false }
    const { subscription } = await openOrder(context, systemActor, { ...order, plan: await givePlan('shop') })
    await change(cancelNow, { id: subscription._id })
    expect(await stored(subscription._id)).toMatchObject({ status: 3, version: 2 })
    expect(await stored(subscription._id)).not.toHaveProperty('ended_at')
    expect((await today())?.ended ?? 0).toBe(0)
  })
})

describe('a refused step changes nothing', () => {
  test.each<[string, Decide, { appKey?: string; id?: number; version?: number }, code: string]>([
    ['of no record', extendBy(1), { id: 999_999 }, 'subscription_not_found'],
    ['of a negative id', extendBy(1), { id: -1 }, 'subscription_not_found'],
    ['of an id that is no number', extendBy(1), { id: Number.NaN }, 'subscription_not_found'],
    ['of another app', extendBy(1), { appKey: 'other' }, 'subscription_not_found'],
    ['of an older version', extendBy(1), { version: 0 }, 'version_conflict'],
    ['of a version that does not exist yet', extendBy(1), { version: 2 }, 'version_conflict'],
    ['that the rules refuse', (period, _, now) => expire(period, now), { version: 1 }, 'transition_refused'],
  ])('%s', async (_, decide, target, code) => {
    const { change, everything } = await held()
    const before = await everything()
    expect(await codeOf(change(decide, target))).toBe(code)
    expect(await everything()).toEqual(before)
  })

  test('of a final record', async () => {
    const { change, everything } = await held()
    await change(cancelNow, { version: 1 })
    const before = await everything()
    for (const decide of [extendBy(1), cancelNow]) expect(await codeOf(change(decide))).toBe('transition_refused')
    expect(await everything()).toEqual(before)
  })
})

describe('changes at the same time', () => {
  test('without a version all apply, each with its audit entry', async () => {
    const { first, change, stored, entries } = await held()
    await Promise.all([1, 2, 4, 8].map(days => change(extendBy(days))))
    expect(await stored(first._id)).toMatchObject({ end: first.end + 15 * DAY_SECONDS, version: 5 })
    expect(await entries()).toHaveLength(4)
  })

  test('of the same version one applies', async () => {
    const { first, change, stored, entries } = await held()
    const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(change(extendBy(1), { version: 1 }))))
    expect(outcomes.toSorted()).toEqual(['done', 'version_conflict', 'version_conflict'])
    expect(await stored(first._id)).toMatchObject({ end: first.end + DAY_SECONDS, version: 2 })
    expect(await entries()).toHaveLength(1)
  })

  test('three cancellations end it once', async () => {
    const { change, today } = await held()
    const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(change(cancelNow))))
    expect(outcomes.toSorted()).toEqual(['done', 'transition_refused', 'transition_refused'])
    expect((await today())?.ended).toBe(1)
  })

  test.each<[string, times: number, code: string]>([
    ['four times applies', 4, 'done'],
    ['each time is given up after five tries', Number.POSITIVE_INFINITY, 'version_conflict'],
  ])('a change that another overtakes %s', async (_, times, code) => {
    const { context, first, change, stored, entries } = await held()
    let left = times
    const slower = overtaken(context, async () => (left-- > 0 ? change(extendBy(1)) : undefined))
    const seen: number[] = []
    const decide: Decide = (period, plan, now) => {
      seen.push(period.version)
      return extend(period, plan, 1, now)
    }
    expect(await codeOf(change(decide, {}, slower))).toBe(code)
    expect(seen).toEqual([1, 2, 3, 4, 5])
    expect(await stored(first._id)).toMatchObject({ end: first.end + 5 * DAY_SECONDS, version: 6 })
    expect(await entries()).toHaveLength(5)
  })

  test('a change that a cancellation overtakes is refused', async () => {
    const { context, first, change, stored } = await held()
    let left = 1
    const slower = overtaken(context, async () => (left-- > 0 ? change(cancelNow) : undefined))
    expect(await codeOf(change(extendBy(1), {}, slower))).toBe('transition_refused')
    expect(await stored(first._id)).toMatchObject({ status: 3, version: 2 })
  })
})

describe('a single write', () => {
  test('stores a new record with its payment and the other writes', async () => {
    const fixture = await held()
    const { context, counters, today, stored } = fixture
    const after = await another(fixture)
    const written = await writeChange(context, ann, {
      ...{ action: 'subscription.test', after, payment: await paymentFor(fixture, after), day: { new_subs: 1 } },
      also: async session => {
        await context.collections.sequences.insertOne({ _id: 'also', next: 1 }, { session })
      },
    })
    expect(written).toEqual(after)
    expect(await stored(after._id)).toEqual(after)
    expect(await context.collections.payments.countDocuments({ subscription_id: after._id })).toBe(1)
    expect(await context.collections.sequences.countDocuments({ _id: 'also' })).toBe(1)
    expect(await counters()).toMatchObject({ subs_total: 2, subs_active: 2, users_paying: 1 })
    expect((await today())?.new_subs).toBe(2)
  })

  type Prepare = (fixture: Held) => Promise<Parameters<typeof writeChange>[2]>
  const base = { action: 'subscription.test' }

  test.each<[string, Prepare]>([
    [
      'a second record of the same user and plan',
      async fixture => {
        const after = await another(fixture, { plan_id: fixture.plan._id })
        return { ...base, after, payment: await paymentFor(fixture, after) }
      },
    ],
    [
      'a payment that is stored already',
      async fixture => {
        const known = await fixture.context.collections.payments.findOne({})
        const after = await another(fixture)
        const payment = { ...(await paymentFor(fixture, after)), payment_key: known?.payment_key ?? '' }
        return { ...base, after, payment }
      },
    ],
    [
      'a change of an older version, with a payment',
      async fixture => {
        await fixture.change(extendBy(1))
        const after = stepped(fixture.first, fixture.first, fixture.clock.now())
        return { ...base, before: fixture.first, after, payment: await paymentFor(fixture, after) }
      },
    ],
    [
      'a change that skips a version',
      async ({ first }) => ({ ...base, before: first, after: { ...first, version: first.version + 2 } }),
    ],
    [
      'a change of a record that is gone',
      async fixture => {
        const before = await another(fixture)
        return { ...base, before, after: stepped(before, before, fixture.clock.now()) }
      },
    ],
  ])('stores nothing and returns undefined: %s', async (_, prepare) => {
    const fixture = await held()
    const change = await prepare(fixture)
    const before = await fixture.everything()
    expect(await writeChange(fixture.context, ann, { ...change, day: { revenue_cents: 1 } })).toBeUndefined()
    expect(await fixture.everything()).toEqual(before)
  })

  test('stores nothing when the other writes fail, and throws their error', async () => {
    const fixture = await held()
    const after = await another(fixture)
    const payment = await paymentFor(fixture, after)
    const before = await fixture.everything()
    const also = () => Promise.reject(new Error('no order'))
    const written = writeChange(fixture.context, ann, { ...base, after, payment, also, day: { new_subs: 1 } })
    await expect(written).rejects.toThrow('no order')
    expect(await fixture.everything()).toEqual(before)
  })
})

test('a user with two active subscriptions counts as paying until both have ended', async () => {
  const { user, givePlan, pay, change, first, counters } = await held()
  const second = await pay(user, await givePlan('shop'))
  const paying = async () => (await counters())?.users_paying
  const seen = [await paying()]
  for (const { _id } of [first, second]) {
    await change(cancelNow, { id: _id })
    seen.push(await paying())
  }
  expect(seen).toEqual([1, 1, 0])
})

describe('the record after a step', () => {
  const NOW = new Date('2026-11-22T10:00:00Z')
  const plan = { plan_id: 7, version: 1, name: 'p', price_cents: 1990, duration: 30, grace_days: 0, features: [] }
  const active = begin(plan, 1_000, true)
  const record = (more: Partial<SubscriptionDoc> = {}): SubscriptionDoc => ({
    ...{ _id: 1, app_key: 'shop', user_id: 2, plan_id: 7, plan, current: true, payment_method: 'alipay' },
    ...{ payment_id: 'P-1', paid_cents: 1990, ...active, since: 1_000, version: 3 },
    ...{ created_at: new Date(0), updated_at: new Date(0) },
    ...more,
  })

  test.each<[string, SubscriptionDoc, Period, Partial<SubscriptionDoc>, absent: (keyof SubscriptionDoc)[]]>([
    ['active', record(), { ...active, end: 5 }, { end: 5, current: true }, ['ended_at', 'previous_end']],
    [
      'active again',
      record({ status: STATUS.expired, ended_at: 9, previous_end: 8 }),
      active,
      { status: 1, current: true },
      ['ended_at', 'previous_end'],
    ],
    ['expired', record(), { ...active, status: STATUS.expired, ended_at: 9 }, { ended_at: 9, current: true }, []],
    [
      'cancelled',
      record(),
      { ...active, status: STATUS.cancelled, ended_at: 9, previous_end: 8 },
      { ended_at: 9, previous_end: 8 },
      ['current'],
    ],
    ['refunded', record(), { ...active, status: STATUS.refunded }, { status: 4 }, ['current']],
    ['permanent', record(), { ...active, end: 0, lapse_at: 0 }, { end: 0, lapse_at: 0 }, []],
  ])('%s', (_, before, period, expected, absent) => {
    const after = stepped(before, period, NOW)
    expect(after).toMatchObject({ ...expected, version: 4, updated_at: NOW, created_at: before.created_at })
    for (const field of absent) expect(after).not.toHaveProperty(field)
  })

  test('takes the period of a complete record and none of its other fields', () => {
    const other = record({ _id: 9, user_id: 9, payment_id: 'P-9', version: 90, end: 77, since: 9 })
    expect(stepped(record(), other, NOW)).toEqual({ ...record(), end: 77, version: 4, updated_at: NOW })
  })

  test('has the given fields, and its own version', () => {
    const more = { payment_id: 'P-2', trial: true as const, version: 90, end: 77 }
    const expected = { ...record(), payment_id: 'P-2', trial: true, version: 4, updated_at: NOW }
    expect(stepped(record(), active, NOW, more)).toEqual(expected)
  })
})

test.each<[Extract<Step, { ok: false }>['reason'], RegExp]>([
  ['permanent', /permanent/],
  ['final', /canceled or refunded/],
  ['not_active', /not active/],
])('a step that is refused as %s says why', (reason, text) => {
  expect(() => periodOf({ ok: false, reason })).toThrow(text)
})
