/** Figures of an account by day, counted from the messages and kept, so that a report costs little however much was sent. */
import { collectionOf, type Db, defineCollection } from '../../platform/mongo.ts'
import { isFinal, RECIPIENT_STATUSES } from '../rules/email-status.ts'
import { endOf, reliableFor, startOf } from '../rules/stats-days.ts'
import type { RecipientStatus } from './documents.ts'
import { firstIdAt, MESSAGES } from './messages.ts'

/** Recipients by status. */
export type StatusCounts = Partial<Record<RecipientStatus, number>>

/** What was counted for one account and day of acceptance. `_id` is `<user>#<day>`. */
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

const KEEP_MS = 2 * 366 * 86_400_000
const DOMAINS_PER_DAY = 50
const MAX_MS = 20_000

/**
 * The figures of some days, in their order: kept ones as long as they can be relied on, others counted now, one after
 * the other. Counting is one pass over the account's messages of that day (an index range) on the database's side.
 */
export async function statsOfDays(
  db: Db,
  userId: string,
  days: readonly string[],
  { now, logDays }: { now: Date; logDays: number },
): Promise<StatsDayDoc[]> {
  const idOf = (day: string) => `${userId}#${day}`
  const kept = await collectionOf(db, STATS_DAYS)
    .find({ _id: { $in: days.map(idOf) } })
    .toArray()
  const byId = new Map(kept.map(doc => [doc._id, doc]))
  const result: StatsDayDoc[] = []
  for (const day of days) {
    const known = byId.get(idOf(day))
    const reliable = known && now.getTime() - known.counted_at.getTime() < reliableFor(day, known.counted_at, logDays)
    result.push(reliable ? known : await keep(db, atLeast(known, await countDay(db, userId, day, now))))
  }
  return result
}

/**
 * Messages go after their days: a later count may find fewer, and must not take the place of what is known. What is
 * known are outcomes: an early count has more messages, but says of them that they are queued.
 */
function atLeast(known: StatsDayDoc | undefined, counted: StatsDayDoc): StatsDayDoc {
  const { counted_at, exp } = counted
  return known && outcomesIn(known) > outcomesIn(counted) ? { ...known, counted_at, exp } : counted
}

function outcomesIn({ recipients }: StatsDayDoc): number {
  return RECIPIENT_STATUSES.reduce((sum, status) => sum + (isFinal(status) ? (recipients[status] ?? 0) : 0), 0)
}

async function keep(db: Db, doc: StatsDayDoc): Promise<StatsDayDoc> {
  await collectionOf(db, STATS_DAYS).replaceOne({ _id: doc._id }, doc, { upsert: true })
  return doc
}

interface Counted {
  messages: { n: number }[]
  statuses: { _id: RecipientStatus; n: number }[]
  domains: { _id: string; statuses: { status: RecipientStatus; n: number }[] }[]
}

async function countDay(db: Db, userId: string, day: string, now: Date): Promise<StatsDayDoc> {
  const ids = { $gte: firstIdAt(startOf(day)), $lt: firstIdAt(endOf(day)) }
  const domain = { $arrayElemAt: [{ $split: ['$rcpts.email', '@'] }, -1] }
  const [counted] = await collectionOf(db, MESSAGES)
    .aggregate<Counted>(
      [
        { $match: { user_id: userId, _id: ids, test: { $ne: true } } },
        { $project: { 'rcpts.status': 1, 'rcpts.email': 1 } },
        {
          $facet: {
            messages: [{ $count: 'n' }],
            statuses: [{ $unwind: '$rcpts' }, { $group: { _id: '$rcpts.status', n: { $sum: 1 } } }],
            domains: [
              { $unwind: '$rcpts' },
              { $group: { _id: { domain, status: '$rcpts.status' }, n: { $sum: 1 } } },
              {
                $group: {
                  _id: '$_id.domain',
                  all: { $sum: '$n' },
                  statuses: { $push: { status: '$_id.status', n: '$n' } },
                },
              },
              { $sort: { all: -1, _id: 1 } },
              { $limit: DOMAINS_PER_DAY },
            ],
          },
        },
      ],
      { maxTimeMS: MAX_MS, allowDiskUse: true },
    )
    .toArray()
  return {
    _id: `${userId}#${day}`,
    messages: counted?.messages[0]?.n ?? 0,
    recipients: Object.fromEntries((counted?.statuses ?? []).map(({ _id, n }) => [_id, n])),
    domains: (counted?.domains ?? []).map(({ _id, statuses }) => ({
      domain: _id,
      recipients: Object.fromEntries(statuses.map(({ status, n }) => [status, n])),
    })),
    counted_at: now,
    exp: new Date(now.getTime() + KEEP_MS),
  }
}
