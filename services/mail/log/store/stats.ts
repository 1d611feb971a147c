/**
 * Statistics of an account by day, counted from the messages and kept, so that a report costs little however much was
 * sent. A day whose messages are still in motion is the sum of its hours: only those are counted again in which
 * something can have changed.
 */
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { DAY_MS, utcDayOf } from '../../../platform/durations.ts'
import { timeOfId } from '../../../platform/ids.ts'
import { isFinal, RECIPIENT_STATUSES } from '../../store/rules/email-status.ts'
import { endOf, type Hour, hoursOf, isInMotion, reliableFor, startOf } from '../rules/stats-days.ts'
import { type PeriodCounts, sumCounts } from '../rules/sum-counts.ts'
import { countPeriod } from './count-period.ts'

/** What was counted for one account and day of acceptance, or one hour. `_id` is `<user>#<day>` or `<user>#<hour>`. */
export interface StatsDayDoc extends PeriodCounts {
  _id: string
  counted_at: Date
  exp: Date
}

/** Counted days; kept for two years. */
export const STATS_DAYS = defineCollection<StatsDayDoc>('stats_days', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])
/** Counted hours of the days that are in motion. */
export const STATS_HOURS = defineCollection<StatsDayDoc>('stats_hours', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

const KEEP_DAYS_MS = 2 * 366 * DAY_MS
const KEEP_HOURS_MS = 6 * DAY_MS
/** Values of each dimension that a document has. */
const PER_DAY = 50
const PER_HOUR = 200
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
      : await countDayOf(db, userId, day, options.now)
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
    collectionOf(db, STATS_DAYS).updateOne({ _id: `${userId}#${utcDayOf(accepted)}` }, outdated),
    collectionOf(db, STATS_HOURS).updateOne({ _id: `${userId}#${hour}` }, outdated),
  ])
}

async function countDayOf(db: Db, userId: string, day: string, now: Date): Promise<StatsDayDoc> {
  const counts = await countPeriod(db, userId, { start: startOf(day), end: endOf(day) }, PER_DAY)
  return { ...counts, _id: `${userId}#${day}`, counted_at: now, exp: now }
}

async function sumOfHours(db: Db, userId: string, day: string, options: StatsOptions): Promise<StatsDayDoc> {
  const all = await statsOfHours(db, userId, hoursOf(day, options.now), options)
  return { ...sumCounts(all, PER_DAY), _id: `${userId}#${day}`, counted_at: options.now, exp: options.now }
}

/** The statistics of some hours, in their order: kept ones as long as they can be relied on, others counted now. */
export async function statsOfHours(
  db: Db,
  userId: string,
  hours: readonly Hour[],
  options: StatsOptions,
): Promise<StatsDayDoc[]> {
  const names = hours.map(({ name }) => name)
  const known = await read(db, STATS_HOURS, userId, names)
  const all: StatsDayDoc[] = []
  const counted: StatsDayDoc[] = []
  for (const hour of hours) {
    const held = known.get(`${userId}#${hour.name}`)
    if (held && holds(held, hour.end, options)) {
      all.push(held)
      continue
    }
    const exp = new Date(options.now.getTime() + KEEP_HOURS_MS)
    const found = { _id: `${userId}#${hour.name}`, counted_at: options.now, exp }
    const latest = atLeast(held, { ...(await countPeriod(db, userId, hour, PER_HOUR)), ...found })
    all.push(latest)
    counted.push(latest)
  }
  await keep(db, STATS_HOURS, counted)
  return all
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
