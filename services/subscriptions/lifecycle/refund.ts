/** Refunds: full ones, which end the access, and partial ones. */
import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { refund, STATUS } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { PaymentDoc, SubscriptionDoc } from '../store/documents.ts'
import { periodOf, type SubscriptionChange, stepped, writeChange } from './change-subscription.ts'
import { addRefunded, findPayment, findPaymentById, findRefund, lastPayment } from './store/payments.ts'
import { findSubscription } from './store/subscriptions.ts'

/** One refund. */
export interface RefundRequest {
  appKey: string
  subscriptionId: number
  /** The channel's number of the refund; a repeat returns the same result. */
  refundId: string
  /** Default: the part that is not refunded yet. */
  amountCents?: number | undefined
  /** Instead of an amount: the channel's sum of all refunds of the payment so far, including booked ones. */
  totalCents?: number | undefined
  /** Ends the access although the refund is partial. */
  revoke?: boolean | undefined
  /** The refunded payment; default: the last one. */
  payment?: PaymentDoc | undefined
  /** Reported by the channel: the money is returned already, so it is booked for an ended subscription as well. */
  byChannel?: true
  /** Version of the subscription that the caller saw. */
  version?: number | undefined
  reason?: string | undefined
}

/**
 * Books a refund. A full refund of the last payment ends the subscription (status 4); a partial one, or one of an older
 * payment, keeps the access unless `revoke` is set. Throws `subscription_not_found`, `version_conflict`,
 * `transition_refused`, `payment_taken` (the number belongs to another subscription) and `amount_mismatch` (more than
 * was paid).
 */
export async function refundSubscription(
  context: Subscriptions,
  actor: Actor,
  request: RefundRequest,
): Promise<{ subscription: SubscriptionDoc; repeated: boolean }> {
  return writeAsRead(async () => {
    const before = await findSubscription(context.collections, request.appKey, request.subscriptionId)
    if (!before) throw new ProblemError('subscription_not_found')
    if (await findRefund(context.collections, before._id, request.refundId, request.payment?.method))
      return { subscription: before, repeated: true }
    if (request.version !== undefined && request.version !== before.version) throw new ProblemError('version_conflict')
    const change = await planRefund(context, before, request)
    if (!change) return { subscription: before, repeated: true }
    const subscription = await writeChange(context, actor, change)
    return subscription && { subscription, repeated: false }
  })
}

async function planRefund(
  context: Subscriptions,
  before: SubscriptionDoc,
  request: RefundRequest,
): Promise<SubscriptionChange | undefined> {
  const now = context.clock.now()
  const last = await lastPayment(context.collections, before._id)
  // Read again: another refund of it may have been booked since the caller read it.
  const payment = request.payment ? await findPaymentById(context.collections, request.payment._id) : last
  if (!payment) throw new ProblemError('transition_refused', sentence('detail.nothing_paid'))
  const left = payment.amount_cents - payment.refunded_cents
  if (isAlreadyRefunded(request, before, payment)) return undefined
  const amount =
    request.totalCents === undefined ? (request.amountCents ?? left) : request.totalCents - payment.refunded_cents
  if (request.totalCents !== undefined && amount <= 0) return undefined
  if (amount > left) throw new ProblemError('amount_mismatch')
  const key = await keyOf(context, payment, request)
  const ends = request.revoke === true || (amount === left && payment._id === last?._id)
  const bookOnly = !ends || (request.byChannel && !before.current)
  const period = bookOnly ? before : periodOf(refund(before, secondsOf(now)))
  const ended = before.status === STATUS.active && ends
  return {
    action: 'subscription.refund',
    before,
    after: stepped(before, period, now),
    reason: request.reason,
    payment: refundRow(before, payment, {
      _id: await context.ids.next('payment'),
      key,
      amount,
      now,
      id: request.refundId,
    }),
    also: async session => {
      if (!(await addRefunded(context.collections, payment, amount, session))) throw new ProblemError('amount_mismatch')
    },
    day: { refunds: 1, revenue_cents: -amount, ...(ended ? { ended: 1 } : {}) },
  }
}

/** True when a channel reports a refund that the app has already booked in full under its own number. */
function isAlreadyRefunded(
  { byChannel }: RefundRequest,
  { current }: SubscriptionDoc,
  { amount_cents, refunded_cents }: PaymentDoc,
): boolean {
  return byChannel === true && amount_cents === refunded_cents && (amount_cents > 0 || !current)
}

/** By the payment's own method: the subscription may have been renewed with another one since. */
async function keyOf(
  context: Subscriptions,
  payment: PaymentDoc,
  { appKey, refundId }: RefundRequest,
): Promise<string> {
  const key = `${appKey}/refund/${payment.method}/${refundId}`
  const taken = await findPayment(context.collections, { payment_key: key })
  if (taken && taken.subscription_id !== payment.subscription_id) throw new ProblemError('payment_taken')
  return key
}

function refundRow(
  before: SubscriptionDoc,
  payment: PaymentDoc,
  { _id, key, amount, now, id }: { _id: number; key: string; amount: number; now: Date; id: string },
): PaymentDoc {
  return {
    _id,
    app_key: before.app_key,
    subscription_id: before._id,
    user_id: before.user_id,
    plan_id: before.plan_id,
    kind: 'refund',
    method: payment.method,
    payment_key: key,
    payment_id: id,
    amount_cents: -amount,
    paid_at: now,
    refunded_cents: 0,
    new_period: 'none',
    created_at: now,
  }
}
