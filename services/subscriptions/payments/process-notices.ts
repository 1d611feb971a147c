/** Applies stored notices of payment channels: each once, in whatever order they came. */

import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { subscribe } from '../lifecycle/start-or-renew.ts'
import type { PaymentEventDoc } from '../store/documents.ts'
import type { Notice } from './channels/notice.ts'
import { applyHuawei } from './process-huawei-notice.ts'
import { refundSubscription } from './refund.ts'
import { NotYet } from './retry-later.ts'
import { claimEvent, postponeEvent, settleEvent } from './store/payment-events.ts'
import { findOrder, findPayment } from './store/payments-and-orders.ts'

/** A claimed notice comes back after so long when its worker dies. */
const CLAIM_MS = 60_000
/** What is not there yet is looked for again after so long, and given up after a day. */
const RETRY_MS = 30_000
const GIVE_UP_MS = DAY_MS

/** What a notice came to. */
type Applied = { state: 'applied' | 'ignored' | 'rejected'; reason: string }

/** Applies every notice that is due; gives their number. */
export async function applyNotices(s: Subscriptions, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const now = s.clock.now()
    const event = await claimEvent(s.c, now, new Date(now.getTime() + CLAIM_MS))
    if (!event) break
    await applyOne(s, event)
    count++
  }
  return count
}

async function applyOne(s: Subscriptions, event: PaymentEventDoc): Promise<void> {
  const now = s.clock.now()
  const outcome = await tryOnce(s, event)
  s.metrics.notices.inc({ channel: event.channel, outcome: outcome === 'later' ? 'postponed' : outcome.state })
  if (outcome !== 'later') return settleEvent(s.c, event._id, outcome.state, outcome.reason, now)
  const old = now.getTime() - event.received_at.getTime() > GIVE_UP_MS
  if (old) await settleEvent(s.c, event._id, 'rejected', 'given up after a day', now)
  else await postponeEvent(s.c, event._id, new Date(now.getTime() + RETRY_MS), 'not yet')
  return undefined
}

async function tryOnce(s: Subscriptions, event: PaymentEventDoc): Promise<Applied | 'later'> {
  const actor: Actor = { kind: 'channel', id: event._id, name: event.channel, requestId: '', ip: '' }
  const notice = event.notice as Notice
  try {
    if (notice.kind === 'paid') return await paid(s, actor, event, notice)
    if (notice.kind === 'refunded') return await refunded(s, actor, event, notice)
    if (notice.kind === 'changed') return await applyHuawei(s, actor, event, notice)
    return { state: 'ignored', reason: notice.reason }
  } catch (error) {
    if (error instanceof NotYet) return 'later'
    if (error instanceof ProblemError && error.code === 'version_conflict') return 'later'
    if (error instanceof ProblemError && error.code !== 'unavailable') return { state: 'rejected', reason: error.code }
    s.log.warn({ event: event._id, err: error }, 'notice not applied; it is tried again')
    return 'later'
  }
}

async function paid(
  s: Subscriptions,
  actor: Actor,
  { app_key: appKey, channel: method }: PaymentEventDoc,
  { outTradeNo, paymentId, amountCents, paidAt }: Extract<Notice, { kind: 'paid' }>,
): Promise<Applied> {
  const order = await findOrder(s.c, appKey, outTradeNo)
  const plan = order && (await findPlan(s.c, appKey, order.plan_id))
  if (!order || !plan) return { state: 'rejected', reason: 'order or plan gone' }
  const { repeated } = await subscribe(s, actor, {
    appKey,
    userId: order.user_id,
    plan,
    method,
    paymentId,
    amountCents,
    paidAt: paidAt === 0 ? s.clock.now() : new Date(paidAt * 1000),
    autoRenew: order.auto_renew,
    order,
  })
  return repeated ? { state: 'ignored', reason: 'paid before' } : { state: 'applied', reason: '' }
}

async function refunded(
  s: Subscriptions,
  actor: Actor,
  { app_key: appKey, channel }: PaymentEventDoc,
  { paymentId, refundId, amountCents, cumulative }: Extract<Notice, { kind: 'refunded' }>,
): Promise<Applied> {
  const payment = await findPayment(s.c, { payment_key: `${appKey}/${channel}/${paymentId}` })
  if (!payment) throw new NotYet('the payment has not been noticed yet')
  if (amountCents <= 0) return { state: 'ignored', reason: 'booked before' }
  const { repeated } = await refundSubscription(s, actor, {
    appKey,
    subscriptionId: payment.subscription_id,
    refundId,
    ...(cumulative ? { totalCents: amountCents } : { amountCents }),
    payment,
    byChannel: true,
  })
  return repeated ? { state: 'ignored', reason: 'booked before' } : { state: 'applied', reason: '' }
}
