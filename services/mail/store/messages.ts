/** Accepted messages: one that is here was accepted, with everything that belongs to it. */

import { collectionOf, defineCollection, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import type { MessageDoc } from './documents.ts'

/** Messages, listed by account newest first; an idempotency key is unique per account while it is on a message. */
export const MESSAGES = defineCollection<MessageDoc>('messages', [
  { key: { user_id: 1, _id: -1 } },
  {
    key: { user_id: 1, 'idem.key': 1 },
    unique: true,
    partialFilterExpression: { 'idem.key': { $exists: true } },
  },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** The lowest id of a message accepted at this time: its prefix without the random part. */
export function firstIdAt(at: Date): string {
  return newId('em', Math.max(0, at.getTime())).slice(0, -16)
}

/** The message accepted durably under an idempotency key that still lives; a key past its time is taken off its message. */
export async function findByIdempotencyKey(
  mongo: Mongo,
  userId: string,
  key: string,
  now: Date,
): Promise<MessageDoc | undefined> {
  const messages = collectionOf(mongo.db, MESSAGES)
  const found = await messages.findOne({ user_id: userId, 'idem.key': key }, { readConcern: 'majority' })
  if (!found?.idem) return undefined
  if (found.idem.until > now) return found
  await messages.updateOne({ _id: found._id, 'idem.until': found.idem.until }, { $unset: { idem: '' } })
  return undefined
}

/** True when one of these keys belongs, within its time, to a message of the account with another body. */
export async function keysStandForAnother(
  mongo: Mongo,
  userId: string,
  { keys, hash, now }: { keys: readonly string[]; hash: string; now: Date },
): Promise<boolean> {
  const found = await collectionOf(mongo.db, MESSAGES).findOne(
    { user_id: userId, 'idem.key': { $in: [...keys] }, 'idem.hash': { $ne: hash }, 'idem.until': { $gt: now } },
    { projection: { _id: 1 }, readConcern: 'majority' },
  )
  return found !== null
}
