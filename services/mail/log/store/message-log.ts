/** Reads of the delivery log, always within one account: lists, one message, its deliveries and its events. */
import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { isFrom } from '../../message/address.ts'
import { BODIES, bodyId } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import type { DeliveryDoc, EventDoc, MessageDoc } from '../../store/documents.ts'
import { EVENTS, eventsOfMessage } from '../../store/events.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { LogBlocks } from './log-blocks.ts'
import { filterTerms, type IdBounds, idBounds, type LogFilters, toMatch, toRange } from './log-filters.ts'

/** A page of messages. `next` is the cursor after everything that was read, or null at the end. */
export interface LogPage {
  messages: MessageDoc[]
  next: string | null
}

/** Messages that one page looks at when a filter applies that no term leads to, or that are not indexed yet. */
const SCAN = 10_000
const MAX_MS = 5_000
/** A page that has searched for this time ends with a cursor for the next one. */
const PAGE_MS = 60

/** How far a page looks. For tests. */
export interface LogBounds {
  scan?: number
  pageMs?: number
}

/**
 * Lists an account's messages, newest first, after the cursor `after`. Terms of the filters (recipient, sender, domain,
 * tag, Message-ID, words) lead to the blocks of the log that have them; newer messages than the newest block, and
 * filters without a term, are searched. A page can be short although there are more: follow `next`.
 */
export async function listMessages(
  db: Db,
  userId: string,
  filters: LogFilters,
  { limit, after }: { limit: number; after?: string | undefined },
  { scan = SCAN, pageMs = PAGE_MS }: LogBounds = {},
): Promise<LogPage> {
  const search = createSearch(db, userId, filters, limit)
  const bounds = idBounds(filters, after)
  const terms = filterTerms(userId, filters)
  if (terms.length === 0) return toPage(await search(bounds, scan), limit)
  const until = performance.now() + pageMs
  const blocks = new LogBlocks(db)
  const indexed = (await blocks.newest())?.last
  const newer = await search({ ...bounds, above: indexed }, scan)
  if (newer.found.length > limit || newer.next !== null) return toPage(newer, limit)
  if (indexed === undefined) return toPage(newer, limit)
  const { found } = newer
  for await (const { places, next } of blocks.withAll(terms, bounds)) {
    for (const { above, first, last } of places) {
      const part = await search({ ...bounds, above, last }, Number.POSITIVE_INFINITY, found.length)
      found.push(...part.found)
      if (found.length > limit || performance.now() > until) return toPage({ found, next: first }, limit)
    }
    if (next !== null && performance.now() > until) return toPage({ found, next }, limit)
  }
  return toPage({ found, next: null }, limit)
}

/** Messages that match, and the cursor after all that was read, or null when that was everything. */
interface Searched {
  found: MessageDoc[]
  next: string | null
}

/** Looks through a range of an account's messages, newest first: at `scan` of them, for one more than `limit`. */
function createSearch(db: Db, userId: string, filters: LogFilters, limit: number) {
  const messages = collectionOf(db, MESSAGES)
  const match = toMatch(filters)
  const options = { maxTimeMS: MAX_MS }
  return async (bounds: IdBounds, scan: number, have = 0): Promise<Searched> => {
    const range = { user_id: userId, ...toRange(bounds) }
    const wanted = limit + 1 - have
    if (Object.keys(match).length === 0 || scan === Number.POSITIVE_INFINITY) {
      const cursor = messages
        .find({ ...range, ...match }, options)
        .sort({ _id: -1 })
        .limit(wanted)
      return { found: await cursor.batchSize(wanted + 1).toArray(), next: null }
    }
    const stages = [{ $match: range }, { $sort: { _id: -1 } }, { $limit: scan }, { $match: match }, { $limit: wanted }]
    const found = await messages.aggregate<MessageDoc>(stages, options).toArray()
    if (found.length === wanted) return { found, next: null }
    const last = await messages.findOne(range, {
      ...options,
      sort: { _id: -1 },
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

/** A message of this account. */
export async function findMessage(db: Db, userId: string, id: string): Promise<MessageDoc | undefined> {
  return (await collectionOf(db, MESSAGES).findOne({ _id: id, user_id: userId })) ?? undefined
}

/** Sorts ids of deliveries and events of one message by their numbers: the tenth recipient after the second. */
const byNumber = new Intl.Collator('en', { numeric: true }).compare

/** What of a message is still to be delivered, in the order of its recipients. */
export async function deliveriesOf(db: Db, messageId: string): Promise<DeliveryDoc[]> {
  const found = await collectionOf(db, DELIVERIES).find(eventsOfMessage(messageId), { maxTimeMS: MAX_MS }).toArray()
  return found.toSorted((a, b) => byNumber(a._id, b._id))
}

/** All attempts of a message, oldest first; of one moment in the order of its recipients. */
export async function eventsOf(db: Db, messageId: string): Promise<EventDoc[]> {
  const found = await collectionOf(db, EVENTS).find(eventsOfMessage(messageId), { maxTimeMS: MAX_MS }).toArray()
  return found.toSorted((a, b) => a.at.getTime() - b.at.getTime() || byNumber(a._id, b._id))
}

/** An account's events from a time on, oldest first, without their conversations. */
export function eventsSince(db: Db, userId: string, since: Date, limit: number): Promise<EventDoc[]> {
  return collectionOf(db, EVENTS)
    .find({ user_id: userId, at: { $gte: since } }, { projection: { conversation: 0 }, maxTimeMS: MAX_MS })
    .sort({ at: 1 })
    .limit(limit)
    .toArray()
}

/** An account's messages accepted from a time on, oldest first. */
export function messagesSince(
  db: Db,
  userId: string,
  since: Date,
  limit: number,
): Promise<Pick<MessageDoc, '_id' | 'rcpts' | 'created_at' | 'scheduled_at'>[]> {
  return collectionOf(db, MESSAGES)
    .find({ user_id: userId, _id: { $gte: firstIdAt(since) } }, { maxTimeMS: MAX_MS })
    .project<Pick<MessageDoc, '_id' | 'rcpts' | 'created_at' | 'scheduled_at'>>({
      rcpts: 1,
      created_at: 1,
      scheduled_at: 1,
    })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray()
}

/** True while the bytes of a message are kept. */
export async function hasBody(db: Db, messageId: string): Promise<boolean> {
  return (await collectionOf(db, BODIES).findOne({ _id: bodyId(messageId, 0) }, { projection: { _id: 1 } })) !== null
}

/** Which of some messages an account sent from certain domains. */
export async function sentFrom(
  db: Db,
  userId: string,
  ids: ReadonlySet<string>,
  domains: readonly string[],
): Promise<Set<string>> {
  const found = await collectionOf(db, MESSAGES)
    .find({ _id: { $in: [...ids] }, user_id: userId })
    .project<{ _id: string; from: string }>({ from: 1 })
    .toArray()
  return new Set(found.filter(({ from }) => isFrom(from, domains)).map(({ _id }) => _id))
}

/** The subjects of some of an account's messages. */
export async function subjectsOf(db: Db, userId: string, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const found = await collectionOf(db, MESSAGES)
    .find({ _id: { $in: [...ids] }, user_id: userId })
    .project<{ _id: string; subject: string }>({ subject: 1 })
    .toArray()
  return new Map(found.map(({ _id, subject }) => [_id, subject]))
}
