/** The ledger of payments, refunds and granted periods, and the orders that wait for their payment. */
import type { Session } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { OrderDoc, PaymentDoc } from '../../store/documents.ts'

/** The row of a payment or of a client's own reference. */
export async function findPayment(
  c: Collections,
  keys: { payment_key?: string | undefined; client_key?: string | undefined },
): Promise<PaymentDoc | undefined> {
  const branches = [
    ...(keys.payment_key ? [{ payment_key: keys.payment_key }] : []),
    ...(keys.client_key ? [{ client_key: keys.client_key }] : []),
  ]
  if (branches.length === 0) return undefined
  return (await c.payments.findOne({ $or: branches })) ?? undefined
}

/** The row with this number. */
export async function findPaymentById(c: Collections, id: number): Promise<PaymentDoc | undefined> {
  return (await c.payments.findOne({ _id: id })) ?? undefined
}

/** The last payment of a subscription: by time, for the numbers of several processes are not in order. */
export async function lastPayment(c: Collections, subscriptionId: number): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'payment' as const }
  return (await c.payments.findOne(query, { sort: { created_at: -1, _id: -1 } })) ?? undefined
}

/** The payment of a subscription with this number, by whatever method. */
export async function findPaymentOf(
  c: Collections,
  subscriptionId: number,
  paymentId: string,
): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'payment' as const, payment_id: paymentId }
  return (await c.payments.findOne(query)) ?? undefined
}

/** True when a user ever had a period of a plan, paid or granted, be it over or taken back. */
export async function hadPeriod(
  c: Collections,
  { appKey, userId, planId }: { appKey: string; userId: number; planId: number },
): Promise<boolean> {
  const match = { app_key: appKey, user_id: userId, plan_id: planId }
  const records = await c.subscriptions.find(match, { projection: { _id: 1 } }).toArray()
  const rows = { subscription_id: { $in: records.map(({ _id }) => _id) }, kind: 'payment' as const }
  return (await c.payments.countDocuments(rows, { limit: 1 })) > 0
}

/** The refund of a subscription with this number of the channel; of any channel without a method. */
export async function findRefund(
  c: Collections,
  subscriptionId: number,
  refundId: string,
  method?: string,
): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'refund' as const, payment_id: refundId }
  return (await c.payments.findOne(method === undefined ? query : { ...query, method })) ?? undefined
}

/** Adds a row. Throws the duplicate-key error when its payment or reference is there already. */
export async function insertPayment(c: Collections, payment: PaymentDoc, session: Session): Promise<void> {
  await c.payments.insertOne(payment, { session })
}

/** Adds to the refunded sum of a payment, never beyond what was paid; false when it does not fit. */
export async function addRefunded(
  c: Collections,
  { _id, amount_cents }: PaymentDoc,
  cents: number,
  session: Session,
): Promise<boolean> {
  const result = await c.payments.updateOne(
    { _id, refunded_cents: { $lte: amount_cents - cents } },
    { $inc: { refunded_cents: cents } },
    { session },
  )
  return result.matchedCount === 1
}

/** The order with this number. */
export async function findOrder(c: Collections, appKey: string, outTradeNo: string): Promise<OrderDoc | undefined> {
  return (await c.orders.findOne({ _id: `${appKey}/${outTradeNo}` })) ?? undefined
}

/** The open order of a user for a plan. */
export async function findOpenOrder(c: Collections, userId: number, planId: number): Promise<OrderDoc | undefined> {
  return (await c.orders.findOne({ user_id: userId, plan_id: planId, status: 'open' })) ?? undefined
}

/** Stores an order. Throws the duplicate-key error when there is an open one, or its number is taken. */
export async function insertOrder(c: Collections, order: OrderDoc, session: Session): Promise<void> {
  await c.orders.insertOne(order, { session })
}

/** Moves an order to its final state. One that is paid stays so; money for a closed one makes it paid. */
export async function closeOrder(
  c: Collections,
  id: string,
  status: 'paid' | 'closed',
  session?: Session,
): Promise<void> {
  const before = status === 'closed' ? { status: 'open' as const } : {}
  await c.orders.updateOne({ _id: id, ...before }, { $set: { status } }, session ? { session } : {})
}

/** Open orders made before a time. */
export function staleOrders(c: Collections, before: Date, limit: number): Promise<OrderDoc[]> {
  return c.orders
    .find({ status: 'open', created_at: { $lt: before } })
    .limit(limit)
    .toArray()
}
