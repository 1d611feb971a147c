/**
 * Running counters: one document per app and one per app and day, changed by `$inc` right after a write. They are not
 * part of the transaction, because one hot document would make parallel sign-ups conflict. The nightly repair removes
 * drift.
 */
import type { Collections } from '../../store/collections.ts'
import type { CounterDoc, DayDoc } from '../../store/documents.ts'

/** Adds to the running counters of an app. */
export async function bump(collections: Collections, appKey: string, amounts: Record<string, number>): Promise<void> {
  if (Object.keys(amounts).length === 0) return
  await collections.counters.updateOne({ _id: appKey }, { $inc: amounts }, { upsert: true })
}

/** Fields of a day that are counted. */
export type DayField = Exclude<keyof DayDoc, '_id' | 'app_key' | 'day' | 'opening_timed' | 'reminders'>

/** Adds to the counters of a day. */
export async function bumpDay(
  collections: Collections,
  appKey: string,
  day: string,
  amounts: Partial<Record<DayField, number>>,
): Promise<void> {
  if (Object.values(amounts).every(amount => amount === 0)) return
  await collections.days.updateOne(
    { _id: `${appKey}/${day}` },
    { $inc: amounts, $setOnInsert: { app_key: appKey, day } },
    { upsert: true },
  )
}

/** The sum of the running counters of several apps. */
export async function readCounters(collections: Collections, appKeys: readonly string[]): Promise<CounterDoc> {
  const sum = emptyCounters()
  for (const document of await collections.counters.find({ _id: { $in: [...appKeys] } }).toArray())
    addCounters(sum, document)
  return sum
}

function addCounters(sum: CounterDoc, more: Partial<CounterDoc>): void {
  for (const field of NUMBERS) sum[field] += more[field] ?? 0
  for (const group of ['by_plan', 'by_method', 'by_status'] as const)
    for (const [key, amount] of Object.entries(more[group] ?? {})) addCount(sum[group], key, amount)
}

/** Adds to one of several counts. Own properties only: a payment method may be named `constructor`. */
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

/** Counters from the first day to the last, summed over the apps. Days without events are missing. */
export async function readDays(
  collections: Collections,
  appKeys: readonly string[],
  first: string,
  last: string,
): Promise<Map<string, DayCounts>> {
  const days = new Map<string, DayCounts>()
  const documents = collections.days.find({ app_key: { $in: [...appKeys] }, day: { $gte: first, $lte: last } })
  for await (const document of documents) {
    const sum = days.get(document.day) ?? emptyDay()
    for (const field of DAY_NUMBERS) sum[field] += document[field] ?? 0
    days.set(document.day, sum)
  }
  return days
}

/** Counters of one day, summed over apps. */
export type DayCounts = Record<DayField | 'opening_timed', number>

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

/** The counters of a day without events. */
export function emptyDay(): DayCounts {
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
