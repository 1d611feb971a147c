/**
 * The durable write of acceptance: bodies and deliveries, then messages, each acknowledged by a majority with its
 * journal, shared by all submissions that wait at that moment. A message counts as accepted only when its document
 * in `messages` was seen to be durable.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createGroupCommit } from '../../platform/group-commit.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type Collection, collectionOf, type Mongo } from '../../platform/mongo.ts'
import { BODIES } from './bodies.ts'
import { DELIVERIES } from './deliveries.ts'
import type { MessageDoc } from './documents.ts'
import { EVENTS } from './events.ts'
import { MESSAGES } from './messages.ts'
import { type MessageWrites, type NewMessage, type Placement, toWrites } from './new-message.ts'

/** What became of a message: durable, refused by its idempotency key, or not accepted as far as anybody can tell. */
export type Enqueued = { kind: 'stored' } | { kind: 'key_taken' } | { kind: 'unavailable'; reason: string }

/** Stores one message durably. Never rejects; bounded in time and memory. */
export type Enqueue = (message: NewMessage) => Promise<Enqueued>

/** What enqueueing needs. */
export interface EnqueueOptions extends Placement {
  mongo: Mongo
  log: Log
  metrics: Pick<Metrics, 'mongoSeconds'>
  /** Told after each durable batch which slots have new deliveries that are due: a hint, may do nothing. */
  wake(slots: ReadonlySet<number>): void
  /** Most bytes of messages waiting for the database; above, messages are refused at once. */
  maxWaitingBytes?: number
}

/** Bytes that may wait: some seconds of input at full speed, far below the memory of the process. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024
/** A batch is closed at so many messages or bytes: well below the 48 MB of one command. */
const BATCH = { most: 500, mostBytes: 8 * 1024 * 1024, flights: 1, gatherMs: 12 }
/** Longest wait for one write, and for finding out what became of it. */
const WRITE_MS = 5_000
const READ_BACK_MS = 5_000
/** After a failed write, submissions are refused at once for so long instead of piling up behind the next failure. */
const PAUSE_MS = 500

const UNORDERED = { ordered: false, writeConcern: { w: 'majority', j: true }, timeoutMS: WRITE_MS } as const

/** Makes the function that stores messages. One per process and database. */
export function createEnqueue(options: EnqueueOptions): Enqueue {
  const { mongo, log } = options
  const limit = options.maxWaitingBytes ?? MAX_WAITING_BYTES
  let waiting = 0
  let pausedUntil = 0
  const mayWrite = () => mongo.isUp() && performance.now() >= pausedUntil
  const writeRound = createRound(options)
  const commit = createGroupCommit<NewMessage, Enqueued>({
    ...BATCH,
    sizeOf: ({ raw }) => raw.length,
    async write(batch) {
      if (!mayWrite()) return batch.map(() => UNAVAILABLE)
      try {
        return await writeRound(batch.map(message => toWrites(message, options)))
      } catch (error) {
        pausedUntil = performance.now() + PAUSE_MS
        log.warn({ err: error, messages: batch.length }, 'messages not stored; they were refused for now')
        return batch.map(() => UNAVAILABLE)
      }
    },
  })
  return async message => {
    const size = message.raw.length
    if (!mayWrite()) return UNAVAILABLE
    if (waiting + size > limit) return { kind: 'unavailable', reason: 'too much mail is waiting to be stored' }
    waiting += size
    try {
      return await commit(message)
    } finally {
      waiting -= size
    }
  }
}

const STORED: Enqueued = { kind: 'stored' }
const KEY_TAKEN: Enqueued = { kind: 'key_taken' }
const UNAVAILABLE: Enqueued = { kind: 'unavailable', reason: 'the database does not answer' }

/** One round: everything a message needs, then the messages. Rejects only when no message of it can be durable. */
function createRound({ mongo, log, metrics, wake }: EnqueueOptions) {
  const bodies = collectionOf(mongo.db, BODIES)
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  const events = collectionOf(mongo.db, EVENTS)
  const messages = collectionOf(mongo.db, MESSAGES)

  const timed = async (collection: string, work: () => Promise<unknown>) => {
    const started = performance.now()
    await work()
    metrics.mongoSeconds.observe({ collection }, (performance.now() - started) / 1000)
  }

  /** Removes what a message left behind that was not accepted; if this fails, the sweep of orphans does it later. */
  const discard = async (writes: readonly MessageWrites[]) => {
    const idsOf = (docs: readonly { _id: string }[]) => ({ _id: { $in: docs.map(({ _id }) => _id) } })
    const within = { timeoutMS: WRITE_MS }
    await Promise.allSettled([
      deliveries.deleteMany(idsOf(writes.flatMap(w => w.deliveries)), within),
      events.deleteMany(idsOf(writes.flatMap(w => w.events)), within),
      bodies.deleteMany(idsOf(writes.flatMap(w => w.bodies)), within),
    ])
  }

  const commit = async (writes: readonly MessageWrites[]): Promise<Enqueued[]> => {
    try {
      await timed('messages', () =>
        messages.insertMany(
          writes.map(({ message }) => message),
          UNORDERED,
        ),
      )
      return writes.map(() => STORED)
    } catch (error) {
      const refused = refusedKeys(error)
      if (refused) return writes.map((_, index) => (refused.has(index) ? KEY_TAKEN : STORED))
      log.warn({ err: error, messages: writes.length }, 'outcome of a write unknown; reading it back')
      const found = await readBack(
        messages,
        writes.map(({ message }) => message._id),
      )
      return writes.map(({ message }) => (found.has(message._id) ? STORED : UNAVAILABLE))
    }
  }

  return async (writes: readonly MessageWrites[]): Promise<Enqueued[]> => {
    const simulated = writes.flatMap(w => w.events)
    const outgoing = writes.flatMap(w => w.deliveries)
    await Promise.all([
      timed('bodies', () =>
        bodies.insertMany(
          writes.flatMap(w => w.bodies),
          UNORDERED,
        ),
      ),
      outgoing.length > 0 && timed('deliveries', () => deliveries.insertMany(outgoing, UNORDERED)),
      simulated.length > 0 && timed('events', () => events.insertMany(simulated, UNORDERED)),
    ])
    const results = await commit(writes)
    const lost = writes.filter((_, index) => results[index] === KEY_TAKEN)
    if (lost.length > 0) await discard(lost)
    const now = Date.now()
    const slots = new Set(outgoing.filter(({ due }) => due.getTime() <= now).map(({ slot }) => slot))
    if (slots.size > 0) wake(slots)
    return results
  }
}

/**
 * Indexes of the documents that a unique index refused, when that is all that went wrong: the other documents of an
 * unordered insert are durable then. Undefined for every other error.
 */
function refusedKeys(error: unknown): ReadonlySet<number> | undefined {
  const { writeErrors, result } = error as {
    writeErrors?: readonly { code?: number; index: number }[]
    result?: { getWriteConcernError?(): unknown }
  }
  if (!Array.isArray(writeErrors) || writeErrors.length === 0 || result?.getWriteConcernError?.()) return undefined
  return writeErrors.every(({ code }) => code === 11_000) ? new Set(writeErrors.map(({ index }) => index)) : undefined
}

/** The ids that a majority holds. Asks again while the set has no primary, for a bounded time; then knows of none. */
async function readBack(messages: Collection<MessageDoc>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const until = performance.now() + READ_BACK_MS
  while (performance.now() < until) {
    try {
      const found = await messages
        .find({ _id: { $in: [...ids] } }, { readConcern: 'majority', timeoutMS: until - performance.now() })
        .project<{ _id: string }>({ _id: 1 })
        .toArray()
      return new Set(found.map(({ _id }) => _id))
    } catch {
      await sleep(100)
    }
  }
  return new Set()
}
