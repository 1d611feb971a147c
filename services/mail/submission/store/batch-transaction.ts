/** Writes documents of accepted messages in one transaction, acknowledged by a majority with its journal, within a bounded time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import {
  type Collection,
  type CollectionDefinition,
  collectionOf,
  insertAll,
  isCommitUnknown,
  isMongoCode,
  type Mongo,
  type Session,
} from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { BODIES, bodyId } from '../../store/bodies.ts'
import { type Cells, cellsOf } from '../../store/cells.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { BodyDoc, MessageDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { MESSAGES } from '../../store/messages.ts'
import { MAIL_WEBHOOK_EVENTS } from '../../webhooks/store/webhook-collections.ts'
import type { MessageWrites } from './message-documents.ts'

/** Result of a message of a batch; `unknown`: not stored as far as is known. */
export type Written = 'stored' | 'key_taken' | 'unknown'

/** How long an unknown outcome is read back: an election takes seconds, a commit that waits for a majority may take longer. */
export const READ_BACK_MS = 60_000
const READ_BACK_PAUSE_MS = 250
/** A transaction that meets another one this often is given up; left to itself the driver would try for two minutes. */
const CONFLICTS = 2
const WRITE_CONFLICT = 112
/** Writes that no caller waits for any more and that have not ended: no more of them than this, because they hold memory. */
const ABANDONED = 2

/** The commit was under way when the answer failed to come. */
export class OutcomeUnknown extends Error {
  /** The messages of the batch. */
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

/** The transactions of one process. */
export class BatchTransactions {
  readonly #mongo: Mongo
  readonly #log: Log
  readonly #messages: Collection<MessageDoc>
  readonly #bodies: Collection<BodyDoc>
  readonly #cells: Cells
  #abandoned = 0

  constructor({ mongo, log }: { mongo: Mongo; log: Log }) {
    this.#mongo = mongo
    this.#log = log
    this.#messages = collectionOf(mongo.db, MESSAGES)
    this.#bodies = collectionOf(mongo.db, BODIES)
    this.#cells = cellsOf(mongo.db)
  }

  /** True while too many writes of earlier batches have not ended. */
  get isBlocked(): boolean {
    return this.#abandoned >= ABANDONED
  }

  /** Waits for a write until a time (performance.now()); counts it while it goes on without us. */
  async bounded<T>(until: number, work: Promise<T>): Promise<T> {
    try {
      return await withTimeout(until - performance.now(), work)
    } catch (error) {
      this.#abandoned++
      const ended = () => void this.#abandoned--
      work.then(ended, ended) // immediately, when it was the work that failed
      throw error
    }
  }

  /** Rejects when nothing is stored, or with {@link OutcomeUnknown} when that is not known yet. */
  async commit(batch: readonly MessageWrites[], until: number): Promise<void> {
    const state = { hasBegunCommit: false, isGivenUp: false }
    const written = this.#write(batch, state)
    try {
      await this.bounded(until, written)
    } catch (error) {
      state.isGivenUp = true
      if (!state.hasBegunCommit) throw error
      this.#log.warn({ err: error, messages: batch.length }, 'outcome of a write unknown; reading it back')
      throw new OutcomeUnknown(error, batch, readBack(this.#messages, this.#cells, batch, written))
    }
  }

  /** `state.hasBegunCommit`: in one of the runs; `state.isGivenUp`: no caller waits for it any more. */
  #write(batch: readonly MessageWrites[], state: { hasBegunCommit: boolean; isGivenUp: boolean }): Promise<void> {
    let conflicts = 0
    const requireCaller = () => {
      if (state.isGivenUp) throw new Error('no caller waits for this write any more')
    }
    return this.#mongo.transaction(
      async session => {
        if (conflicts === CONFLICTS) throw new Contended()
        await requireStaged(this.#bodies, this.#cells, batch, session)
        for (const [collection, documents] of documentsOf(batch)) {
          requireCaller()
          await insertAll(this.#mongo.db, collection, documents, session).catch((error: unknown) => {
            if (isMongoCode(error, WRITE_CONFLICT)) conflicts++
            throw error
          })
        }
        requireCaller()
        state.hasBegunCommit = true
      },
      { maxCommitTimeMS: READ_BACK_MS },
    )
  }
}

/**
 * Rejects when a part that was stored ahead of the transaction is gone. A worker of release 0.1.0 removes parts without a message
 * after 10 minutes, and a message may come in for longer; it must be refused instead of accepted without its content.
 */
async function requireStaged(
  bodies: Collection<BodyDoc>,
  cells: Cells,
  batch: readonly MessageWrites[],
  session: Session,
): Promise<void> {
  const ids = batch.flatMap(({ message: { _id, parts }, bodies: { length } }) =>
    Array.from({ length: parts - length }, (_, n) => bodyId(_id, length + n)),
  )
  if (ids.length === 0) return
  const found = await bodies.countDocuments({ _id: { $in: ids }, ...cells.of(ids) }, { session, hint: { _id: 1 } })
  if (found < ids.length) throw new Error(`${ids.length - found} stored parts of a message are gone`)
}

function documentsOf(batch: readonly MessageWrites[]): [CollectionDefinition<object>, object[]][] {
  return [
    [BODIES, batch.flatMap(({ bodies }) => bodies)],
    [DELIVERIES, batch.flatMap(({ deliveries }) => deliveries)],
    [EVENTS, batch.flatMap(({ events }) => events)],
    ...inParts(batch.flatMap(({ webhookEvents = [] }) => webhookEvents)).map(
      (part): [CollectionDefinition<object>, object[]] => [MAIL_WEBHOOK_EVENTS, part],
    ),
    [MESSAGES, batch.map(({ message }) => message)],
  ]
}

/** Events for webhooks in one command: of at most 20 KB each, they stay far below the 16 MiB of a command. */
const EVENTS_AT_ONCE = 500

function inParts<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / EVENTS_AT_ONCE) }, (_, n) =>
    all.slice(n * EVENTS_AT_ONCE, (n + 1) * EVENTS_AT_ONCE),
  )
}

/**
 * What became of a batch whose commit had begun: all of it is stored or nothing. `written`: the driver's own attempt, which
 * may still be under way. As long as it is, that nothing is found proves nothing. Never rejects.
 */
async function readBack(
  messages: Collection<MessageDoc>,
  cells: Cells,
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
      const filter = { _id: { $in: ids }, ...cells.of(ids) }
      const found = messages.findOne(filter, { readConcern: 'majority', projection: { _id: 1 } })
      if ((await withTimeout(left, found)) !== null) return 'stored'
      if (hasFailed) return 'unknown'
    } catch {
      // The set has no primary, or does not answer: asked again.
    }
    if (attempt.state === 'stored') return 'stored'
    await sleep(READ_BACK_PAUSE_MS)
  }
  return 'unknown'
}
