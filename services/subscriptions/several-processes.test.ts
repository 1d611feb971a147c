/** Each process allocates numbers in blocks, so the later record often has the lower number: the order is by time. */
import { describe, expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../test/support/subscriptions/subscriptions-module.ts'
import { listAudit } from './audit/store/audit-log.ts'
import { updatePlan } from './catalogue/manage-plans.ts'
import { openSubscriptions, type Subscriptions, systemActor } from './context.ts'
import { refundSubscription } from './lifecycle/refund.ts'
import { type Purchase, subscribe } from './lifecycle/start-or-renew.ts'
import { findPaymentOf, lastPayment } from './lifecycle/store/payments.ts'
import { findByChannelRef } from './lifecycle/store/subscriptions.ts'
import { pageOf } from './rules/paging.ts'
import { STATUS } from './rules/subscription-lifecycle.ts'

const SECOND = 1_000

/** Two processes on one database; the first has the lower numbers, whichever is used first. */
async function twoProcesses() {
  const subscriptions = await openSubscriptionsModule()
  const { context: low, foundation, clock, giveApp, giveUser, givePlan } = subscriptions
  const high = openSubscriptions(foundation)
  for (const process of [low, high])
    for (const kind of ['payment', 'subscription', 'audit'] as const) await process.ids.next(kind)
  await giveApp('shop')
  const [user, plan] = [await giveUser('shop'), await givePlan('shop')]
  const pay = (context: Subscriptions, paymentId: string, more: Partial<Purchase> = {}) => {
    clock.advance(SECOND)
    const price = { amountCents: plan.price_cents, paidAt: clock.now() }
    return subscribe(context, systemActor, {
      ...{ appKey: 'shop', userId: user._id, plan, method: 'alipay', paymentId },
      ...{ ...price, ...more },
    })
  }
  return { ...subscriptions, low, high, user, plan, pay }
}

describe('a refund without a payment is one of the last payment, whichever process booked it', () => {
  test.each<['low' | 'high', 'low' | 'high']>([
    ['low', 'low'],
    ['low', 'high'],
    ['high', 'low'],
    ['high', 'high'],
  ])('%s numbers, then %s ones', async (first, second) => {
    const { pay, clock, ...processes } = await twoProcesses()
    const { subscription } = await pay(processes[first], 'first', { amountCents: 900 })
    await pay(processes[second], 'second', { amountCents: 1900 })
    expect(await lastPayment(processes.low.collections, subscription._id)).toMatchObject({ payment_id: 'second' })
    clock.advance(SECOND)
    const request = { appKey: 'shop', subscriptionId: subscription._id, refundId: 'back' }
    const { subscription: after } = await refundSubscription(processes.low, systemActor, request)
    expect(after.status).toBe(STATUS.refunded)
    const refunded = async (id: string) =>
      (await findPaymentOf(processes.low.collections, subscription._id, id))?.refunded_cents
    expect([await refunded('first'), await refunded('second')]).toEqual([0, 1900])
  })
})

test('of two payments in the same moment the one with the higher number is the last', async () => {
  const { low, high, pay, clock } = await twoProcesses()
  const { subscription } = await pay(high, 'high')
  clock.advance(-SECOND)
  await pay(low, 'low')
  expect(await lastPayment(low.collections, subscription._id)).toMatchObject({ payment_id: 'high' })
})

test.each<['low' | 'high', 'low' | 'high']>([
  ['low', 'high'],
  ['high', 'low'],
])('the token of a channel names the record that was made last: %s numbers, then %s ones', async (first, second) => {
  const { pay, clock, ...processes } = await twoProcesses()
  const old = await pay(processes[first], 'first', { channelRef: 'token' })
  await refundSubscription(processes.low, systemActor, {
    ...{ appKey: 'shop', subscriptionId: old.subscription._id, refundId: 'back' },
  })
  const { subscription } = await pay(processes[second], 'second', { channelRef: 'token' })
  expect(subscription._id).not.toBe(old.subscription._id)
  expect(await findByChannelRef(processes.low.collections, 'shop', 'token')).toMatchObject({ _id: subscription._id })
})

describe('the audit log', () => {
  async function edited() {
    const { low, high, plan, clock } = await twoProcesses()
    const at = { appKey: 'shop', id: plan._id }
    for (let edit = 1; edit <= 9; edit++) {
      clock.advance(SECOND)
      await updatePlan(edit % 3 === 0 ? high : low, systemActor, at, { fields: { sort_order: edit } })
    }
    return {
      collections: low.collections,
      target: { targetKind: 'plan', targetId: String(plan._id), action: 'plan.update' },
    }
  }
  const newestFirst = [9, 8, 7, 6, 5, 4, 3, 2, 1]
  const orderOf = (items: { changes: Record<string, unknown> }[]) =>
    items.map(({ changes }) => (changes.sort_order as [number, number])[1])

  test('shows what was done last first, whichever process did it', async () => {
    const { collections, target } = await edited()
    const { items, total } = await listAudit(collections, target, pageOf({}))
    expect(orderOf(items)).toEqual(newestFirst)
    expect(total).toBe(9)
    const everything = await listAudit(collections, {}, pageOf({ pageSize: 9 }))
    expect(orderOf(everything.items)).toEqual(newestFirst)
  })

  test.each([1, 2, 4, 9])('returns each entry once by position, %i on a page', async pageSize => {
    const { collections, target } = await edited()
    const seen = []
    let cursor: NonNullable<Parameters<typeof pageOf>[0]['cursor']> | undefined
    do {
      const { items, next } = await listAudit(collections, target, pageOf({ pageSize, cursor }))
      seen.push(...orderOf(items))
      cursor = next
    } while (cursor)
    expect(seen).toEqual(newestFirst)
  })

  test('returns entries of the same time once, in the order of their numbers', async () => {
    const { low, plan } = await twoProcesses()
    const at = { appKey: 'shop', id: plan._id }
    for (let edit = 1; edit <= 4; edit++) await updatePlan(low, systemActor, at, { fields: { sort_order: edit } })
    const seen = []
    let cursor: NonNullable<Parameters<typeof pageOf>[0]['cursor']> | undefined
    do {
      const { items, next } = await listAudit(
        low.collections,
        { action: 'plan.update' },
        pageOf({ pageSize: 3, cursor }),
      )
      seen.push(...orderOf(items))
      cursor = next
    } while (cursor)
    expect(seen).toEqual([4, 3, 2, 1])
  })
})
