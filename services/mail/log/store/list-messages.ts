/** Lists of the delivery log, always within one account: pages, bounded counts, and what an export reads. */
import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { cellsOf } from '../../store/cells.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { MESSAGES, STATUS_INDEX } from '../../store/messages.ts'
import { blocksWithAll } from './find-blocks.ts'
import { type BlockPlace, LogBlocks } from './log-blocks.ts'
import {
  filterTerms,
  type IdBounds,
  idBounds,
  indexedRecipient,
  isImpossible,
  isSelective,
  type LogFilters,
  toMatch,
  toRange,
} from './log-filters.ts'

/** Which part of a list is read. */
export interface LogPart {
  limit: number
  /** Id of the last message that the caller has, in this order. */
  after?: string | undefined
  /** Newest first by default. */
  order?: 'asc' | 'desc' | undefined
}

/** A page of messages. `next` is the cursor after everything that was read, or null at the end. */
export interface LogPage {
  messages: MessageDoc[]
  next: string | null
}

/** Messages that one page looks at when a filter applies that no index leads to, or that are not indexed yet. */
const SCAN = 10_000
const MAX_MS = 5_000
/** A page that has searched for this time ends with a cursor for the next one. */
const PAGE_MS = 60

/** How far a page looks. For tests. */
export interface LogBounds {
  scan?: number
  pageMs?: number
  /** Messages within the bounds that are read as a whole; default 500. */
  few?: number
  /** Reads only the ids of messages. */
  idsOnly?: boolean
}

/**
 * Lists an account's messages by time, after the cursor `after`. A status that wants attention and a class of
 * failures are read from their index. Terms of the other filters (recipient, sender, domain, tag, token, Message-ID,
 * words) lead to the blocks of the log that have them; newer messages than the newest block, and filters without a term,
 * are searched. Few messages are searched as a whole. A page can be short although there are more: follow `next`.
 */
export async function listMessages(
  db: Db,
  userId: string,
  filters: LogFilters,
  { limit, after, order = 'desc' }: LogPart,
  { scan = SCAN, pageMs = PAGE_MS, few = FEW, idsOnly = false }: LogBounds = {},
): Promise<LogPage> {
  if (isImpossible(filters)) return { messages: [], next: null }
  const bounds = idBounds(filters, after, order)
  const terms = filterTerms(userId, filters)
  const byStatus = terms.length === 0 || !isSelective(filters) ? indexedRecipient(filters) : undefined
  const search = createSearch(db, userId, filters, { limit, idsOnly, byStatus, order })
  if (byStatus || terms.length === 0) return toPage(await search(bounds, scan), limit)
  // On shards the index has no cell, so that messages would have to be read to tell whose they are.
  const isTried = few > 0 && few <= scan && !cellsOf(db).isNamed
  const isShort = isTried && (await hasAtMost(db, userId, bounds, few))
  if (isShort) return toPage(await search(bounds, Number.POSITIVE_INFINITY), limit)
  const through = order === 'asc' ? listUpwards : listDownwards
  return through(db, search, { terms, bounds, limit, scan, until: performance.now() + pageMs })
}

/** So many messages are read as a whole: that takes less than finding the blocks that have words of them. */
const FEW = 500

/** True when an account has at most so many messages within the bounds. Reads as many keys, and no message. */
async function hasAtMost(db: Db, userId: string, bounds: IdBounds, most: number): Promise<boolean> {
  const range = { user_id: userId, ...toRange(bounds) }
  const options = { skip: most, projection: { _id: 1 }, hint: { user_id: 1, _id: -1 }, maxTimeMS: MAX_MS } as const
  const beyond = await collectionOf(db, MESSAGES).findOne(range, options)
  return beyond === null
}

interface BlockSearch {
  terms: readonly number[]
  bounds: IdBounds
  limit: number
  scan: number
  /** When the search ends, as `performance.now()` counts. */
  until: number
}

/** Searches what is newer than the newest block, then the blocks that have the terms, from the newest on. */
async function listDownwards(
  db: Db,
  search: ReturnType<typeof createSearch>,
  { terms, bounds, limit, scan, until }: BlockSearch,
): Promise<LogPage> {
  const indexed = (await new LogBlocks(db).newest())?.last
  const newer = await search({ ...bounds, above: indexed }, scan)
  if (newer.found.length > limit || newer.next !== null) return toPage(newer, limit)
  if (indexed === undefined) return toPage(newer, limit)
  const { found } = newer
  for await (const { places, next } of blocksWithAll(db, terms, bounds, 'desc')) {
    for (const { above, first, last } of upTo(places, indexed)) {
      const part = await search({ ...bounds, above, last }, Number.POSITIVE_INFINITY, found.length)
      found.push(...part.found)
      if (found.length > limit || performance.now() > until) return toPage({ found, next: first }, limit)
    }
    if (next !== null && performance.now() > until) return toPage({ found, next }, limit)
  }
  return toPage({ found, next: null }, limit)
}

/** The blocks that have the terms, from the oldest on, then what is newer than the newest block. */
async function listUpwards(
  db: Db,
  search: ReturnType<typeof createSearch>,
  { terms, bounds, limit, scan, until }: BlockSearch,
): Promise<LogPage> {
  const indexed = (await new LogBlocks(db).newest())?.last
  const found: MessageDoc[] = []
  for await (const { places, next } of blocksWithAll(db, terms, bounds, 'asc')) {
    for (const { above, last } of upTo(places, indexed)) {
      const within = { ...bounds, above: highest(bounds.above, above), last }
      const part = await search(within, Number.POSITIVE_INFINITY, found.length)
      found.push(...part.found)
      if (found.length > limit || performance.now() > until) return toPage({ found, next: last }, limit)
    }
    if (next !== null && performance.now() > until) return toPage({ found, next }, limit)
  }
  const newer = await search({ ...bounds, above: highest(bounds.above, indexed) }, scan, found.length)
  return toPage({ found: [...found, ...newer.found], next: newer.next }, limit)
}

/** Without blocks that were added since `indexed` was read: their messages are searched as not indexed. */
function upTo(places: readonly BlockPlace[], indexed: string | undefined): readonly BlockPlace[] {
  return places.filter(({ last }) => indexed !== undefined && last <= indexed)
}

function highest(a: string | undefined, b: string | undefined): string | undefined {
  return a !== undefined && (b === undefined || a > b) ? a : b
}

/** At most this many messages are counted. */
const COUNT_MOST = 1_000
/** A count that has searched for this time ends. */
const COUNT_MS = 250

/** How many messages match, at most {@link COUNT_MOST}. `more`: there are, or may be, further ones. */
export async function countMessages(
  db: Db,
  userId: string,
  filters: LogFilters,
  bounds: LogBounds = {},
): Promise<{ count: number; more: boolean }> {
  const until = { pageMs: COUNT_MS, ...bounds, idsOnly: true }
  const { messages, next } = await listMessages(db, userId, filters, { limit: COUNT_MOST }, until)
  return { count: messages.length, more: next !== null }
}

/** The search for the ids of an export ends after this time; the export goes on with its cursor. */
const EXPORT_MS = 2_000
/** Messages that an export reads at a time. */
const EXPORT_PAGE = 500

/** Ids of up to `limit` messages that match, after the cursor `after`, and the cursor of what remains; null at the end. */
export async function idsToExport(
  db: Db,
  userId: string,
  filters: LogFilters,
  page: { limit: number; after?: string | undefined },
): Promise<{ ids: string[]; next: string | null }> {
  const { messages, next } = await listMessages(db, userId, filters, page, { pageMs: EXPORT_MS, idsOnly: true })
  return { ids: messages.map(({ _id }) => _id), next }
}

/** These messages of an account, in the order of the ids; those that were removed in the meantime are left out. */
export async function* messagesOf(db: Db, userId: string, ids: readonly string[]): AsyncGenerator<MessageDoc> {
  for (let from = 0; from < ids.length; from += EXPORT_PAGE) {
    const part = ids.slice(from, from + EXPORT_PAGE)
    yield* collectionOf(db, MESSAGES)
      .find({ _id: { $in: part }, ...cellsOf(db).of(part), user_id: userId }, { maxTimeMS: MAX_MS })
      .sort({ _id: -1 })
      .batchSize(EXPORT_PAGE + 1)
  }
}

/** Messages that match, and the cursor after all that was read, or null when that was everything. */
interface Searched {
  found: MessageDoc[]
  next: string | null
}

interface SearchOptions {
  limit: number
  idsOnly: boolean
  /** Condition of the index of statuses, when that serves the search. */
  byStatus: object | undefined
  order: 'asc' | 'desc'
}

/** Looks through a range of an account's messages in an order: at `scan` of them, for one more than `limit`. */
function createSearch(db: Db, userId: string, filters: LogFilters, { limit, idsOnly, byStatus, order }: SearchOptions) {
  const sort = { _id: order === 'asc' ? (1 as const) : (-1 as const) }
  const messages = collectionOf(db, MESSAGES)
  const { rcpts, ...others } = toMatch(filters)
  const match = byStatus ? others : { ...others, ...(rcpts ? { rcpts } : {}) }
  const options = { maxTimeMS: MAX_MS, ...(byStatus ? { hint: STATUS_INDEX } : {}) }
  const fields = idsOnly ? { projection: { _id: 1 } as const } : {}
  return async (bounds: IdBounds, scan: number, have = 0): Promise<Searched> => {
    const range = { user_id: userId, ...byStatus, ...toRange(bounds) }
    const wanted = limit + 1 - have
    if (Object.keys(match).length === 0 || scan === Number.POSITIVE_INFINITY) {
      const cursor = messages
        .find({ ...range, ...match }, { ...options, ...fields })
        .sort(sort)
        .limit(wanted)
      return { found: await cursor.batchSize(wanted + 1).toArray(), next: null }
    }
    const stages = [
      ...[{ $match: range }, { $sort: sort }, { $limit: scan }, { $match: match }, { $limit: wanted }],
      ...(idsOnly ? [{ $project: { _id: 1 } }] : []),
    ]
    const found = await messages.aggregate<MessageDoc>(stages, options).toArray()
    if (found.length === wanted) return { found, next: null }
    const last = await messages.findOne(range, {
      ...options,
      sort,
      skip: scan - 1,
      projection: { _id: 1 },
    })
    return { found, next: last?._id ?? null }
  }
}

function toPage({ found, next }: Searched, limit: number): LogPage {
  if (found.length <= limit) return { messages: found, next }
  const messages = found.slice(0, limit)
  return { messages, next: messages.at(-1)?._id ?? null }
}
