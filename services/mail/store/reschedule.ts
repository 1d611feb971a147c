/** Moves the time of messages that are scheduled and have not been tried yet. */
import { collectionOf, type Db, DURABLE } from '../../platform/mongo.ts'
import { DELIVERIES } from './deliveries.ts'
import type { MessageDoc } from './documents.ts'
import { eventsOfMessage } from './events.ts'
import { MESSAGES } from './messages.ts'

/**
 * Moves a message to `at`; its lifetime moves along. Answers false when it is not waiting for its time any more. A
 * worker claims only what is due, so a delivery whose time lies ahead is nobody's.
 */
export async function reschedule(db: Db, message: MessageDoc, at: Date, now: Date): Promise<boolean> {
  if (!message.scheduled_at || message.scheduled_at <= now) return false
  const moved = at.getTime() - message.scheduled_at.getTime()
  const later = (date: Date) => new Date(date.getTime() + moved)
  const expires = later(message.expires_at)
  const { matchedCount } = await collectionOf(db, DELIVERIES).updateMany(
    { ...eventsOfMessage(message._id), att: 0, tok: { $exists: false }, due: { $gt: now } },
    { $set: { due: at, expires_at: expires } },
    DURABLE,
  )
  if (matchedCount === 0) return false
  const exp = later(message.exp)
  const times = { scheduled_at: at, expires_at: expires, ...(exp > message.exp && { exp }) }
  await collectionOf(db, MESSAGES).updateOne({ _id: message._id }, { $set: times }, DURABLE)
  return true
}
