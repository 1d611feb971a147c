/** Orders in the database. */
import type { Session } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { OrderDoc } from '../../store/documents.ts'

/** The order with this number. */
export async function findOrder(
  collections: Collections,
  appKey: string,
  outTradeNo: string,
): Promise<OrderDoc | undefined> {
  return (await collections.orders.findOne({ _id: `${appKey}/${outTradeNo}` })) ?? undefined
}

/** The open order of a user for a plan. */
export async function findOpenOrder(
  collections: Collections,
  userId: number,
  planId: number,
): Promise<OrderDoc | undefined> {
  return (await collections.orders.findOne({ user_id: userId, plan_id: planId, status: 'open' })) ?? undefined
}

/** Stores an order. Throws the duplicate-key error when there is an open one, or its number is used. */
export async function insertOrder(collections: Collections, order: OrderDoc, session: Session): Promise<void> {
  await collections.orders.insertOne(order, { session })
}

/** Moves an order to its final state. A paid order stays paid; a payment of a closed one makes it paid. */
export async function closeOrder(
  collections: Collections,
  id: string,
  status: 'paid' | 'closed',
  session?: Session,
): Promise<void> {
  const before = status === 'closed' ? { status: 'open' as const } : {}
  await collections.orders.updateOne({ _id: id, ...before }, { $set: { status } }, session ? { session } : {})
}

/** Open orders made before a time. */
export function staleOrders(collections: Collections, before: Date, limit: number): Promise<OrderDoc[]> {
  return collections.orders
    .find({ status: 'open', created_at: { $lt: before } })
    .limit(limit)
    .toArray()
}
