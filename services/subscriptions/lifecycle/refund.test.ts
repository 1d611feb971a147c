import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { systemActor } from '../context.ts'
import { repairAllCounters } from '../jobs/nightly-maintenance.ts'
import { closeStaleOrders, openOrder } from '../payments/orders.ts'
import { runAdminAction } from './admin-actions.ts'
import { expireLapsed } from './expire-subscriptions.ts'
import { type RefundRequest, refundSubscription } from './refund.ts'

const DAY_MS = 86_400_000
const never = new AbortController().signal

async function sold(grace_days = 0) {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, giveUser, givePlan, pay, clock } = subscriptions
  await giveApp('shop')
  const user = await giveUser('shop')
  const plan = await givePlan('shop', { grace_days })
  const first = await pay(user, plan, { method: 'wechat', paymentId: 'W-1' })
  const refund = async (refundId: string, more: Partial<RefundRequest> = {}) =>
    refundSubscription(context, systemActor, { appKey: 'shop', subscriptionId: first._id, refundId, ...more })
  const paymentOf = async (payment_id: string) =>
    (await context.collections.payments.findOne({ payment_id })) ?? undefined
  const givenBack = async () =>
    (await context.collections.payments.find({ kind: 'refund' }).sort({ _id: 1 }).toArray()).map(
      row => -row.amount_cents,
    )
  const today = async () => context.collections.days.findOne({ _id: `shop/${context.zone.day(clock.now())}` })
  return { ...subscriptions, user, plan, first, refund, paymentOf, givenBack, today }
}

describe('a repeated refund is booked once', () => {
  test.each<[string, boolean]>([
    ['by its channel', true],
    ['by the app', false],
  ])('%s, also after a renewal by another method', async (_, byChannel) => {
    const { user, plan, pay, refund, paymentOf, givenBack } = await sold()
    const request = async (): Promise<Partial<RefundRequest>> => {
      const payment = await paymentOf('W-1')
      return { amountCents: 500, ...(byChannel && payment ? { payment, byChannel: true } : {}) }
    }
    expect(await refund('R-1', await request())).toMatchObject({ repeated: false })
    await pay(user, plan, { method: 'alipay' })
    expect(await refund('R-1', await request())).toMatchObject({ repeated: true })
    expect(await givenBack()).toEqual([500])
  })

  test('in the same moment', async () => {
    const { refund, givenBack } = await sold()
    const outcomes = await Promise.all([1, 2, 3].map(() => refund('R-1', { amountCents: 500 })))
    expect(outcomes.map(({ repeated }) => repeated).toSorted()).toEqual([false, true, true])
    expect(await givenBack()).toEqual([500])
  })

  test('the numbers of two channels are not the same refund', async () => {
    const { user, plan, pay, refund, paymentOf, givenBack } = await sold()
    await pay(user, plan, { method: 'alipay', paymentId: 'A-1' })
    for (const paid of ['W-1', 'A-1']) {
      const payment = await paymentOf(paid)
      if (payment) await refund('1', { amountCents: 500, payment, byChannel: true })
    }
    expect(await givenBack()).toEqual([500, 500])
  })

  test('but a number belongs to one subscription', async () => {
    const { context, giveUser, plan, pay, refund } = await sold()
    const other = await pay(await giveUser('shop'), plan, { method: 'wechat' })
    await refund('R-1', { amountCents: 500 })
    const again = { appKey: 'shop', subscriptionId: other._id, refundId: 'R-1', amountCents: 500 }
    expect(await codeOf(refundSubscription(context, systemActor, again))).toBe('payment_taken')
  })
})

describe('money that the channel gave back counts although the subscription is over', () => {
  test.each<[string, (subscriptions: Awaited<ReturnType<typeof sold>>) => Promise<unknown>, status: number]>([
    [
      'cancelled',
      ({ context, first }) => runAdminAction(context, systemActor, target(first._id), { action: 'cancel', at: 'now' }),
      3,
    ],
    ['refunded in part with its access', ({ refund }) => refund('R-0', { amountCents: 500, revoke: true }), 4],
  ])('%s', async (_, end, status) => {
    const half = await sold()
    await end(half)
    const payment = await half.paymentOf('W-1')
    const before = (await half.givenBack()).reduce((sum, cents) => sum + cents, 0)
    const rest = { amountCents: 1990 - before, byChannel: true as const, ...(payment ? { payment } : {}) }
    expect(await half.refund('R-9', rest)).toMatchObject({ repeated: false })
    expect((await half.givenBack()).reduce((sum, cents) => sum + cents, 0)).toBe(1990)
    expect((await half.stored(half.first._id)).status).toBe(status)
    expect((await half.paymentOf('W-1'))?.refunded_cents).toBe(1990)
    // The app cannot reactivate it.
    expect(await codeOf(half.refund('R-10', { revoke: true, amountCents: 0 }))).toBe('transition_refused')
  })
})

const target = (id: number) => ({ appKey: 'shop', id })

describe('a refund that the app booked in full is not booked again when the channel reports it under another number', () => {
  test.each<[string, Partial<RefundRequest>]>([
    ['without an amount', {}],
    ['with the amount', { amountCents: 1990 }],
    ['with the sum', { totalCents: 1990 }],
  ])('%s', async (_, reported) => {
    const { context, refund, paymentOf, givenBack, today } = await sold()
    await refund('BY-APP')
    const events = await context.collections.webhookEvents.countDocuments({})
    const payment = await paymentOf('W-1')
    const again = await refund('BY-CHANNEL', { ...reported, byChannel: true, ...(payment ? { payment } : {}) })
    expect(again).toMatchObject({ repeated: true, subscription: { status: 4 } })
    expect([await givenBack(), (await today())?.refunds]).toEqual([[1990], 1])
    expect(await context.collections.webhookEvents.countDocuments({})).toBe(events)
  })

  test('but what cost nothing is taken back once', async () => {
    const { user, givePlan, pay, refund, paymentOf, givenBack, stored } = await sold()
    const { _id } = await pay(user, await givePlan('shop'), { method: 'wechat', paymentId: 'FREE', amountCents: 0 })
    const payment = await paymentOf('FREE')
    const reported = { subscriptionId: _id, byChannel: true as const, ...(payment ? { payment } : {}) }
    expect(await refund('F-1', reported)).toMatchObject({ repeated: false })
    expect((await stored(_id)).status).toBe(4)
    expect(await refund('F-2', reported)).toMatchObject({ repeated: true })
    expect(await givenBack()).toHaveLength(1)
  })
})

test('a refund by an administrator who saw an older state is refused, and changes nothing', async () => {
  const { context, first, givenBack, stored } = await sold()
  const seen = first.version
  await runAdminAction(context, systemActor, target(first._id), { action: 'extend', days: 1, at: 'now' })
  const refund = (version: number) =>
    runAdminAction(context, systemActor, target(first._id), { action: 'refund', at: 'now', amount: 500, version })
  expect(await codeOf(refund(seen))).toBe('version_conflict')
  expect(await givenBack()).toEqual([])
  expect(await codeOf(refund((await stored(first._id)).version))).toBe('done')
  expect(await givenBack()).toEqual([500])
})

test.each<[string, number | undefined, number | undefined, string]>([
  ['more than was paid', 1991, undefined, 'amount_mismatch'],
  ['all', 1990, undefined, 'done'],
  ['what is left, unasked', undefined, undefined, 'done'],
  ['a sum beyond what was paid', undefined, 1991, 'amount_mismatch'],
  ['a sum', undefined, 1000, 'done'],
  ['a sum of nothing', undefined, 0, 'done'],
])('%s', async (_, amountCents, totalCents, code) => {
  const { refund, paymentOf } = await sold()
  expect(await codeOf(refund('R-1', { amountCents, totalCents }))).toBe(code)
  expect((await paymentOf('W-1'))?.refunded_cents).toBe(code === 'done' ? (totalCents ?? amountCents ?? 1990) : 0)
})

test('sums in any order come to the largest', async () => {
  const { refund, paymentOf, givenBack } = await sold()
  for (const [id, totalCents] of [
    ['R-2', 1200],
    ['R-1', 500],
    ['R-3', 1990],
    ['R-2', 1200],
  ] as const)
    await refund(id, { totalCents })
  expect([await givenBack(), (await paymentOf('W-1'))?.refunded_cents]).toEqual([[1200, 790], 1990])
})

describe('counters of ended subscriptions are equal before and after the nightly repair', () => {
  const ended = async ({ context, clock, today }: Awaited<ReturnType<typeof sold>>) => {
    const atOnce = (await today())?.ended ?? 0
    const day = context.zone.day(clock.now())
    clock.advance(DAY_MS)
    await repairAllCounters(context, never)
    const repaired = (await context.collections.days.findOne({ _id: `shop/${day}` }))?.ended ?? 0
    return [atOnce, repaired]
  }

  test('one that is refunded while it runs has ended', async () => {
    const subscriptions = await sold()
    await subscriptions.refund('R-1')
    expect(await ended(subscriptions)).toEqual([1, 1])
  })

  test('one that had expired before ended then, not with its refund', async () => {
    const half = await sold()
    half.clock.advance(31 * DAY_MS)
    await expireLapsed(half.context, never)
    const at = (await half.stored(half.first._id)).ended_at
    half.clock.advance(2 * DAY_MS)
    await half.refund('R-1')
    expect(await half.stored(half.first._id)).toMatchObject({ status: 4, ended_at: at })
    expect(await ended(half)).toEqual([0, 0])
  })

  test('an unpaid order never began, so it does not end', async () => {
    const half = await sold()
    const user = await half.giveUser('shop')
    const order = { appKey: 'shop', userId: user._id, plan: half.plan, method: 'alipay', outTradeNo: 'T-1' }
    const { subscription } = await openOrder(half.context, systemActor, { ...order, autoRenew: false })
    half.clock.advance(DAY_MS + 1)
    expect(await closeStaleOrders(half.context)).toBe(1)
    expect(await half.stored(subscription._id)).toMatchObject({ status: 3 })
    expect(await half.stored(subscription._id)).not.toHaveProperty('ended_at')
    expect(await ended(half)).toEqual([0, 0])
  })
})
