/**
 * Statistics of an account by day, counted from the messages and kept, so that a report costs little however much was
 * sent. A day whose messages are still in motion is the sum of its hours: only those are counted again in which
 * something can have changed.
 */
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { timeOfId } from '../../../platform/ids.ts'
import type { RecipientStatus } from '../../store/documents.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { isFinal, RECIPIENT_STATUSES } from '../../store/rules/email-status.ts'
import { endOf, hoursOf, isInMotion, reliableFor, startOf, toDay } from '../rules/stats-days.ts'

/** Recipients by status. */
export type StatusCounts = Partial<Record<RecipientStatus, number>>

/** What was counted for one account and day of acceptance, or one hour. `_id` is `<user>#<day>` or `<user>#<hour>`. */
export interface StatsDayDoc {
  _id: string
  messages: number
  recipients: StatusCounts
  /** The busiest recipient domains. */
  domains: { domain: string; recipients: StatusCounts }[]
  counted_at: Date
  exp: Date
}

/** Counted days; kept for two years. */
export const STATS_DAYS = defineCollection<StatsDayDoc>('stats_days', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])
/** Counted hours of the days that are in motion. */
export const STATS_HOURS = defineCollection<StatsDayDoc>('stats_hours', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

const KEEP_DAYS_MS = 2 * 366 * DAY_MS
const KEEP_HOURS_MS = 6 * DAY_MS
const DOMAINS_PER_DAY = 50
const DOMAINS_PER_HOUR = 200
const MAX_MS = 20_000
/** The worker counts as often as counts hold; a reader counts only what it has not counted for so many times as long. */
const PATIENCE = 3

/** When counts are asked for. */
export interface StatsOptions {
  now: Date
  logDays: number
  /** How many times as long as they hold counts of ended periods are taken; default 3. */
  patience?: number
}

/** The statistics of some days, in their order: kept ones as long as they can be relied on, others counted now. */
export async function statsOfDays(
  db: Db,
  userId: string,
  days: readonly string[],
  options: StatsOptions,
): Promise<StatsDayDoc[]> {
  const known = await read(db, STATS_DAYS, userId, days)
  const counted: StatsDayDoc[] = []
  const result: StatsDayDoc[] = []
  for (const day of days) {
    const held = known.get(`${userId}#${day}`)
    if (held && holds(held, endOf(day), options)) {
      result.push(held)
      continue
    }
    const found = isInMotion(day, options.now)
      ? await sumOfHours(db, userId, day, options)
      : await count(db, userId, { name: day, start: startOf(day), end: endOf(day) }, options.now, DOMAINS_PER_DAY)
    const latest = atLeast(held, { ...found, exp: new Date(options.now.getTime() + KEEP_DAYS_MS) })
    counted.push(latest)
    result.push(latest)
  }
  await keep(db, STATS_DAYS, counted)
  return result
}

/**
 * Has the day and hour of a message counted again when they are asked for next: a report changed the status of a recipient
 * that was final.
 */
export async function recountPeriodsOf(db: Db, userId: string, messageId: string): Promise<void> {
  const accepted = new Date(timeOfId(messageId))
  const hour = accepted.toISOString().slice(0, 13)
  const outdated = { $set: { counted_at: new Date(0) } }
  await Promise.all([
    collectionOf(db, STATS_DAYS).updateOne({ _id: `${userId}#${toDay(accepted)}` }, outdated),
    collectionOf(db, STATS_HOURS).updateOne({ _id: `${userId}#${hour}` }, outdated),
  ])
}

async function sumOfHours(db: Db, userId: string, day: string, options: StatsOptions): Promise<StatsDayDoc> {
  const hours = hoursOf(day, options.now)
  const known = await read(
    db,
    STATS_HOURS,
    userId,
    hours.map(({ name }) => name),
  )
  const all: StatsDayDoc[] = []
  const counted: StatsDayDoc[] = []
  for (const hour of hours) {
    const held = known.get(`${userId}#${hour.name}`)
    if (held && holds(held, hour.end, options)) {
      all.push(held)
      continue
    }
    const latest = atLeast(held, await count(db, userId, hour, options.now, DOMAINS_PER_HOUR))
    all.push(latest)
    counted.push(latest)
  }
  await keep(db, STATS_HOURS, counted)
  return { ...sum(all), _id: `${userId}#${day}`, counted_at: options.now, exp: options.now }
}

/** True while counts of a period that ends then can be taken as they are. */
function holds({ recipients, counted_at: countedAt }: StatsDayDoc, end: Date, options: StatsOptions): boolean {
  const settled = RECIPIENT_STATUSES.every(status => isFinal(status) || !recipients[status])
  const { now, logDays, patience = PATIENCE } = options
  const times = countedAt < end ? 1 : patience
  return now.getTime() - countedAt.getTime() < times * reliableFor({ end, countedAt, settled }, logDays)
}

async function read(
  db: Db,
  collection: typeof STATS_DAYS,
  userId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, StatsDayDoc>> {
  const ids = names.map(name => `${userId}#${name}`)
  const kept = await collectionOf(db, collection)
    .find({ _id: { $in: ids } })
    .toArray()
  return new Map(kept.map(doc => [doc._id, doc]))
}

/** Not waited for by a majority: what is lost is counted again. */
async function keep(db: Db, collection: typeof STATS_DAYS, docs: readonly StatsDayDoc[]): Promise<void> {
  if (docs.length === 0) return
  const writes = docs.map(replacement => ({
    replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
  }))
  await collectionOf(db, collection).bulkWrite(writes, { ordered: false, writeConcern: { w: 1 } })
}

/**
 * Messages expire after their days: a later count may find fewer, and must not replace what is known. Outcomes are
 * final: an early count has more messages, but reports them as queued.
 */
function atLeast(known: StatsDayDoc | undefined, counted: StatsDayDoc): StatsDayDoc {
  const { counted_at, exp } = counted
  return known && outcomesIn(known) > outcomesIn(counted) ? { ...known, counted_at, exp } : counted
}

function outcomesIn({ recipients }: StatsDayDoc): number {
  return RECIPIENT_STATUSES.reduce((total, status) => total + (isFinal(status) ? (recipients[status] ?? 0) : 0), 0)
}

type Counts = Pick<StatsDayDoc, 'messages' | 'recipients' | 'domains'>

function sum(parts: readonly Counts[]): Counts {
  const domains = new Map<string, StatusCounts>()
  for (const { domain, recipients } of parts.flatMap(part => part.domains))
    domains.set(domain, add(domains.get(domain), recipients))
  return {
    messages: parts.reduce((total, { messages }) => total + messages, 0),
    recipients: parts.reduce<StatusCounts>((total, { recipients }) => add(total, recipients), {}),
    domains: busiest(
      [...domains].map(([domain, recipients]) => ({ domain, recipients })),
      DOMAINS_PER_DAY,
    ),
  }
}

function add(one: StatusCounts = {}, other: StatusCounts): StatusCounts {
  const result = { ...one }
  for (const status of RECIPIENT_STATUSES)
    if (other[status]) result[status] = (result[status] ?? 0) + (other[status] ?? 0)
  return result
}

function busiest(domains: Counts['domains'], most: number): Counts['domains'] {
  const total = ({ recipients }: Counts['domains'][number]) =>
    RECIPIENT_STATUSES.reduce((all, status) => all + (recipients[status] ?? 0), 0)
  return domains.toSorted((a, b) => total(b) - total(a) || (a.domain < b.domain ? -1 : 1)).slice(0, most)
}

interface Grouped {
  totals: { _id: RecipientStatus; recipients: number; messages: number }[]
  domains: { _id: string; statuses: { status: RecipientStatus; n: number }[] }[]
}

/** One pass over the account's messages of a period (an index range) on the database's side. */
async function count(
  db: Db,
  userId: string,
  { name, start, end }: { name: string; start: Date; end: Date },
  now: Date,
  most: number,
): Promise<StatsDayDoc> {
  const ids = { $gte: firstIdAt(start), $lt: firstIdAt(end) }
  const domain = { $arrayElemAt: [{ $split: ['$rcpts.email', '@'] }, -1] }
  const isFirst = { $cond: [{ $eq: ['$n', 0] }, 1, 0] }
  const ofDomain = { status: '$_id.status', n: '$recipients' }
  const [grouped] = await collectionOf(db, MESSAGES)
    .aggregate<Grouped>(
      [
        { $match: { user_id: userId, _id: ids, test: { $ne: true } } },
        { $project: { _id: 0, 'rcpts.status': 1, 'rcpts.email': 1 } },
        { $unwind: { path: '$rcpts', includeArrayIndex: 'n' } },
        // One group for a domain and status: what follows works on these alone.
        {
          $group: {
            _id: { domain, status: '$rcpts.status' },
            recipients: { $sum: 1 },
            messages: { $sum: isFirst },
          },
        },
        {
          $facet: {
            totals: [
              { $group: { _id: '$_id.status', recipients: { $sum: '$recipients' }, messages: { $sum: '$messages' } } },
            ],
            domains: [
              { $group: { _id: '$_id.domain', all: { $sum: '$recipients' }, statuses: { $push: ofDomain } } },
              { $sort: { all: -1, _id: 1 } },
              { $limit: most },
            ],
          },
        },
      ],
      { maxTimeMS: MAX_MS, allowDiskUse: true },
    )
    .toArray()
  const totals = grouped?.totals ?? []
  return {
    _id: `${userId}#${name}`,
    messages: totals.reduce((all, { messages }) => all + messages, 0),
    recipients: Object.fromEntries(totals.map(({ _id, recipients }) => [_id, recipients])),
    domains: (grouped?.domains ?? []).map(({ _id, statuses }) => ({
      domain: _id,
      recipients: Object.fromEntries(statuses.map(({ status, n }) => [status, n])),
    })),
    counted_at: now,
    exp: new Date(now.getTime() + KEEP_HOURS_MS),
  }
}
