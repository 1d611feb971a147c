/** Reads accepted messages for delivery, in batches, and notes what became of their recipients. */
import { type Collection, collectionOf, type Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { BODIES, bodyId, readBody, unpack } from './bodies.ts'
import { type Cells, cellsOf } from './cells.ts'
import type { BodyDoc, MessageDoc, RecipientStatus } from './documents.ts'
import { MESSAGES } from './messages.ts'

/**
 * A message about to go out. `raw` reads its bytes; undefined when they are gone. `inMemory`: they were read already;
 * otherwise the caller of `raw` bounds what is read in one step.
 */
export interface Outgoing {
  message: OutgoingMessage
  inMemory?: true
  raw(): Promise<Buffer | undefined>
}

/** The fields that delivery works with. */
export type OutgoingMessage = Pick<
  MessageDoc,
  | '_id'
  | 'user_id'
  | 'domain_id'
  | 'via'
  | 'mail_from'
  | 'report_for'
  | 'capture'
  | 'redirected_from'
  | 'message_id'
  | 'size'
  | 'parts'
  | 'rcpts'
  | 'lane'
  | 'list'
  | 'own_fields'
  | 'track'
  | 'from'
  | 'tls_report'
  | 'ambiguous'
  | 'dsn'
  | 'smtputf8'
  | 'created_at'
  | 'exp'
>

const FIELDS = {
  ...{
    user_id: 1,
    domain_id: 1,
    via: 1,
    mail_from: 1,
    report_for: 1,
    capture: 1,
    redirected_from: 1,
    message_id: 1,
    size: 1,
    parts: 1,
    rcpts: 1,
    lane: 1,
    list: 1,
    own_fields: 1,
    track: 1,
    from: 1,
    tls_report: 1,
  },
  ...{ ambiguous: 1, dsn: 1, smtputf8: 1, created_at: 1, exp: 1 },
}

/** Bodies up to this size are read together with their messages; larger ones when their turn comes. */
const TOGETHER_BYTES = 128 * 1024

/** What became of one recipient, for its message. */
export interface RecipientNote {
  messageId: string
  /** Index in `rcpts`. */
  n: number
  status: RecipientStatus
  final: boolean
  code?: number | undefined
  enhanced?: string | undefined
  /** Why it failed: FailureKind of delivery. */
  kind?: string | undefined
  /** The message has one recipient, so that it is final with it. */
  only: boolean
}

/** Messages and bodies of the worker. */
export class Outbox {
  readonly #mongo: Mongo
  readonly #messages: Collection<MessageDoc>
  readonly #bodies: Collection<BodyDoc>
  readonly #cells: Cells
  readonly #logMs: number

  /** `logDays`: how long a message stays after its last recipient is final. */
  constructor(mongo: Mongo, logDays: number) {
    this.#mongo = mongo
    this.#messages = collectionOf(mongo.db, MESSAGES)
    this.#bodies = collectionOf(mongo.db, BODIES)
    this.#cells = cellsOf(mongo.db)
    this.#logMs = logDays * DAY_MS
  }

  /**
   * The messages of these ids, by id; one that was never committed is missing. Small bodies are read with them, up to
   * `mostBytes` together.
   */
  async load(ids: readonly string[], mostBytes = Number.POSITIVE_INFINITY): Promise<Map<string, Outgoing>> {
    const messages = await this.#messages
      .find({ _id: { $in: [...ids] }, ...this.#cells.of(ids) })
      .project<OutgoingMessage>(FIELDS)
      .batchSize(ids.length + 1) // all in one answer: the server's first batch is 101
      .toArray()
    let free = mostBytes
    const small = messages.filter(({ size }) => {
      if (size > TOGETHER_BYTES || size > free) return false
      free -= size
      return true
    })
    const parts = await this.#firstParts(small.map(({ _id }) => _id))
    const bodies = new Map(parts.map(part => [part.m, part]))
    return new Map(messages.map(message => [message._id, this.#outgoing(message, bodies.get(message._id))]))
  }

  /**
   * Notes recipients' states; repeating it changes nothing. `at`: when. A final state stays after late notes of a
   * worker that lost its claim; only "delivered" replaces it, because that is a fact, unless a report decided later.
   */
  async note(notes: readonly RecipientNote[], at: Date): Promise<void> {
    const updates = [...groupAlike(notes), ...notes.filter(note => !note.only).map(note => [note])]
    if (updates.length === 0) return
    await this.#messages.bulkWrite(
      updates.map(group => {
        const [first] = group
        const ids = group.map(({ messageId }) => messageId)
        const filter = { _id: { $in: ids }, ...this.#cells.of(ids) }
        if (!first?.only) return { updateMany: { filter, update: first ? this.#ofMany(first, at) : [] } }
        const open =
          first.status === 'delivered'
            ? { [`rcpts.${first.n}.report`]: { $exists: false } }
            : { [`rcpts.${first.n}.status`]: { $in: OPEN } }
        return { updateMany: { filter: { ...filter, ...open }, update: { $set: this.#ofOnly(first, at) } } }
      }),
      { ordered: false, writeConcern: { w: 'majority', j: true } },
    )
  }

  async #firstParts(ids: readonly string[]): Promise<BodyDoc[]> {
    if (ids.length === 0) return []
    return this.#bodies
      .find({ _id: { $in: ids.map(id => bodyId(id, 0)) }, ...this.#cells.of(ids) })
      .batchSize(ids.length + 1)
      .toArray()
  }

  #outgoing(message: OutgoingMessage, body: BodyDoc | undefined): Outgoing {
    if (!body) return { message, raw: () => readBody(this.#mongo, message._id, message.parts) }
    // A copy where the bytes lie in the server's answer, which they would keep in memory with all its other messages.
    const raw = body.enc ? unpack(body, message.size) : Buffer.from(unpack(body, message.size))
    return { message, inMemory: true, raw: async () => raw }
  }

  #ofOnly({ n, status, code, enhanced, kind, final }: RecipientNote, at: Date): Record<string, unknown> {
    return {
      [`rcpts.${n}.status`]: status,
      [`rcpts.${n}.at`]: at,
      ...(code === undefined ? {} : { [`rcpts.${n}.code`]: code }),
      ...(enhanced === undefined ? {} : { [`rcpts.${n}.enhanced`]: enhanced }),
      ...(kind === undefined ? {} : { [`rcpts.${n}.kind`]: kind }),
      ...(final ? { left: 0, final_at: at, exp: new Date(at.getTime() + this.#logMs) } : {}),
    }
  }

  /** Several recipients: what is left is counted from the recipients, so that a repeated note does not count twice. */
  #ofMany({ n, status, code, enhanced, kind, final }: RecipientNote, at: Date): Record<string, unknown>[] {
    const state = {
      status,
      at,
      ...(code === undefined ? {} : { code }),
      ...(enhanced === undefined ? {} : { enhanced }),
      ...(kind === undefined ? {} : { kind }),
    }
    const meant = { $eq: ['$$i', n] }
    const unreported = { $eq: [{ $type: '$$one.report' }, 'missing'] }
    const mayChange =
      status === 'delivered' ? { $and: [meant, unreported] } : { $and: [meant, { $in: ['$$one.status', OPEN] }] }
    const each = {
      $map: {
        input: { $range: [0, { $size: '$rcpts' }] },
        as: 'i',
        in: {
          $let: {
            vars: { one: { $arrayElemAt: ['$rcpts', '$$i'] } },
            in: { $cond: [mayChange, { $mergeObjects: ['$$one', { $literal: state }] }, '$$one'] },
          },
        },
      },
    }
    const open = { $filter: { input: '$rcpts', as: 'one', cond: { $in: ['$$one.status', OPEN] } } }
    const done = { $eq: ['$left', 0] }
    return [
      { $set: { rcpts: each } },
      { $set: { left: { $size: open } } },
      ...(final
        ? [
            { $set: { final_at: { $cond: [done, { $ifNull: ['$final_at', at] }, '$$REMOVE'] } } },
            { $set: { exp: { $cond: [done, { $add: ['$final_at', this.#logMs] }, '$exp'] } } },
          ]
        : []),
    ]
  }
}

/** States in which a recipient still waits. */
const OPEN: readonly RecipientStatus[] = ['queued', 'scheduled', 'deferred']

/** Messages with one recipient and the same outcome are noted by one statement. */
function groupAlike(notes: readonly RecipientNote[]): RecipientNote[][] {
  const groups = new Map<string, RecipientNote[]>()
  for (const note of notes) {
    if (!note.only) continue
    const key = `${note.status} ${note.code} ${note.enhanced} ${note.kind}`
    const group = groups.get(key)
    if (group) group.push(note)
    else groups.set(key, [note])
  }
  return [...groups.values()]
}
