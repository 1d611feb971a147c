/** Orders: what a payment is expected to bring, opened before the money moves and closed after a day without it. */
import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { snapshotOf } from '../catalogue/rules/plan.ts'
import { type Actor, type Subscriptions, systemActor } from '../context.ts'
import { changePeriod, writeChange } from '../lifecycle/change-subscription.ts'
import { findCurrent, findSubscription } from '../lifecycle/store/subscriptions.ts'
import { cancel, pending, STATUS } from '../rules/period.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { OrderDoc, PlanDoc, SubscriptionDoc } from '../store/documents.ts'
import { closeOrder, findOpenOrder, findOrder, insertOrder, staleOrders } from './store/payments-and-orders.ts'

/** What an app wants to sell. */
export interface OrderRequest {
  appKey: string
  userId: number
  plan: PlanDoc
  method: string
  /** The app's number of the payment; unique per app. */
  outTradeNo: string
  autoRenew: boolean
}

/** An order and the record that it is for. */
export interface Ordered {
  order: OrderDoc
  subscription: SubscriptionDoc
  repeated: boolean
}

/** An order waits so long for its payment. */
const OPEN_MS = DAY_MS
/**
 * Opens an order; a user has one per plan, and a repeat returns it. One for another channel takes its place, and so does
 * any after the record was cancelled; money for the old one still counts. Throws `transition_refused` for a plan that is
 * not for sale to a user who does not hold it, `payment_taken` when the number belongs to another order.
 */
export async function openOrder(s: Subscriptions, actor: Actor, request: OrderRequest): Promise<Ordered> {
  await assertForSale(s, request)
  return writeAsRead(async () => {
    const open = await findOpenOrder(s.c, request.userId, request.plan._id)
    if (open) {
      const subscription = await recordOf(s, open)
      if (subscription.current && open.method === request.method) return { order: open, subscription, repeated: true }
    }
    if (await findOrder(s.c, request.appKey, request.outTradeNo)) throw new ProblemError('payment_taken')
    const ordered = await store(s, actor, request, open)
    return ordered && { ...ordered, repeated: false }
  })
}

/** Who holds a plan may renew it after its sale has ended. */
async function assertForSale(s: Subscriptions, { plan, userId }: OrderRequest): Promise<void> {
  if (plan.status === '1') return
  const held = await findCurrent(s.c, userId, plan._id)
  if (!held || held.status === STATUS.pending) throw new ProblemError('transition_refused', 'The plan is not for sale.')
}

async function recordOf(s: Subscriptions, order: OrderDoc): Promise<SubscriptionDoc> {
  const subscription = await findSubscription(s.c, order.app_key, order.subscription_id)
  if (!subscription) throw new ProblemError('subscription_not_found')
  return subscription
}

async function store(
  s: Subscriptions,
  actor: Actor,
  request: OrderRequest,
  replaced: OrderDoc | undefined,
): Promise<Omit<Ordered, 'repeated'> | undefined> {
  const now = s.clock.now()
  const current = await findCurrent(s.c, request.userId, request.plan._id)
  const subscription = current ?? (await waiting(s, request, now))
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
    if (replaced) await closeOrder(s.c, replaced._id, 'closed', session)
    await insertOrder(s.c, order, session)
  }
  if (current) return (await storeAlone(s, also)) ? { order, subscription } : undefined
  const written = await writeChange(s, actor, { action: 'order.open', after: subscription, also })
  return written ? { order, subscription: written } : undefined
}

/** An order for a record that exists: a renewal. */
async function storeAlone(s: Subscriptions, store: (session: Session) => Promise<void>): Promise<boolean> {
  try {
    await s.mongo.transaction(store)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

async function waiting(s: Subscriptions, request: OrderRequest, now: Date): Promise<SubscriptionDoc> {
  const plan = snapshotOf(request.plan)
  const seconds = secondsOf(now)
  return {
    _id: await s.ids.next('subscription'),
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

/** Closes orders that waited a day for their payment, and the records that were waiting with them; gives their number. */
export async function closeStaleOrders(s: Subscriptions): Promise<number> {
  const stale = await staleOrders(s.c, new Date(s.clock.now().getTime() - OPEN_MS), 1000)
  for (const order of stale) {
    const subscription = await findSubscription(s.c, order.app_key, order.subscription_id)
    if (subscription?.status === STATUS.pending) {
      const target = { appKey: order.app_key, id: order.subscription_id, version: subscription.version }
      const closed = await changePeriod(s, systemActor, target, 'order.close', (period, _, now) =>
        cancel(period, 'now', now),
      ).catch(ignoreConflict)
      if (!closed) continue
    }
    await closeOrder(s.c, order._id, 'closed')
  }
  return stale.length
}

/** Somebody paid in this moment: the next run looks again. */
function ignoreConflict(error: unknown): undefined {
  if (error instanceof ProblemError && (error.code === 'version_conflict' || error.code === 'transition_refused'))
    return undefined
  throw error
}
