/** Writes a batch of accepted messages: one transaction, acknowledged by a majority with its journal. */
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../../platform/deadline.ts'
import type { Log } from '../../platform/log.ts'
import {
  type Collection,
  type CollectionDefinition,
  collectionOf,
  DURABLE,
  insertAll,
  isDuplicateKey,
  type Mongo,
} from '../../platform/mongo.ts'
import { BODIES } from './bodies.ts'
import { DELIVERIES } from './deliveries.ts'
import type { MessageDoc } from './documents.ts'
import { EVENTS } from './events.ts'
import { MESSAGES } from './messages.ts'
import type { MessageWrites } from './new-message.ts'

/** What became of a message of a batch. */
export type Written = 'stored' | 'key_taken' | 'unknown'

/** Writes a batch; answers in its order. Rejects only when no message of it is stored or ever will be. */
export type WriteBatch = (batch: readonly MessageWrites[]) => Promise<readonly Written[]>

/**
 * Most bytes of a batch of several messages: what one of its collections gets fits into one command of 16 MiB, and
 * what a transaction holds in the memory of the server stays small.
 */
export const BATCH_BYTES = 4 * 1024 * 1024
/** Longest wait for one write, and for finding out what became of it. */
const WRITE_MS = 5_000
const READ_BACK_MS = 5_000
/** How often a batch is written again without the messages whose keys are taken. */
const TRIES = 5

/** Makes the function that writes batches. */
export function createWriteBatch({ mongo, log }: { mongo: Mongo; log: Log }): WriteBatch {
  const messages = collectionOf(mongo.db, MESSAGES)

  /** Answers those that are stored: all of them, or all whose idempotency keys were free. */
  const write = async (batch: readonly MessageWrites[]): Promise<readonly MessageWrites[]> => {
    let free = batch
    for (let tries = 1; free.length > 0; tries++) {
      try {
        await commit(mongo, free)
        return free
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error
        const left = await within(READ_BACK_MS, withoutTaken(messages, free))
        if (left.length === free.length) throw error
        free = left
      }
    }
    return free
  }

  return async given => {
    const batch = await bodiesFirst(mongo, given)
    try {
      const stored = new Set(await write(batch))
      return batch.map(one => (stored.has(one) ? 'stored' : 'key_taken'))
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      log.warn({ err: error.cause, messages: batch.length }, 'outcome of a write unknown; reading it back')
      const ids = batch.map(({ message }) => message._id)
      const found = await readBack(messages, ids)
      return ids.map(id => (found.has(id) ? 'stored' : 'unknown'))
    }
  }
}

/** The commit was under way when the answer failed to come. */
class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('the outcome of a write is unknown', { cause })
    this.name = 'OutcomeUnknown'
  }
}

/** Bodies of a message that is larger than any batch go before its transaction; if that fails, a sweep removes them. */
async function bodiesFirst(mongo: Mongo, batch: readonly MessageWrites[]): Promise<readonly MessageWrites[]> {
  const parts = batch.flatMap(({ bodies }) => bodies)
  if (parts.reduce((bytes, { z }) => bytes + z.length(), 0) <= BATCH_BYTES) return batch
  await within(WRITE_MS, collectionOf(mongo.db, BODIES).insertMany(parts, DURABLE))
  return batch.map(one => ({ ...one, bodies: [] }))
}

/** Rejects when nothing of the batch is stored, or with {@link OutcomeUnknown}. */
async function commit({ db, transaction }: Mongo, batch: readonly MessageWrites[]): Promise<void> {
  let committing = false
  let givenUp = false
  const committed = transaction(async session => {
    committing = false
    for (const [collection, documents] of documentsOf(batch)) await insertAll(db, collection, documents, session)
    if (givenUp) throw new Error('nobody waits for this write any more')
    committing = true
  })
  try {
    await within(WRITE_MS, committed)
  } catch (error) {
    givenUp = true
    throw committing ? new OutcomeUnknown(error) : error
  }
}

function documentsOf(batch: readonly MessageWrites[]): [CollectionDefinition<object>, object[]][] {
  return [
    [BODIES, batch.flatMap(({ bodies }) => bodies)],
    [DELIVERIES, batch.flatMap(({ deliveries }) => deliveries)],
    [EVENTS, batch.flatMap(({ events }) => events)],
    [MESSAGES, batch.map(({ message }) => message)],
  ]
}

/** Those whose idempotency key nobody has; of several with one key the first. */
async function withoutTaken(
  messages: Collection<MessageDoc>,
  batch: readonly MessageWrites[],
): Promise<MessageWrites[]> {
  const keys = batch.flatMap(({ message: { user_id, idem } }) => (idem ? [{ user_id, 'idem.key': idem.key }] : []))
  const holders = await messages.find({ $or: keys }, { projection: { user_id: 1, 'idem.key': 1 } }).toArray()
  const taken = new Set(holders.map(keyOf))
  return batch.filter(({ message }) => {
    const key = keyOf(message)
    if (key === undefined) return true
    const free = !taken.has(key)
    taken.add(key)
    return free
  })
}

function keyOf({ user_id, idem }: Pick<MessageDoc, 'user_id' | 'idem'>): string | undefined {
  return idem && `${user_id} ${idem.key}`
}

/** The ids that a majority holds. Asks again while the set has no primary, for a bounded time; then knows of none. */
async function readBack(messages: Collection<MessageDoc>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const until = performance.now() + READ_BACK_MS
  for (let left = READ_BACK_MS; left > 0; left = until - performance.now()) {
    const find = messages.find({ _id: { $in: [...ids] } }, { readConcern: 'majority', projection: { _id: 1 } })
    try {
      return new Set((await within(left, find.toArray())).map(({ _id }) => _id))
    } catch {
      await sleep(100)
    }
  }
  return new Set()
}
