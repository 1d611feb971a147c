/** Orders: the expected payment, opened before the payment, settled by it, and closed after a day without it. */
import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { snapshotOf } from '../catalogue/rules/plan.ts'
import { type Actor, type Subscriptions, systemActor } from '../context.ts'
import { changePeriod, writeChange } from '../lifecycle/change-subscription.ts'
import { type Purchase, type Subscribed, subscribe } from '../lifecycle/start-or-renew.ts'
import { findCurrent, findSubscription } from '../lifecycle/store/subscriptions.ts'
import { cancel, pending, STATUS } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { OrderDoc, SubscriptionDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import { closeOrder, findOpenOrder, findOrder, insertOrder, staleOrders } from './store/orders.ts'

/** What an app is about to sell. */
export interface OrderRequest {
  appKey: string
  userId: number
  plan: PlanDoc
  method: string
  /** The app's number of the payment; unique per app. */
  outTradeNo: string
  autoRenew: boolean
}

/** An order and its subscription record. */
export interface Ordered {
  order: OrderDoc
  subscription: SubscriptionDoc
  repeated: boolean
}

/** Time to pay an order. */
const OPEN_MS = DAY_MS
/**
 * Opens an order. A user has one per plan, and a repeat returns it; an order for another channel, or after the record
 * was cancelled, replaces it. A payment of the old order still counts. Throws `transition_refused` for a plan that is
 * not for sale to a user who does not hold it, `payment_taken` when the number belongs to another order.
 */
export async function openOrder(context: Subscriptions, actor: Actor, request: OrderRequest): Promise<Ordered> {
  await assertForSale(context, request)
  return writeAsRead(async () => {
    const open = await findOpenOrder(context.collections, request.userId, request.plan._id)
    if (open) {
      const subscription = await recordOf(context, open)
      if (subscription.current && open.method === request.method) return { order: open, subscription, repeated: true }
    }
    if (await findOrder(context.collections, request.appKey, request.outTradeNo))
      throw new ProblemError('payment_taken')
    const ordered = await store(context, actor, request, open)
    return ordered && { ...ordered, repeated: false }
  })
}

/** Holders of a plan may renew it after its sale has ended. */
async function assertForSale(context: Subscriptions, { plan, userId }: OrderRequest): Promise<void> {
  if (plan.status === '1') return
  const held = await findCurrent(context.collections, userId, plan._id)
  if (!held || held.status === STATUS.pending)
    throw new ProblemError('transition_refused', sentence('detail.plan_not_for_sale'))
}

async function recordOf(context: Subscriptions, order: OrderDoc): Promise<SubscriptionDoc> {
  const subscription = await findSubscription(context.collections, order.app_key, order.subscription_id)
  if (!subscription) throw new ProblemError('subscription_not_found')
  return subscription
}

async function store(
  context: Subscriptions,
  actor: Actor,
  request: OrderRequest,
  replaced: OrderDoc | undefined,
): Promise<Omit<Ordered, 'repeated'> | undefined> {
  const now = context.clock.now()
  const current = await findCurrent(context.collections, request.userId, request.plan._id)
  const subscription = current ?? (await waiting(context, request, now))
  const order: OrderDoc = {
    _id: `${request.appKey}/${request.outTradeNo}`,
    app_key: request.appKey,
    out_trade_no: request.outTradeNo,
    user_id: request.userId,
    plan_id: request.plan._id,
    subscription_id: subscription._id,
    method: request.method,
    amount_cents: request.plan.price_cents,
    auto_renew: request.autoRenew,
    status: 'open',
    created_at: now,
  }
  const also = async (session: Session) => {
    if (replaced) await closeOrder(context.collections, replaced._id, 'closed', session)
    await insertOrder(context.collections, order, session)
  }
  if (current) return (await storeAlone(context, also)) ? { order, subscription } : undefined
  const written = await writeChange(context, actor, { action: 'order.open', after: subscription, also })
  return written ? { order, subscription: written } : undefined
}

/** An order for an existing record: a renewal. */
async function storeAlone(context: Subscriptions, store: (session: Session) => Promise<void>): Promise<boolean> {
  try {
    await context.mongo.transaction(store)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

async function waiting(context: Subscriptions, request: OrderRequest, now: Date): Promise<SubscriptionDoc> {
  const plan = snapshotOf(request.plan)
  const seconds = secondsOf(now)
  return {
    _id: await context.ids.next('subscription'),
    app_key: request.appKey,
    user_id: request.userId,
    plan_id: plan.plan_id,
    plan,
    current: true,
    payment_method: request.method,
    payment_id: '',
    paid_cents: 0,
    ...pending(plan, seconds),
    since: seconds,
    version: 1,
    created_at: now,
    updated_at: now,
  }
}

/** The open order that a payment of this method settles. Throws `amount_mismatch` when the order has another amount. */
export async function orderFor(
  context: Subscriptions,
  { userId, plan, method, amountCents }: Pick<Purchase, 'userId' | 'plan' | 'method' | 'amountCents'>,
): Promise<OrderDoc | undefined> {
  const order = await findOpenOrder(context.collections, userId, plan._id)
  if (order?.method !== method) return undefined
  if (order.amount_cents !== amountCents) throw new ProblemError('amount_mismatch')
  return order
}

/** A payment, and the order that it settles. */
export type OrderPayment = Omit<Purchase, 'also'> & { order?: OrderDoc | undefined }

/** Books a payment and marks its order as paid, in one transaction. Results and errors are those of {@link subscribe}. */
export function bookPayment(
  context: Subscriptions,
  actor: Actor,
  { order, ...purchase }: OrderPayment,
): Promise<Subscribed> {
  if (!order) return subscribe(context, actor, purchase)
  const also = (session: Session) => closeOrder(context.collections, order._id, 'paid', session)
  return subscribe(context, actor, { ...purchase, also })
}

/** Closes orders that were not paid within a day, and the records that waited for them; returns how many. */
export async function closeStaleOrders(context: Subscriptions): Promise<number> {
  const stale = await staleOrders(context.collections, new Date(context.clock.now().getTime() - OPEN_MS), 1000)
  for (const order of stale) {
    const subscription = await findSubscription(context.collections, order.app_key, order.subscription_id)
    if (subscription?.status === STATUS.pending) {
      const target = { appKey: order.app_key, id: order.subscription_id, version: subscription.version }
      const closed = await changePeriod(context, systemActor, target, 'order.close', (period, _, now) =>
        cancel(period, 'now', now),
      ).catch(ignoreConflict)
      if (!closed) continue
    }
    await closeOrder(context.collections, order._id, 'closed')
  }
  return stale.length
}

/** Paid in parallel: the next run checks again. */
function ignoreConflict(error: unknown): undefined {
  if (error instanceof ProblemError && (error.code === 'version_conflict' || error.code === 'transition_refused'))
    return undefined
  throw error
}
