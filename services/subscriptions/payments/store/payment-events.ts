/** Notices of payment channels in the database: stored before they are answered, applied by a job. */
import { isDuplicateKey } from '../../../platform/database/mongo.ts'
import type { Collections } from '../../store/collections.ts'
import type { PaymentEventDoc } from '../../store/documents.ts'

/** Stores a notice; false when it was stored before. */
export async function insertEvent(c: Collections, event: PaymentEventDoc): Promise<boolean> {
  try {
    await c.paymentEvents.insertOne(event)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Takes the next notice that is due; it comes back at `retryAt` unless it is settled before. */
export async function claimEvent(c: Collections, now: Date, retryAt: Date): Promise<PaymentEventDoc | undefined> {
  const claimed = await c.paymentEvents.findOneAndUpdate(
    { state: 'waiting', due: { $lte: now } },
    { $set: { due: retryAt }, $inc: { attempts: 1 } },
    { sort: { due: 1 }, returnDocument: 'after' },
  )
  return claimed ?? undefined
}

/** Writes what became of a notice; when two workers had it, the first one to say so. */
export async function settleEvent(
  c: Collections,
  id: string,
  state: PaymentEventDoc['state'],
  reason: string,
  at: Date,
): Promise<void> {
  await c.paymentEvents.updateOne({ _id: id, state: 'waiting' }, { $set: { state, reason, applied_at: at } })
}

/** Puts a notice off: what it is about is not there yet. */
export async function postponeEvent(c: Collections, id: string, due: Date, reason: string): Promise<void> {
  await c.paymentEvents.updateOne({ _id: id, state: 'waiting' }, { $set: { due, reason } })
}
