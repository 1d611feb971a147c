/** Accepted messages: one that is here was accepted, with everything that belongs to it. */

import { collectionOf, defineCollection, type IndexDefinition, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { cellsOf } from './cells.ts'
import type { MessageDoc, RecipientStatus } from './documents.ts'

/**
 * Statuses of recipients that are found by an index: those that want attention, or are rare. A message whose recipients are
 * all queued, scheduled or delivered has no key in it, so that acceptance and delivery do not write it.
 */
export const INDEXED_STATUSES = [
  'deferred',
  'bounced',
  'failed',
  'suppressed',
  'canceled',
  'complained',
] as const satisfies readonly RecipientStatus[]

/** Index of the recipients with one of {@link INDEXED_STATUSES}, by status and class of failure. */
export const STATUS_INDEX = { user_id: 1, 'rcpts.status': 1, 'rcpts.kind': 1, _id: -1 } as const

/**
 * Keeps idempotency keys unique on a sharded cluster, in place of the index without cells: there an index that is unique
 * has to begin with the key of the shards.
 */
export const KEYS_BY_CELL: IndexDefinition = {
  key: { cell: 1, user_id: 1, 'idem.key': 1 },
  unique: true,
  partialFilterExpression: { 'idem.key': { $exists: true } },
}

/** Messages, listed by account newest first; an idempotency key is unique per account while it is on a message. */
export const MESSAGES = defineCollection<MessageDoc>('messages', [
  { key: { user_id: 1, _id: -1 } },
  { key: STATUS_INDEX, partialFilterExpression: { 'rcpts.status': { $in: [...INDEXED_STATUSES] } } },
  {
    key: { user_id: 1, 'idem.key': 1 },
    unique: true,
    partialFilterExpression: { 'idem.key': { $exists: true } },
    unless: KEYS_BY_CELL.key,
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
  const cells = cellsOf(mongo.db)
  const found = await messages.findOne(
    { ...(await cells.allAsOfNow()), user_id: userId, 'idem.key': key },
    { readConcern: 'majority' },
  )
  if (!found?.idem) return undefined
  if (found.idem.until > now) return found
  await messages.updateOne(
    { _id: found._id, ...cells.of([found._id]), 'idem.until': found.idem.until },
    { $unset: { idem: '' } },
  )
  return undefined
}

/** True when one of these keys belongs, within its time, to a message of the account with another body. */
export async function keysStandForAnother(
  mongo: Mongo,
  userId: string,
  { keys, hash, now }: { keys: readonly string[]; hash: string; now: Date },
): Promise<boolean> {
  const found = await collectionOf(mongo.db, MESSAGES).findOne(
    {
      ...cellsOf(mongo.db).all(),
      user_id: userId,
      'idem.key': { $in: [...keys] },
      'idem.hash': { $ne: hash },
      'idem.until': { $gt: now },
    },
    { projection: { _id: 1 }, readConcern: 'majority' },
  )
  return found !== null
}
