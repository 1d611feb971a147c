/**
 * The search index of the message log: a block for every 250 messages, of all accounts in the order of their ids, with
 * the terms of those messages. Made in the background from the messages, so that acceptance writes nothing for it; what
 * many messages have in common is in a block once. The blocks lie side by side: each begins where the one before ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Collection,
  collectionOf,
  type Db,
  defineCollection,
  isDuplicateKey,
} from '../../../platform/database/mongo.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { hashTerm, messageTerms } from '../rules/search-terms.ts'

/** A block. It covers the ids above `above`, up to and including `last`. */
export interface LogBlockDoc {
  /** Counts the blocks: a number makes keys of the index a third of what ids of messages make them. */
  _id: number
  /** `last` of the block before; empty in the very first one. */
  above: string
  first: string
  last: string
  /** Messages of the block when its terms were gathered. */
  messages: number
  /** Hashed terms with their accounts, each with the number of the block's span, see {@link keyOf}. */
  terms: number[]
  /** {@link VERSION} of its terms; absent: 1. */
  version?: number
  /** How often it was compared with its messages. */
  checks: number
  check_at: Date
}

/** Blocks: found by term from the newest on, or by the id of a message. */
export const LOG_BLOCKS = defineCollection<LogBlockDoc>('log_blocks', [
  { key: { terms: 1, _id: -1 } },
  { key: { last: 1 } },
  { key: { check_at: 1 } },
])

/** Another one when messages get further terms: blocks of an earlier one get theirs when they are next compared. */
const VERSION = 3
/** Messages of a block: what a rare term makes a search read. */
const BLOCK = 250
/** A block with this many terms (messages with many recipients) ends early. */
const TERMS_MOST = 10_000
/** Ids are made before their messages are stored: younger ones are not indexed yet. */
const LAG_MS = 10_000
/**
 * When a block is compared with its messages again: a process with a slow clock, or a large message that arrives
 * slowly, has an id in an existing block. Later once a day, to remove blocks whose messages are deleted.
 */
const CHECKS_MS = [2 * MINUTE_MS, 15 * MINUTE_MS, 120 * MINUTE_MS]
const DAILY_MS = DAY_MS
/**
 * Keys of this many blocks are side by side in the index, by their span first. Hashes alone would dirty all of the index
 * between two checkpoints of the database, which costs it five times as much with 2,000,000 messages.
 */
export const SPAN = 256

/** The span of a block. */
export const spanOf = (block: number) => Math.floor(block / SPAN)

/** The key of a term in a span of blocks: 32 bits of hash below the span. */
export function keyOf(span: number, term: number): number {
  return span * 2 ** 32 + (term >>> 0)
}

/** What a block with this number stores of its hashed terms. */
export function keysOf(block: number, terms: Iterable<number>): number[] {
  return Array.from(terms, term => keyOf(spanOf(block), term))
}

const FIELDS = {
  ...{ user_id: 1, from: 1, subject: 1, message_id: 1, 'rcpts.email': 1, tags: 1, 'template.id': 1, 'via.id': 1 },
} as const
type Indexed = Pick<
  MessageDoc,
  '_id' | 'user_id' | 'from' | 'subject' | 'message_id' | 'rcpts' | 'tags' | 'template' | 'via'
>

/** Bounds of a run of {@link indexLog}. */
export interface IndexRun {
  now: Date
  /** Aborted when the process drains. */
  signal: AbortSignal
  /** A run ends after this time; the next one goes on. */
  mostMs: number
}

/**
 * Makes the blocks that are missing, the oldest first, and checks those whose time has come. Answers how many blocks it
 * wrote. Several processes may run it in parallel: a block has one place and is written once.
 */
export async function indexLog(db: Db, { now, signal, mostMs }: IndexRun): Promise<number> {
  const until = performance.now() + mostMs
  const goOn = () => !signal.aborted && performance.now() < until
  const blocks = new LogBlocks(db)
  let written = 0
  while (goOn()) {
    const started = performance.now()
    const block = await gather(db, await blocks.newest(), now)
    if (!block) break
    if (await blocks.add(block)) written++
    await sleep(performance.now() - started) // half of the time is left to others: after an upgrade there are many
  }
  return written + (await checkBlocks(db, blocks, now, goOn))
}

/** Checks the blocks whose time has come; answers how many it wrote. */
async function checkBlocks(db: Db, blocks: LogBlocks, now: Date, goOn: () => boolean): Promise<number> {
  let written = 0
  while (goOn()) {
    const due = await blocks.due(now)
    if (due.length === 0) break
    for (const block of due) {
      const started = performance.now()
      const changed = await check(db, blocks, block, now)
      written += changed
      // After an upgrade all blocks change within a day: half of the time is left to others here, too.
      if (changed > 0) await sleep(performance.now() - started)
      if (!goOn()) break
    }
  }
  return written
}

/** The block after the newest one, or undefined while there are not enough messages for it. */
async function gather(db: Db, newest: BlockPlace | undefined, now: Date): Promise<LogBlockDoc | undefined> {
  const above = newest?.last ?? ''
  const cursor = collectionOf(db, MESSAGES)
    .find({ _id: { $gt: above, $lt: firstIdAt(new Date(now.getTime() - LAG_MS)) } })
    .sort({ _id: 1 })
    .limit(BLOCK)
    .batchSize(BLOCK + 1)
    .project<Indexed>(FIELDS)
  const messages = await cursor.toArray()
  const terms = new Set<number>()
  let count = 0
  for (const message of messages) {
    count++
    addTerms(terms, message)
    if (terms.size >= TERMS_MOST) break
  }
  const [first, last] = [messages[0]?._id, messages[count - 1]?._id]
  if (!first || !last || (count < BLOCK && terms.size < TERMS_MOST)) return undefined
  const check_at = new Date(now.getTime() + (CHECKS_MS[0] ?? 0))
  const _id = (newest?._id ?? 0) + 1
  return { _id, above, first, last, messages: count, terms: keysOf(_id, terms), version: VERSION, checks: 0, check_at }
}

function addTerms(terms: Set<number>, message: Indexed): void {
  for (const term of messageTerms(message)) terms.add(hashTerm(message.user_id, term))
}

/** Compares a block with its messages: gathers its terms again when there are more, removes it when there is none. */
async function check(db: Db, blocks: LogBlocks, block: LogBlockDoc, now: Date): Promise<number> {
  const range = { _id: { $gt: block.above, $lte: block.last } }
  const messages = collectionOf(db, MESSAGES)
  const count = await messages.countDocuments(range)
  if (count === 0 && block.checks >= CHECKS_MS.length) {
    await blocks.remove(block)
    return 0
  }
  const check_at = new Date(now.getTime() + (CHECKS_MS[block.checks + 1] ?? DAILY_MS))
  const checked = { checks: block.checks + 1, check_at, messages: count }
  if (count <= block.messages && (block.version ?? 1) >= VERSION) {
    await blocks.update(block, checked)
    return 0
  }
  const terms = new Set<number>()
  let first = block.first
  for await (const message of messages.find(range).project<Indexed>(FIELDS)) {
    addTerms(terms, message)
    if (message._id < first) first = message._id
  }
  await blocks.update(block, { ...checked, first, terms: keysOf(block._id, terms), version: VERSION })
  return 1
}

/** Where a block is. */
export type BlockPlace = Pick<LogBlockDoc, '_id' | 'above' | 'first' | 'last'>

/** The fields of a place. */
export const PLACE = { above: 1, first: 1, last: 1 } as const

/** Reads and writes of blocks. */
export class LogBlocks {
  readonly #blocks: Collection<LogBlockDoc>

  constructor(db: Db) {
    this.#blocks = collectionOf(db, LOG_BLOCKS)
  }

  /** The newest block: what is above its `last` is not indexed. */
  async newest(): Promise<BlockPlace | undefined> {
    return (await this.#blocks.findOne({}, { sort: { _id: -1 }, projection: PLACE })) ?? undefined
  }

  /** Adds a block; answers false when another process has added one in its place. */
  async add(block: LogBlockDoc): Promise<boolean> {
    try {
      await this.#blocks.insertOne(block)
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  /** Some of the blocks that are to be checked. */
  due(now: Date): Promise<LogBlockDoc[]> {
    const options = { projection: { terms: 0 }, sort: { check_at: 1 }, limit: 100 } as const
    return this.#blocks.find({ check_at: { $lte: now } }, options).toArray()
  }

  async update({ _id }: BlockPlace, change: Partial<LogBlockDoc>): Promise<void> {
    await this.#blocks.updateOne({ _id }, { $set: change })
  }

  async remove({ _id }: BlockPlace): Promise<void> {
    await this.#blocks.deleteOne({ _id })
  }
}
