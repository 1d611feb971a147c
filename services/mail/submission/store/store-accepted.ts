/** Stores accepted messages: submissions that wait at one moment are stored together, within bounds of time and memory. */

import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type PackedPart, packInTurns } from '../../store/bodies.ts'
import { READ_BACK_MS, type Written } from './batch-transaction.ts'
import { type MessageWrites, type NewMessage, type Placement, toWrites } from './message-documents.ts'
import { BATCH_BYTES, type BatchResult, createWriteBatch } from './write-batch.ts'

/** Result of a message: durable, refused by its idempotency key, or not accepted as far as is known. */
export type Enqueued = { kind: 'stored' } | { kind: 'key_taken' } | { kind: 'unavailable'; reason: Sentence }

/** Stores one message durably. Never rejects; bounded in time and memory. */
export type Enqueue = (message: NewMessage) => Promise<Enqueued>

/** Dependencies of {@link createEnqueue}. */
export interface EnqueueOptions extends Placement {
  mongo: Mongo
  log: Log
  metrics: Pick<Metrics, 'mongoSeconds'>
  /** Called after each durable batch with slot and flow of each new delivery that is due: a hint, may do nothing. */
  wake(slots: readonly number[], flows: readonly string[]): void
  /** The events for webhooks that are stored with these messages, by message; default none. */
  webhookEvents?(
    writes: readonly MessageWrites[],
  ): Promise<ReadonlyMap<string, NonNullable<MessageWrites['webhookEvents']>>>
  /** Most bytes of messages waiting for the database; above, messages are refused immediately. */
  maxWaitingBytes?: number
}

/** Typed here: an inferred `Map<any, any>` beside the type of the option compiles in some orders of files only. */
const noEvents: NonNullable<EnqueueOptions['webhookEvents']> = async () => new Map()

/** Bytes that may wait: some seconds of input at full speed, far below the memory of the process. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024
/** When a batch is closed, and how long the callers of the last one are waited for. */
const BATCH = { most: 500, mostBytes: BATCH_BYTES, flights: 1, gatherMs: 12, gatherRate: 500 }
/** What a message adds to its octets: its own document, and for each recipient a delivery and its state. */
const MESSAGE_BYTES = 2_000
const RECIPIENT_BYTES = 1_000
/** Bodies of more octets are compressed in turns, before their batch is formed. */
const LARGE_BYTES = 2 * 1024 * 1024
/** Longest look-up of the webhooks of accounts, which are rarely not in memory. */
const LOOKUP_MS = 2_000
/** After a failed write, submissions are refused immediately for this time instead of piling up before the next failure. */
const PAUSE_MS = 500

/**
 * How long a caller waits for an outcome that is unknown: an SMTP client has 10 minutes after its final dot (RFC 5321
 * 4.5.3.2.6), and what it is refused although it was stored arrives twice; HTTP clients give up after seconds, and have
 * idempotency keys.
 */
const OUTCOME_MS = { smtp: READ_BACK_MS, http: 5_000, system: 5_000 } as const

const UNAVAILABLE: Enqueued = { kind: 'unavailable', reason: sentence('detail.database_unavailable') }
const UNKNOWN: BatchResult = { written: 'unknown' }
const OUTCOMES: Record<Written, Enqueued> = {
  stored: { kind: 'stored' },
  key_taken: { kind: 'key_taken' },
  unknown: UNAVAILABLE,
}

/** Makes the function that stores messages. One per process and database. */
export function createEnqueue(options: EnqueueOptions): Enqueue {
  const { mongo, log, metrics, wake, maxWaitingBytes: limit = MAX_WAITING_BYTES } = options
  const { webhookEvents = noEvents } = options
  const writeBatch = createWriteBatch(options)
  let waiting = 0
  let pausedUntil = 0
  const mayWrite = () => mongo.isUp() && performance.now() >= pausedUntil

  const wakeFor = (stored: readonly MessageWrites[]) => {
    const ready = stored
      .flatMap(({ deliveries }) => deliveries)
      .flatMap(({ slot, flow }) => (flow ? [{ slot, flow }] : []))
    if (ready.length > 0)
      wake(
        ready.map(({ slot }) => slot),
        ready.map(({ flow }) => flow),
      )
  }
  const pause = () => {
    pausedUntil = performance.now() + PAUSE_MS
  }

  const write = async (batch: readonly MessageWrites[]): Promise<readonly BatchResult[]> => {
    const started = performance.now()
    const results = await writeBatch(batch)
    metrics.mongoSeconds.observe({ collection: 'messages' }, (performance.now() - started) / 1000)
    wakeFor(batch.filter((_, index) => results[index]?.written === 'stored'))
    if (results.some(({ later }) => later)) pause()
    return results.map(({ written, later }, index) => ({
      written,
      ...(later && {
        later: later.then(outcome => {
          const one = batch[index]
          if (one && outcome === 'stored') wakeFor([one])
          return outcome
        }),
      }),
    }))
  }

  const commit = createGroupCommit<Packed, BatchResult>({
    ...BATCH,
    sizeOf: ({ message }) => sizeOf(message),
    async write(batch) {
      if (!mayWrite()) return batch.map(() => UNKNOWN)
      try {
        const writes = batch.map(({ message, packed }) => toWrites(message, options, packed))
        const queued = await withTimeout(LOOKUP_MS, webhookEvents(writes))
        return await write(
          writes.map(one => {
            const events = queued.get(one.message._id)
            return events ? { ...one, webhookEvents: events } : one
          }),
        )
      } catch (error) {
        pause()
        log.warn({ err: error, messages: batch.length }, 'messages not stored; they were refused for now')
        return batch.map(() => UNKNOWN)
      }
    },
  })

  const outcomeOf = async ({ written, later }: BatchResult, { via }: NewMessage): Promise<Enqueued> => {
    const known = later ? await withTimeout(OUTCOME_MS[via.channel], later).catch(() => written) : written
    return OUTCOMES[known]
  }

  return async message => {
    const size = message.raw.length
    if (!mayWrite()) return UNAVAILABLE
    if (waiting + size > limit) return { kind: 'unavailable', reason: sentence('detail.queue_full') }
    waiting += size
    try {
      const packed = size > LARGE_BYTES ? await packInTurns(message.raw) : undefined
      return await outcomeOf(await commit({ message, packed }), message)
    } finally {
      waiting -= size
    }
  }
}

/** A message, and the parts of its body if they were compressed already. */
interface Packed {
  message: NewMessage
  packed: readonly PackedPart[] | undefined
}

/** About how much of a batch a message is. Only an estimate: what does not fit together is written in parts. */
function sizeOf({ raw, recipients, tags, metadata, idem }: NewMessage): number {
  const more = (tags || metadata || idem) && 3 * JSON.stringify([tags, metadata, idem?.answer]).length
  return raw.length + MESSAGE_BYTES + recipients.length * RECIPIENT_BYTES + (more ?? 0)
}
