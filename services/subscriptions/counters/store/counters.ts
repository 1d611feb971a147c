/**
 * Running figures: one document per app and one per app and day, moved by plain `$inc` right after a write. Not
 * inside its transaction: one hot document would make sign-ups conflict. A nightly repair removes drift.
 */
import type { Collections } from '../../store/collections.ts'
import type { CounterDoc, DayDoc } from '../../store/documents.ts'

/** Moves the running figures of an app. */
export async function bump(c: Collections, appKey: string, amounts: Record<string, number>): Promise<void> {
  if (Object.keys(amounts).length === 0) return
  await c.counters.updateOne({ _id: appKey }, { $inc: amounts }, { upsert: true })
}

/** Fields of a day that are counted. */
export type DayField = Exclude<keyof DayDoc, '_id' | 'app_key' | 'day' | 'opening_timed' | 'reminders'>

/** Moves the figures of a day. */
export async function bumpDay(
  c: Collections,
  appKey: string,
  day: string,
  amounts: Partial<Record<DayField, number>>,
): Promise<void> {
  if (Object.values(amounts).every(amount => amount === 0)) return
  await c.days.updateOne(
    { _id: `${appKey}/${day}` },
    { $inc: amounts, $setOnInsert: { app_key: appKey, day } },
    { upsert: true },
  )
}

/** The running figures of several apps as one. */
export async function readCounters(c: Collections, appKeys: readonly string[]): Promise<CounterDoc> {
  const sum = emptyCounters()
  for (const document of await c.counters.find({ _id: { $in: [...appKeys] } }).toArray()) addCounters(sum, document)
  return sum
}

function addCounters(sum: CounterDoc, more: Partial<CounterDoc>): void {
  for (const field of NUMBERS) sum[field] += more[field] ?? 0
  for (const group of ['by_plan', 'by_method', 'by_status'] as const)
    for (const [key, amount] of Object.entries(more[group] ?? {})) addCount(sum[group], key, amount)
}

/** Adds to one of several counts. Own ones only: a payment method may be called `constructor`. */
export function addCount(counts: Record<string, number>, key: string, amount: number): void {
  const before = Object.hasOwn(counts, key) ? counts[key] : undefined
  counts[key] = (before ?? 0) + amount
}

const NUMBERS = [
  'users_total',
  'users_active',
  'users_paying',
  'subs_total',
  'subs_active',
  'subs_permanent',
  'subs_auto_renew',
  'mrr',
] as const

function emptyCounters(): CounterDoc {
  return {
    _id: '',
    users_total: 0,
    users_active: 0,
    users_paying: 0,
    subs_total: 0,
    subs_active: 0,
    subs_permanent: 0,
    subs_auto_renew: 0,
    mrr: 0,
    by_plan: {},
    by_method: {},
    by_status: {},
  }
}

/** The days from the first to the last of several apps, summed by day. Days on which nothing happened are missing. */
export async function readDays(
  c: Collections,
  appKeys: readonly string[],
  first: string,
  last: string,
): Promise<Map<string, DayFigures>> {
  const days = new Map<string, DayFigures>()
  const documents = c.days.find({ app_key: { $in: [...appKeys] }, day: { $gte: first, $lte: last } })
  for await (const document of documents) {
    const sum = days.get(document.day) ?? emptyDay()
    for (const field of DAY_NUMBERS) sum[field] += document[field] ?? 0
    days.set(document.day, sum)
  }
  return days
}

/** Figures of one day, summed over apps. */
export type DayFigures = Record<DayField | 'opening_timed', number>

const DAY_NUMBERS = [
  'new_users',
  'login_users',
  'new_subs',
  'renewals',
  'ended',
  'refunds',
  'revenue_cents',
  'opening_timed',
] as const

/** A day on which nothing happened. */
export function emptyDay(): DayFigures {
  return {
    new_users: 0,
    login_users: 0,
    new_subs: 0,
    renewals: 0,
    ended: 0,
    refunds: 0,
    revenue_cents: 0,
    opening_timed: 0,
  }
}
