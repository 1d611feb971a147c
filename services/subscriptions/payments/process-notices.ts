/** Applies stored notices of payment channels, each once, in any order. */

import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { refundSubscription } from '../lifecycle/refund.ts'
import { findPayment } from '../lifecycle/store/payments.ts'
import type { PaymentEventDoc } from '../store/documents.ts'
import type { Notice } from './channels/notice.ts'
import { bookPayment } from './orders.ts'
import { applyHuawei } from './process-huawei-notice.ts'
import { NotYet } from './retry-later.ts'
import { findOrder } from './store/orders.ts'
import { claimEvent, postponeEvent, settleEvent } from './store/payment-events.ts'

/** A claimed notice becomes due again after this time when its worker stops, in milliseconds. */
const CLAIM_MS = 60_000
/** Pause before a record that does not exist yet is looked up again; the notice is rejected after a day. */
const RETRY_MS = 30_000
const GIVE_UP_MS = DAY_MS

/** The result of a notice. */
type Applied = { state: 'applied' | 'ignored' | 'rejected'; reason: string }

/** Applies all due notices; returns how many. */
export async function applyNotices(context: Subscriptions, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const now = context.clock.now()
    const event = await claimEvent(context.collections, now, new Date(now.getTime() + CLAIM_MS))
    if (!event) break
    await applyOne(context, event)
    count++
  }
  return count
}

async function applyOne(context: Subscriptions, event: PaymentEventDoc): Promise<void> {
  const now = context.clock.now()
  const outcome = await tryOnce(context, event)
  context.metrics.notices.inc({ channel: event.channel, outcome: outcome === 'later' ? 'postponed' : outcome.state })
  if (outcome !== 'later') return settleEvent(context.collections, event._id, outcome.state, outcome.reason, now)
  const old = now.getTime() - event.received_at.getTime() > GIVE_UP_MS
  if (old) await settleEvent(context.collections, event._id, 'rejected', 'given up after a day', now)
  else await postponeEvent(context.collections, event._id, new Date(now.getTime() + RETRY_MS), 'not yet')
  return undefined
}

async function tryOnce(context: Subscriptions, event: PaymentEventDoc): Promise<Applied | 'later'> {
  const actor: Actor = { kind: 'channel', id: event._id, name: event.channel, requestId: '', ip: '' }
  const notice = event.notice as Notice
  try {
    if (notice.kind === 'paid') return await paid(context, actor, event, notice)
    if (notice.kind === 'refunded') return await refunded(context, actor, event, notice)
    if (notice.kind === 'changed') return await applyHuawei(context, actor, event, notice)
    return { state: 'ignored', reason: notice.reason }
  } catch (error) {
    if (error instanceof NotYet) return 'later'
    if (error instanceof ProblemError && error.code === 'version_conflict') return 'later'
    if (error instanceof ProblemError && error.code !== 'unavailable') return { state: 'rejected', reason: error.code }
    context.log.warn({ event: event._id, err: error }, 'notice not applied; it is tried again')
    return 'later'
  }
}

async function paid(
  context: Subscriptions,
  actor: Actor,
  { app_key: appKey, channel: method }: PaymentEventDoc,
  { outTradeNo, paymentId, amountCents, paidAt }: Extract<Notice, { kind: 'paid' }>,
): Promise<Applied> {
  const order = await findOrder(context.collections, appKey, outTradeNo)
  const plan = order && (await findPlan(context.collections, appKey, order.plan_id))
  if (!order || !plan) return { state: 'rejected', reason: 'order or plan gone' }
  const { repeated } = await bookPayment(context, actor, {
    appKey,
    userId: order.user_id,
    plan,
    method,
    paymentId,
    amountCents,
    paidAt: paidAt === 0 ? context.clock.now() : new Date(paidAt * 1000),
    autoRenew: order.auto_renew,
    order,
  })
  return repeated ? { state: 'ignored', reason: 'paid before' } : { state: 'applied', reason: '' }
}

async function refunded(
  context: Subscriptions,
  actor: Actor,
  { app_key: appKey, channel }: PaymentEventDoc,
  { paymentId, refundId, amountCents, cumulative }: Extract<Notice, { kind: 'refunded' }>,
): Promise<Applied> {
  const payment = await findPayment(context.collections, { payment_key: `${appKey}/${channel}/${paymentId}` })
  if (!payment) throw new NotYet('the payment has not been noticed yet')
  if (amountCents <= 0) return { state: 'ignored', reason: 'booked before' }
  const { repeated } = await refundSubscription(context, actor, {
    appKey,
    subscriptionId: payment.subscription_id,
    refundId,
    ...(cumulative ? { totalCents: amountCents } : { amountCents }),
    payment,
    byChannel: true,
  })
  return repeated ? { state: 'ignored', reason: 'booked before' } : { state: 'applied', reason: '' }
}
