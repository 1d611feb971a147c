/** Payments, refunds and granted periods of subscriptions in the database. */
import type { Session } from '../../../platform/database/mongo.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { PaymentDoc } from '../../store/documents.ts'
import { CHEAP_COUNT } from '../../store/list-totals.ts'

/** The row of a payment or of a client's reference. */
export async function findPayment(
  collections: Collections,
  keys: { payment_key?: string | undefined; client_key?: string | undefined },
): Promise<PaymentDoc | undefined> {
  const branches = [
    ...(keys.payment_key ? [{ payment_key: keys.payment_key }] : []),
    ...(keys.client_key ? [{ client_key: keys.client_key }] : []),
  ]
  if (branches.length === 0) return undefined
  return (await collections.payments.findOne({ $or: branches })) ?? undefined
}

/** The row with this number. */
export async function findPaymentById(collections: Collections, id: number): Promise<PaymentDoc | undefined> {
  return (await collections.payments.findOne({ _id: id })) ?? undefined
}

/** The last payment of a subscription: by time, because numbers of several processes are not in order. */
export async function lastPayment(collections: Collections, subscriptionId: number): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'payment' as const }
  return (await collections.payments.findOne(query, { sort: { created_at: -1, _id: -1 } })) ?? undefined
}

/** Most subscriptions of a user whose payments are listed together. */
const MAX_SUBSCRIPTIONS = 1_000

/** A page of the payments, refunds and granted periods of a user, newest first. */
export async function listPaymentsOfUser(
  collections: Collections,
  { appKey, userId, page }: { appKey: string; userId: number; page: Page },
): Promise<Found<PaymentDoc>> {
  const own = await collections.subscriptions
    .find({ app_key: appKey, user_id: userId }, { projection: { _id: 1 } })
    .limit(MAX_SUBSCRIPTIONS)
    .toArray()
  const query = { subscription_id: { $in: own.map(({ _id }) => _id) } }
  const [items, total] = await Promise.all([
    collections.payments.find(query).sort({ created_at: -1, _id: -1 }).skip(page.offset).limit(page.size).toArray(),
    collections.payments.countDocuments(query, { limit: CHEAP_COUNT + 1 }),
  ])
  return { items, total, ...(total > CHEAP_COUNT ? { capped: true } : {}) }
}

/** The payment of a subscription with this number, by any method. */
export async function findPaymentOf(
  collections: Collections,
  subscriptionId: number,
  paymentId: string,
): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'payment' as const, payment_id: paymentId }
  return (await collections.payments.findOne(query)) ?? undefined
}

/** True when a user ever had a period of a plan, paid or granted, including ended and refunded ones. */
export async function hadPeriod(
  collections: Collections,
  { appKey, userId, planId }: { appKey: string; userId: number; planId: number },
): Promise<boolean> {
  const match = { app_key: appKey, user_id: userId, plan_id: planId }
  const records = await collections.subscriptions.find(match, { projection: { _id: 1 } }).toArray()
  const rows = { subscription_id: { $in: records.map(({ _id }) => _id) }, kind: 'payment' as const }
  return (await collections.payments.countDocuments(rows, { limit: 1 })) > 0
}

/** The refund of a subscription with this number of the channel; without a method, of any channel. */
export async function findRefund(
  collections: Collections,
  subscriptionId: number,
  refundId: string,
  method?: string,
): Promise<PaymentDoc | undefined> {
  const query = { subscription_id: subscriptionId, kind: 'refund' as const, payment_id: refundId }
  return (await collections.payments.findOne(method === undefined ? query : { ...query, method })) ?? undefined
}

/** Adds a row. Throws the duplicate-key error when its payment or reference exists. */
export async function insertPayment(collections: Collections, payment: PaymentDoc, session: Session): Promise<void> {
  await collections.payments.insertOne(payment, { session })
}

/** Adds to the refunded sum of a payment, never beyond the paid amount; false when it would exceed it. */
export async function addRefunded(
  collections: Collections,
  { _id, amount_cents }: PaymentDoc,
  cents: number,
  session: Session,
): Promise<boolean> {
  const result = await collections.payments.updateOne(
    { _id, refunded_cents: { $lte: amount_cents - cents } },
    { $inc: { refunded_cents: cents } },
    { session },
  )
  return result.matchedCount === 1
}
