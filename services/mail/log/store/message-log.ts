/** Reads of the delivery log, always within one account: one message, its deliveries and its events. */

import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { isFrom } from '../../message/address.ts'
import { BODIES, bodyId } from '../../store/bodies.ts'
import { cellsOf } from '../../store/cells.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { DeliveryDoc, EventDoc, MessageDoc } from '../../store/documents.ts'
import { EVENTS, eventsOfMessage } from '../../store/events.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'

const MAX_MS = 5_000

/** A message of this account. */
export async function findMessage(db: Db, userId: string, id: string): Promise<MessageDoc | undefined> {
  return (await collectionOf(db, MESSAGES).findOne({ _id: id, ...cellsOf(db).of([id]), user_id: userId })) ?? undefined
}

const ofMessage = (db: Db, id: string) => ({ ...eventsOfMessage(id), ...cellsOf(db).of([id]) })
const bodyOf = (db: Db, id: string) => ({ _id: bodyId(id, 0), ...cellsOf(db).of([id]) })

/** Sorts ids of deliveries and events of one message by their numbers: the tenth recipient after the second. */
const byNumber = new Intl.Collator('en', { numeric: true }).compare

/** What of a message is still to be delivered, in the order of its recipients. */
export async function deliveriesOf(db: Db, messageId: string): Promise<DeliveryDoc[]> {
  const found = await collectionOf(db, DELIVERIES).find(ofMessage(db, messageId), { maxTimeMS: MAX_MS }).toArray()
  return found.toSorted((a, b) => byNumber(a._id, b._id))
}

/** All attempts of a message, oldest first; of one moment in the order of its recipients. */
export async function eventsOf(db: Db, messageId: string): Promise<EventDoc[]> {
  const found = await collectionOf(db, EVENTS).find(ofMessage(db, messageId), { maxTimeMS: MAX_MS }).toArray()
  return found.toSorted((a, b) => a.at.getTime() - b.at.getTime() || byNumber(a._id, b._id))
}

/** An account's events from a time on, oldest first, without their conversations. */
export function eventsSince(db: Db, userId: string, since: Date, limit: number): Promise<EventDoc[]> {
  return collectionOf(db, EVENTS)
    .find({ user_id: userId, at: { $gte: since } }, { projection: { conversation: 0 }, maxTimeMS: MAX_MS })
    .sort({ at: 1 })
    .limit(limit)
    .toArray()
}

/** An account's messages accepted from a time on, oldest first. */
export function messagesSince(
  db: Db,
  userId: string,
  since: Date,
  limit: number,
): Promise<Pick<MessageDoc, '_id' | 'rcpts' | 'created_at' | 'scheduled_at'>[]> {
  return collectionOf(db, MESSAGES)
    .find({ user_id: userId, _id: { $gte: firstIdAt(since) } }, { maxTimeMS: MAX_MS })
    .project<Pick<MessageDoc, '_id' | 'rcpts' | 'created_at' | 'scheduled_at'>>({
      rcpts: 1,
      created_at: 1,
      scheduled_at: 1,
    })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray()
}

/** True while the bytes of a message are kept. */
export async function hasBody(db: Db, messageId: string): Promise<boolean> {
  return (await collectionOf(db, BODIES).findOne(bodyOf(db, messageId), { projection: { _id: 1 } })) !== null
}

/** Which of some messages an account sent from certain domains. */
export async function sentFrom(
  db: Db,
  userId: string,
  ids: ReadonlySet<string>,
  domains: readonly string[],
): Promise<Set<string>> {
  const found = await collectionOf(db, MESSAGES)
    .find({ _id: { $in: [...ids] }, ...cellsOf(db).of([...ids]), user_id: userId })
    .project<{ _id: string; from: string }>({ from: 1 })
    .toArray()
  return new Set(found.filter(({ from }) => isFrom(from, domains)).map(({ _id }) => _id))
}

/** The subjects of some of an account's messages. */
export async function subjectsOf(db: Db, userId: string, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const found = await collectionOf(db, MESSAGES)
    .find({ _id: { $in: [...ids] }, ...cellsOf(db).of([...ids]), user_id: userId })
    .project<{ _id: string; subject: string }>({ subject: 1 })
    .toArray()
  return new Map(found.map(({ _id, subject }) => [_id, subject]))
}
