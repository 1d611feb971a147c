/** Notices of payment channels in the database: stored before the reply, applied by a job. */
import { isDuplicateKey } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { PaymentEventDoc } from '../../store/documents.ts'

/** Stores a notice; false when it was stored before. */
export async function insertEvent(collections: Collections, event: PaymentEventDoc): Promise<boolean> {
  try {
    await collections.paymentEvents.insertOne(event)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Claims the next due notice; it becomes due again at `retryAt` unless it is settled before. */
export async function claimEvent(
  collections: Collections,
  now: Date,
  retryAt: Date,
): Promise<PaymentEventDoc | undefined> {
  const claimed = await collections.paymentEvents.findOneAndUpdate(
    { state: 'waiting', due: { $lte: now } },
    { $set: { due: retryAt }, $inc: { attempts: 1 } },
    { sort: { due: 1 }, returnDocument: 'after' },
  )
  return claimed ?? undefined
}

/** Stores the result of a notice; of two workers the first one wins. */
export async function settleEvent(
  collections: Collections,
  id: string,
  state: PaymentEventDoc['state'],
  reason: string,
  at: Date,
): Promise<void> {
  await collections.paymentEvents.updateOne({ _id: id, state: 'waiting' }, { $set: { state, reason, applied_at: at } })
}

/** Postpones a notice whose record does not exist yet. */
export async function postponeEvent(collections: Collections, id: string, due: Date, reason: string): Promise<void> {
  await collections.paymentEvents.updateOne({ _id: id, state: 'waiting' }, { $set: { due, reason } })
}
