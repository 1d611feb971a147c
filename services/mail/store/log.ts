/** Reads of the delivery log, always within one account: lists, one message, its deliveries and its events. */
import { newId } from '../../platform/ids.ts'
import { collectionOf, type Db } from '../../platform/mongo.ts'
import { isFrom, normaliseEmail } from '../rules/address.ts'
import { normaliseDomain } from '../rules/domain-name.ts'
import { BODIES, bodyId } from './bodies.ts'
import { DELIVERIES } from './deliveries.ts'
import type { DeliveryDoc, EventDoc, MessageDoc, RecipientStatus } from './documents.ts'
import { EVENTS, eventsOfMessage } from './events.ts'
import { MESSAGES } from './messages.ts'

/** What a list is narrowed to. */
export interface LogFilters {
  q?: string | undefined
  status?: RecipientStatus | undefined
  from?: string | undefined
  to?: string | undefined
  domain?: string | undefined
  /** A tag's name, or `name:value`. */
  tag?: string | undefined
  message_id?: string | undefined
  source?: 'api' | 'smtp' | 'system' | undefined
  since?: Date | undefined
  until?: Date | undefined
  /** Sender domains that the caller is limited to; empty = none. */
  domains?: readonly string[] | undefined
}

/** A page of messages. `next` is the cursor behind everything that was looked at, or null at the end. */
export interface LogPage {
  messages: MessageDoc[]
  next: string | null
}

/**
 * Messages that one page looks at when a filter applies. There is one index, account and id: each further one would
 * be written with every message and every result. A rare match is found by going on page by page.
 */
const SCAN = 10_000
const MAX_MS = 5_000

/** The channel behind each source. */
const CHANNELS = { api: 'http', smtp: 'smtp', system: 'system' } as const

/** Lists an account's messages, newest first, behind the cursor `after`. `scan` is for tests. */
export async function listMessages(
  db: Db,
  userId: string,
  filters: LogFilters,
  { limit, after }: { limit: number; after?: string | undefined },
  scan = SCAN,
): Promise<LogPage> {
  const messages = collectionOf(db, MESSAGES)
  const range = { user_id: userId, ...idRange(filters, after) }
  const match = toMatch(filters)
  if (Object.keys(match).length === 0) {
    const found = await messages
      .find(range, { maxTimeMS: MAX_MS })
      .sort({ _id: -1 })
      .limit(limit + 1)
      .toArray()
    return toPage(found, limit)
  }
  const found = await messages
    .aggregate<MessageDoc>(
      [{ $match: range }, { $sort: { _id: -1 } }, { $limit: scan }, { $match: match }, { $limit: limit + 1 }],
      { maxTimeMS: MAX_MS },
    )
    .toArray()
  if (found.length > limit) return toPage(found, limit)
  const last = await messages.findOne(range, {
    sort: { _id: -1 },
    skip: scan - 1,
    projection: { _id: 1 },
    maxTimeMS: MAX_MS,
  })
  return { messages: found, next: last?._id ?? null }
}

function toPage(found: MessageDoc[], limit: number): LogPage {
  const messages = found.slice(0, limit)
  return { messages, next: found.length > limit ? (messages.at(-1)?._id ?? null) : null }
}

/** Ids start with their time, so that a period is a range of the index. */
function idRange({ since, until }: LogFilters, after: string | undefined): { _id?: Record<string, string> } {
  const ends = [...(until ? [firstIdAt(until)] : []), ...(after ? [after] : [])].toSorted()
  const bounds = { ...(since && { $gte: firstIdAt(since) }), ...(ends[0] && { $lt: ends[0] }) }
  return Object.keys(bounds).length > 0 ? { _id: bounds } : {}
}

/** The lowest id of a message accepted at this time: its prefix without the random part. */
export function firstIdAt(at: Date): string {
  return newId('em', Math.max(0, at.getTime())).slice(0, -16)
}

/** Every value is a string compared with $eq, or an escaped expression: callers cannot bring operators. */
function toMatch(filters: LogFilters): Record<string, unknown> {
  const { q, status, from, to, domain, tag, message_id: messageId, source, domains = [] } = filters
  const match: Record<string, unknown> = {}
  if (status) match['rcpts.status'] = { $eq: status }
  if (from) match.from = { $regex: `^${RegExp.escape(normaliseEmail(from) ?? from)}$`, $options: 'i' }
  if (to) match['rcpts.email'] = { $eq: normaliseEmail(to) ?? to }
  if (messageId) match.message_id = { $eq: messageId.startsWith('<') ? messageId : `<${messageId}>` }
  if (source) match['via.channel'] = { $eq: CHANNELS[source] }
  const and: object[] = []
  if (domain) and.push({ from: { $regex: `@${RegExp.escape(storedName(domain))}$`, $options: 'i' } })
  if (domains.length > 0) and.push({ from: { $in: domains.map(name => new RegExp(`@${RegExp.escape(name)}$`)) } })
  if (tag) and.push({ tags: { $elemMatch: toTag(tag) } })
  if (q) {
    const part = { $regex: RegExp.escape(q), $options: 'i' }
    and.push({ $or: [{ subject: part }, { from: part }, { 'rcpts.email': part }, { message_id: part }] })
  }
  return and.length > 0 ? { ...match, $and: and } : match
}

/** A domain as messages hold it, whichever way it was typed. */
function storedName(typed: string): string {
  const read = normaliseDomain(typed)
  return read.ok ? read.name : typed
}

function toTag(tag: string): { name: { $eq: string }; value?: { $eq: string } } {
  const [name = '', value] = tag.split(':', 2)
  return { name: { $eq: name }, ...(value !== undefined && { value: { $eq: value } }) }
}

/** A message of this account. */
export async function findMessage(db: Db, userId: string, id: string): Promise<MessageDoc | undefined> {
  return (await collectionOf(db, MESSAGES).findOne({ _id: id, user_id: userId })) ?? undefined
}

/** Ids of deliveries and events of one message as their numbers say: the tenth recipient comes behind the second. */
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
