/** Moves the time of messages that are scheduled and have not been tried yet. */

import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { BODIES, bodyId } from '../../store/bodies.ts'
import { cellsOf } from '../../store/cells.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { eventsOfMessage } from '../../store/events.ts'
import { MESSAGES } from '../../store/messages.ts'

/**
 * Moves a message to `at`; its lifetime and the time of its bytes move along, all in one transaction, so that two calls
 * in parallel end with one time. Answers false when it is not waiting for its time any more. A worker claims only what is
 * due, so no worker holds a delivery whose time lies ahead. `bodyDays`: how long bodies stay after the lifetime.
 */
export async function reschedule(
  mongo: Mongo,
  message: MessageDoc,
  at: Date,
  { now, bodyDays }: { now: Date; bodyDays: number },
): Promise<boolean> {
  if (!message.scheduled_at || message.scheduled_at <= now) return false
  const moved = at.getTime() - message.scheduled_at.getTime()
  const later = (date: Date) => new Date(date.getTime() + moved)
  const expires = later(message.expires_at)
  const exp = later(message.exp)
  const times = { scheduled_at: at, expires_at: expires, ...(exp > message.exp && { exp }) }
  const bodies = Array.from({ length: message.parts }, (_, part) => bodyId(message._id, part))
  const cell = cellsOf(mongo.db).of([message._id])
  return mongo.transaction(async session => {
    const { matchedCount } = await collectionOf(mongo.db, DELIVERIES).updateMany(
      { ...eventsOfMessage(message._id), ...cell, att: 0, tok: { $exists: false }, due: { $gt: now } },
      { $set: { due: at, expires_at: expires } },
      { session },
    )
    if (matchedCount === 0) return false
    await collectionOf(mongo.db, MESSAGES).updateOne({ _id: message._id, ...cell }, { $set: times }, { session })
    await collectionOf(mongo.db, BODIES).updateMany(
      { _id: { $in: bodies }, ...cell },
      { $max: { exp: new Date(expires.getTime() + bodyDays * DAY_MS) } },
      { session },
    )
    return true
  })
}
