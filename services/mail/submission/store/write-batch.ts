/**
 * Writes a batch of accepted messages: one transaction, acknowledged by a majority with its journal. What stands in the
 * way of one message (a key that is taken, or that another transaction holds; documents that are too large) must not
 * become the trouble of the others, so a batch that fails is written again in parts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../../../platform/concurrency/timeout.ts'
import {
  type Collection,
  type CollectionDefinition,
  collectionOf,
  DURABLE,
  insertAll,
  isCommitUnknown,
  isMongoCode,
  isUnavailable,
  type Mongo,
  type Session,
} from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { BODIES, bodyId } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { BodyDoc, MessageDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { MESSAGES } from '../../store/messages.ts'
import type { MessageWrites } from './message-documents.ts'

/** What became of a message of a batch; `unknown`: not stored as far as anybody can tell. */
export type Written = 'stored' | 'key_taken' | 'unknown'

/** What is known of a message of a batch, and what will be: of an unknown outcome, when its commit had begun. */
export interface BatchResult {
  written: Written
  /** Resolves when the outcome is certain, or with `unknown` after {@link READ_BACK_MS}. */
  later?: Promise<Written>
}

/** Writes a batch; answers in its order. Rejects when the database is away, and no message of it counts as stored. */
export type WriteBatch = (batch: readonly MessageWrites[]) => Promise<readonly BatchResult[]>

/** Bytes of a batch of several messages at most: a transaction lies in the memory of the server. */
export const BATCH_BYTES = 4 * 1024 * 1024
/** Longest wait for a batch. */
const WRITE_MS = 5_000
/** How long an unknown outcome is asked for: an election takes seconds, a commit that waits for a majority may take longer. */
export const READ_BACK_MS = 60_000
const READ_BACK_PAUSE_MS = 250
/** A transaction that meets another one so often is divided; left to itself the driver would try for two minutes. */
const CONFLICTS = 2
const WRITE_CONFLICT = 112
/** Writes that nobody waits for any more and that have not ended: no more of them than this, because they hold memory. */
const ABANDONED = 2

/** Makes the function that writes batches. */
export function createWriteBatch({ mongo, log }: { mongo: Mongo; log: Log }): WriteBatch {
  const { db } = mongo
  const messages = collectionOf(db, MESSAGES)
  const bodies = collectionOf(db, BODIES)
  let abandoned = 0

  /** Waits for a write until a time; counts it while it goes on without us. */
  const bounded = async <T>(until: number, work: Promise<T>): Promise<T> => {
    try {
      return await within(until - performance.now(), work)
    } catch (error) {
      abandoned++
      const ended = () => void abandoned--
      work.then(ended, ended) // at once, when it was the work that failed
      throw error
    }
  }

  /** Rejects when nothing is stored, or with {@link OutcomeUnknown} when nobody can tell yet. */
  const commit = async (batch: readonly MessageWrites[], until: number): Promise<void> => {
    let conflicts = 0
    let committed = false // or at least begun to, in one of the runs
    let givenUp = false
    const written = mongo.transaction(
      async session => {
        if (conflicts === CONFLICTS) throw new Contended()
        await requireStaged(bodies, batch, session)
        for (const [collection, documents] of documentsOf(batch)) {
          if (givenUp) throw new Error('nobody waits for this write any more')
          await insertAll(db, collection, documents, session).catch((error: unknown) => {
            if (isMongoCode(error, WRITE_CONFLICT)) conflicts++
            throw error
          })
        }
        if (givenUp) throw new Error('nobody waits for this write any more')
        committed = true
      },
      { maxCommitTimeMS: READ_BACK_MS },
    )
    try {
      await bounded(until, written)
    } catch (error) {
      givenUp = true
      if (!committed) throw error
      log.warn({ err: error, messages: batch.length }, 'outcome of a write unknown; reading it back')
      throw new OutcomeUnknown(error, batch, readBack(messages, batch, written))
    }
  }

  /** What was stored is added to `outcomes`, and whose key is taken; the rest is unknown. */
  const write = async (batch: readonly MessageWrites[], until: number, outcomes: Outcomes): Promise<void> => {
    if (batch.length === 0) return
    try {
      await commit(batch, until)
      for (const { message } of batch) outcomes.set(message._id, 'stored')
    } catch (error) {
      if (error instanceof OutcomeUnknown || isUnavailable(error) || performance.now() >= until) throw error
      await divide(batch, error, until, outcomes)
    }
  }

  const divide = async (batch: readonly MessageWrites[], error: unknown, until: number, outcomes: Outcomes) => {
    const free = await bounded(until, withoutTaken(messages, batch, outcomes))
    if (batch.length > 1) for (const part of partsOf(free)) await write(part, until, outcomes)
    else if (free.length === 1) log.warn({ err: error }, 'a message was not stored; it was refused for now')
  }

  return async given => {
    if (abandoned >= ABANDONED) throw new Error('earlier writes have not ended')
    const outcomes: Outcomes = new Map()
    const holders = findHolders(given)
    const { batch, before } = takeLarge(given.filter(({ message }) => holders.get(message._id) === message._id))
    for (const part of before) await bounded(performance.now() + WRITE_MS, bodies.insertMany(part, DURABLE))
    let open: OutcomeUnknown | undefined
    try {
      await write(batch, performance.now() + WRITE_MS, outcomes)
    } catch (error) {
      if (error instanceof OutcomeUnknown) open = error
      else if (outcomes.size === 0) throw error
      log.warn({ err: error, messages: batch.length - outcomes.size }, 'a part of a batch was not stored')
    }
    if (before.length > 0 && batch.every(({ message }) => outcomes.get(message._id) === 'key_taken'))
      await discard(bodies, before)
    return given.map(({ message: { _id } }) => {
      const holder = holders.get(_id) ?? _id
      const of = (written: Written) => (holder !== _id && written === 'stored' ? 'key_taken' : written)
      const written = of(outcomes.get(holder) ?? 'unknown')
      const later = open?.ids.has(holder) ? open.outcome.then(of) : undefined
      return { written, ...(later && { later }) }
    })
  }
}

/** By the id of the message. */
type Outcomes = Map<string, Written>

/** The commit was under way when the answer failed to come. */
class OutcomeUnknown extends Error {
  /** The messages in question. */
  readonly ids: ReadonlySet<string>
  readonly outcome: Promise<Written>

  constructor(cause: unknown, batch: readonly MessageWrites[], outcome: Promise<Written>) {
    super('the outcome of a write is unknown', { cause })
    this.name = 'OutcomeUnknown'
    this.ids = new Set(batch.map(({ message }) => message._id))
    this.outcome = outcome
  }
}

/** Another transaction holds what this one wants to write; that of a process that died does so for a minute. */
class Contended extends Error {
  constructor() {
    super('another write of the same idempotency key has not ended')
    this.name = 'Contended'
  }
}

/**
 * Rejects when a part that was stored ahead of the transaction is gone. A worker of release 0.1.0 removes parts without a message
 * after 10 minutes, and a message may come in for longer; it must be refused instead of accepted without its content.
 */
async function requireStaged(
  bodies: Collection<BodyDoc>,
  batch: readonly MessageWrites[],
  session: Session,
): Promise<void> {
  const ids = batch.flatMap(({ message: { _id, parts }, bodies: { length } }) =>
    Array.from({ length: parts - length }, (_, n) => bodyId(_id, length + n)),
  )
  if (ids.length === 0) return
  const found = await bodies.countDocuments({ _id: { $in: ids } }, { session, hint: { _id: 1 } })
  if (found < ids.length) throw new Error(`${ids.length - found} stored parts of a message are gone`)
}

/** For each message the one that is tried for its idempotency key: of several with one key the first, else itself. */
function findHolders(batch: readonly MessageWrites[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>()
  const holders = new Map<string, string>()
  for (const { message } of batch) {
    const key = keyOf(message) ?? message._id
    const holder = first.get(key) ?? message._id
    first.set(key, holder)
    holders.set(message._id, holder)
  }
  return holders
}

/** Bodies of a message that is larger than any batch go before its transaction, in parts. */
function takeLarge(batch: readonly MessageWrites[]): { batch: readonly MessageWrites[]; before: BodyDoc[][] } {
  const all = batch.flatMap(({ bodies }) => bodies)
  if (all.reduce((bytes, { z }) => bytes + z.length(), 0) <= BATCH_BYTES) return { batch, before: [] }
  const before: BodyDoc[][] = []
  for (let at = 0; at < all.length; at += 4) before.push(all.slice(at, at + 4)) // of 1 MiB at most
  return { batch: batch.map(one => ({ ...one, bodies: [] })), before }
}

/** Nobody else's mail is written together with a key that makes trouble; keys are tried by halves. */
function partsOf(batch: readonly MessageWrites[]): (readonly MessageWrites[])[] {
  const plain = batch.filter(({ message }) => !message.idem)
  const keyed = batch.filter(({ message }) => message.idem)
  if (plain.length > 0 && keyed.length > 0) return [plain, keyed]
  const half = Math.ceil(batch.length / 2)
  return [batch.slice(0, half), batch.slice(half)]
}

function documentsOf(batch: readonly MessageWrites[]): [CollectionDefinition<object>, object[]][] {
  return [
    [BODIES, batch.flatMap(({ bodies }) => bodies)],
    [DELIVERIES, batch.flatMap(({ deliveries }) => deliveries)],
    [EVENTS, batch.flatMap(({ events }) => events)],
    [MESSAGES, batch.map(({ message }) => message)],
  ]
}

/** Those whose idempotency key nobody has; the others are noted. */
async function withoutTaken(
  messages: Collection<MessageDoc>,
  batch: readonly MessageWrites[],
  outcomes: Outcomes,
): Promise<readonly MessageWrites[]> {
  const keys = batch.flatMap(({ message: { user_id, idem } }) => (idem ? [{ user_id, 'idem.key': idem.key }] : []))
  if (keys.length === 0) return batch
  const holders = await messages.find({ $or: keys }, { projection: { user_id: 1, 'idem.key': 1 } }).toArray()
  const taken = new Map(holders.map(holder => [keyOf(holder), holder._id]))
  return batch.filter(({ message }) => {
    const holder = message.idem && taken.get(keyOf(message))
    if (holder) outcomes.set(message._id, holder === message._id ? 'stored' : 'key_taken')
    return !holder
  })
}

function keyOf({ user_id, idem }: Pick<MessageDoc, 'user_id' | 'idem'>): string | undefined {
  return idem && `${user_id} ${idem.key}`
}

/** Removes what nobody needs; if that fails, a sweep does it later. */
async function discard(bodies: Collection<BodyDoc>, parts: readonly BodyDoc[][]): Promise<void> {
  const ids = parts.flat().map(({ _id }) => _id)
  await within(WRITE_MS, bodies.deleteMany({ _id: { $in: ids } })).catch(() => undefined)
}

/**
 * What became of a batch whose commit had begun: all of it is stored or nothing. `written`: the driver's own attempt, which
 * may still be under way. As long as it is, that nothing is found proves nothing. Never rejects.
 */
async function readBack(
  messages: Collection<MessageDoc>,
  batch: readonly MessageWrites[],
  written: Promise<void>,
): Promise<Written> {
  const ids = batch.map(({ message }) => message._id)
  const until = performance.now() + READ_BACK_MS
  const attempt: { state: 'under way' | 'stored' | 'failed' } = { state: 'under way' }
  written.then(
    () => {
      attempt.state = 'stored'
    },
    (error: unknown) => {
      if (!isCommitUnknown(error)) attempt.state = 'failed'
    },
  )
  for (let left = READ_BACK_MS; left > 0; left = until - performance.now()) {
    const hasFailed = attempt.state === 'failed' // before the question, so that its answer is the newer one
    try {
      const found = messages.findOne({ _id: { $in: ids } }, { readConcern: 'majority', projection: { _id: 1 } })
      if ((await within(left, found)) !== null) return 'stored'
      if (hasFailed) return 'unknown'
    } catch {
      // The set has no primary, or does not answer: asked again.
    }
    if (attempt.state === 'stored') return 'stored'
    await sleep(READ_BACK_PAUSE_MS)
  }
  return 'unknown'
}
