/**
 * Writes a batch of accepted messages: one transaction, acknowledged by a majority with its journal. What hinders
 * one message (a key that is taken, or that another transaction holds; documents that are too large) must not
 * hinder the others, so a batch that fails is written again in parts.
 */
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import { type Collection, collectionOf, DURABLE, isUnavailable, type Mongo } from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { BODIES } from '../../store/bodies.ts'
import { type Cells, cellsOf } from '../../store/cells.ts'
import type { BodyDoc, MessageDoc } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { cellOf } from '../../store/rules/cell.ts'
import { BatchTransactions, OutcomeUnknown, type Written } from './batch-transaction.ts'
import type { MessageWrites } from './message-documents.ts'

/** What is known of a message of a batch, and what will be: of an unknown outcome, when its commit had begun. */
export interface BatchResult {
  written: Written
  /** Resolves when the outcome is certain, or with `unknown` after {@link READ_BACK_MS}. */
  later?: Promise<Written>
}

/** Writes a batch; answers in its order. Rejects when the database is away, and no message of it counts as stored. */
export type WriteBatch = (batch: readonly MessageWrites[]) => Promise<readonly BatchResult[]>

/** Bytes of a batch of several messages at most: a transaction is held in the memory of the server. */
export const BATCH_BYTES = 4 * 1024 * 1024
/** Longest wait for a batch. */
const WRITE_MS = 5_000
/** Makes the function that writes batches. */
export function createWriteBatch(options: { mongo: Mongo; log: Log }): WriteBatch {
  const writer = new BatchWriter(options)
  return batch => writer.write(batch)
}

class BatchWriter {
  readonly #log: Log
  readonly #messages: Collection<MessageDoc>
  readonly #bodies: Collection<BodyDoc>
  readonly #cells: Cells
  readonly #transactions: BatchTransactions

  constructor({ mongo, log }: { mongo: Mongo; log: Log }) {
    this.#log = log
    this.#messages = collectionOf(mongo.db, MESSAGES)
    this.#bodies = collectionOf(mongo.db, BODIES)
    this.#cells = cellsOf(mongo.db)
    this.#transactions = new BatchTransactions({ mongo, log })
  }

  async write(given: readonly MessageWrites[]): Promise<readonly BatchResult[]> {
    if (this.#transactions.isBlocked) throw new Error('earlier writes have not ended')
    const outcomes: Outcomes = new Map()
    const holders = findHolders(given)
    const { batch, before } = takeLarge(given.filter(({ message }) => holders.get(message._id) === message._id))
    for (const part of before)
      await this.#transactions.bounded(performance.now() + WRITE_MS, this.#bodies.insertMany(part, DURABLE))
    const unknown = await this.#writeKnown(batch, outcomes)
    if (before.length > 0 && batch.every(({ message }) => outcomes.get(message._id) === 'key_taken'))
      await discard(this.#bodies, this.#cells, before)
    return given.map(({ message }) => resultOf(message._id, holders, outcomes, unknown))
  }

  /** Writes as much as can be written; resolves to what is unknown. Rejects when nothing is stored. */
  async #writeKnown(batch: readonly MessageWrites[], outcomes: Outcomes): Promise<OutcomeUnknown | undefined> {
    try {
      // A transaction of one cell lies on one shard.
      const until = performance.now() + WRITE_MS
      for (const part of Map.groupBy(batch, ({ message }) => cellOf(message._id)).values())
        await this.#writeParts(part, until, outcomes)
      return undefined
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) && outcomes.size === 0) throw error
      this.#log.warn({ err: error, messages: batch.length - outcomes.size }, 'a part of a batch was not stored')
      return error instanceof OutcomeUnknown ? error : undefined
    }
  }

  /** What was stored is added to `outcomes`, and whose key is taken; the rest is unknown. */
  async #writeParts(batch: readonly MessageWrites[], until: number, outcomes: Outcomes): Promise<void> {
    if (batch.length === 0) return
    try {
      await this.#transactions.commit(batch, until)
      for (const { message } of batch) outcomes.set(message._id, 'stored')
    } catch (error) {
      if (error instanceof OutcomeUnknown || isUnavailable(error) || performance.now() >= until) throw error
      await this.#divide(batch, error, until, outcomes)
    }
  }

  async #divide(batch: readonly MessageWrites[], error: unknown, until: number, outcomes: Outcomes): Promise<void> {
    const free = await this.#transactions.bounded(until, withoutTaken(this.#messages, this.#cells, batch, outcomes))
    if (batch.length > 1) for (const part of partsOf(free)) await this.#writeParts(part, until, outcomes)
    else if (free.length === 1) this.#log.warn({ err: error }, 'a message was not stored; it was refused for now')
  }
}

/** By the id of the message. */
type Outcomes = Map<string, Written>

/** A message whose key another message of the batch holds shares the outcome of that one, as taken. */
function resultOf(
  id: string,
  holders: ReadonlyMap<string, string>,
  outcomes: Outcomes,
  unknown: OutcomeUnknown | undefined,
): BatchResult {
  const holder = holders.get(id) ?? id
  const forThis = (written: Written) => (holder !== id && written === 'stored' ? 'key_taken' : written)
  const written = forThis(outcomes.get(holder) ?? 'unknown')
  const later = unknown?.ids.has(holder) ? unknown.outcome.then(forThis) : undefined
  return { written, ...(later && { later }) }
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

/** Mail without a key is never written together with a key that makes trouble; keys are tried by halves. */
function partsOf(batch: readonly MessageWrites[]): (readonly MessageWrites[])[] {
  const plain = batch.filter(({ message }) => !message.idem)
  const keyed = batch.filter(({ message }) => message.idem)
  if (plain.length > 0 && keyed.length > 0) return [plain, keyed]
  const half = Math.ceil(batch.length / 2)
  return [batch.slice(0, half), batch.slice(half)]
}

/** Those whose idempotency key is free; the others are noted. */
async function withoutTaken(
  messages: Collection<MessageDoc>,
  cells: Cells,
  batch: readonly MessageWrites[],
  outcomes: Outcomes,
): Promise<readonly MessageWrites[]> {
  const keys = batch.flatMap(({ message: { user_id, idem } }) => (idem ? [{ user_id, 'idem.key': idem.key }] : []))
  if (keys.length === 0) return batch
  const holders = await messages
    .find({ ...cells.all(), $or: keys }, { projection: { user_id: 1, 'idem.key': 1 } })
    .toArray()
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

/** Removes bodies without a message; if that fails, a sweep does it later. */
async function discard(bodies: Collection<BodyDoc>, cells: Cells, parts: readonly BodyDoc[][]): Promise<void> {
  const ids = parts.flat().map(({ _id }) => _id)
  await withTimeout(WRITE_MS, bodies.deleteMany({ _id: { $in: ids }, ...cells.of(ids) })).catch(() => undefined)
}
