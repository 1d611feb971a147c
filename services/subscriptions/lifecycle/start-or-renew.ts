/** Subscriptions are created and prolonged: by payment, by grant, from a device. */
import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { snapshotOf } from '../catalogue/rules/plan.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { begin, renew, STATUS } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { PaymentDoc, SubscriptionDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import { periodOf, type SubscriptionChange, stepped, writeChange } from './change-subscription.ts'
import { findPayment, hadPeriod } from './store/payments.ts'
import { findCurrent, findSubscription } from './store/subscriptions.ts'

/** Payment id of records without a payment at a channel. */
export const NO_PAYMENT_ID = '0'.repeat(28)

/** Methods without a payment of their own: their number has no meaning, and only `client_ref` identifies a repeat. */
export const UNPAID: ReadonlySet<string> = new Set(['manual', 'local_sync', 'trial'])

/** A payment or a grant for one period of a plan. */
export interface Purchase {
  appKey: string
  userId: number
  plan: PlanDoc
  method: string
  /** Unique per app and method on real channels. */
  paymentId: string
  amountCents: number
  paidAt: Date
  autoRenew?: boolean | undefined
  /** The caller's own reference: a repeat returns the same result. */
  clientRef?: string | undefined
  channelRef?: string | undefined
  /** Overrides the plan's duration. */
  days?: number | undefined
  /** More writes of the same transaction. */
  also?: SubscriptionChange['also']
}

/** The result of a purchase. */
export interface Subscribed {
  subscription: SubscriptionDoc
  /** True when the same payment or reference was stored before; nothing was stored again. */
  repeated: boolean
}

/**
 * Starts or prolongs the user's subscription of the plan. Repeating a payment returns the same result and grants no
 * second period. Throws `payment_taken` when the payment belongs to another user or plan, or the reference to another
 * payment; `transition_refused` when the subscription is permanent already, or a trial would follow a period.
 */
export async function subscribe(context: Subscriptions, actor: Actor, purchase: Purchase): Promise<Subscribed> {
  const keys = keysOf(purchase)
  return writeAsRead(async () => {
    const known = await findPayment(context.collections, keys)
    if (known) return { subscription: await paidBefore(context, purchase, known), repeated: true }
    const change = await planChange(context, purchase, keys)
    const subscription = await writeChange(context, actor, change)
    return subscription && { subscription, repeated: false }
  })
}

type Keys = Pick<PaymentDoc, 'payment_key' | 'client_key'>

function keysOf({ appKey, method, paymentId, clientRef }: Purchase): Keys {
  return {
    ...(UNPAID.has(method) ? {} : { payment_key: `${appKey}/${method}/${paymentId}` }),
    ...(clientRef === undefined ? {} : { client_key: `${appKey}/${clientRef}` }),
  }
}

async function paidBefore(
  context: Subscriptions,
  { appKey, userId, plan, method, paymentId, days }: Purchase,
  row: PaymentDoc,
): Promise<SubscriptionDoc> {
  const subscription = await findSubscription(context.collections, appKey, row.subscription_id)
  if (!subscription || row.user_id !== userId || row.plan_id !== plan._id) throw new ProblemError('payment_taken')
  // Another payment under a used reference must not count as the first one.
  if (row.method !== method || row.payment_id !== paymentId) throw new ProblemError('payment_taken')
  if (row.days !== undefined && row.days !== (days ?? null))
    throw new ProblemError('payment_taken', sentence('detail.client_ref_used'))
  return subscription
}

async function planChange(context: Subscriptions, purchase: Purchase, keys: Keys): Promise<SubscriptionChange> {
  const now = context.clock.now()
  const before = await findCurrent(context.collections, purchase.userId, purchase.plan._id)
  const { appKey, userId, plan } = purchase
  if (purchase.method === 'trial' && (await hadPeriod(context.collections, { appKey, userId, planId: plan._id })))
    throw new ProblemError('transition_refused', sentence('detail.trial_first'))
  const after = before ? prolonged(before, purchase, now) : await started(context, purchase, now)
  const first = !before || before.status === STATUS.pending
  const { also, amountCents } = purchase
  return {
    action: first ? 'subscription.create' : 'subscription.renew',
    before,
    after,
    payment: {
      _id: await context.ids.next('payment'),
      app_key: after.app_key,
      subscription_id: after._id,
      user_id: after.user_id,
      plan_id: after.plan_id,
      kind: 'payment',
      method: purchase.method,
      ...keys,
      payment_id: purchase.paymentId,
      amount_cents: amountCents,
      paid_at: purchase.paidAt,
      refunded_cents: 0,
      new_period: first ? 'first' : 'renewal',
      ...(purchase.method === 'manual' ? { days: purchase.days ?? null } : {}),
      created_at: now,
    },
    ...(also ? { also } : {}),
    day: { ...(first ? { new_subs: 1 } : { renewals: 1 }), revenue_cents: amountCents },
  }
}

async function started(context: Subscriptions, purchase: Purchase, now: Date): Promise<SubscriptionDoc> {
  const plan = snapshotOf(purchase.plan)
  const start = secondsOf(now)
  return {
    _id: await context.ids.next('subscription'),
    app_key: purchase.appKey,
    user_id: purchase.userId,
    plan_id: purchase.plan._id,
    plan,
    current: true,
    ...paidBy(purchase),
    ...begin(plan, start, renewing(purchase, false), purchase.days),
    since: start,
    version: 1,
    created_at: now,
    updated_at: now,
  }
}

function prolonged(before: SubscriptionDoc, purchase: Purchase, now: Date): SubscriptionDoc {
  const sold = snapshotOf(purchase.plan)
  const plan = purchase.days === undefined ? sold : { ...sold, duration: purchase.days }
  const seconds = secondsOf(now)
  const period = periodOf(renew(before, plan, seconds, renewing(purchase, before.auto_renew)))
  const since = before.status === STATUS.active ? before.since : seconds
  return stepped(before, period, now, { ...paidBy(purchase), plan: sold, since })
}

function renewing({ plan, autoRenew }: Purchase, otherwise: boolean): boolean {
  return plan.auto_renew_allowed && (autoRenew ?? otherwise)
}

function paidBy({ method, paymentId, amountCents, channelRef }: Purchase) {
  return {
    payment_method: method,
    payment_id: paymentId,
    paid_cents: amountCents,
    ...(channelRef === undefined ? {} : { channel_ref: channelRef }),
    ...(method === 'trial' ? { trial: true as const } : {}),
  }
}
