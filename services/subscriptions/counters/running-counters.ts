/** Running counters: updated after each write, cached for a second for readers. */
import type { Subscriptions } from '../context.ts'
import type { CounterDoc } from '../store/documents.ts'
import { bump, bumpDay, type DayCounts, type DayField, readCounters, readDays } from './store/counters.ts'

/** Increments of the app's counters, and of the counters of the current day. */
export interface Moved {
  counters?: Record<string, number>
  today?: Partial<Record<DayField, number>>
}

/** Adds to the running counters of an app. */
export async function addToCounters(
  context: Subscriptions,
  appKey: string,
  { counters = {}, today = {} }: Moved,
): Promise<void> {
  await Promise.all([
    bump(context.collections, appKey, counters),
    bumpDay(context.collections, appKey, context.zone.day(context.clock.now()), today),
  ])
  forgetCounters(context)
}

/** Clears the cached counters after a change in this process, so that the next reader sees it. */
export function forgetCounters({ memory }: Pick<Subscriptions, 'memory'>): void {
  memory.counters.clear()
  memory.today.clear()
  memory.totals.clear()
  memory.planNames.clear()
}

/** The sum of the running counters of several apps. */
export function countersOf(context: Subscriptions, appKeys: readonly string[]): Promise<CounterDoc> {
  return context.memory.counters.get(appKeys.join(' '), () => readCounters(context.collections, appKeys))
}

/** Counters of days of which some are not over. */
export function openDaysOf(
  context: Subscriptions,
  appKeys: readonly string[],
  first: string,
  last: string,
): Promise<Map<string, DayCounts>> {
  return context.memory.today.get(`${first} ${last} ${appKeys.join(' ')}`, () =>
    readDays(context.collections, appKeys, first, last),
  )
}

/** A total over apps, cached under `what`. */
export function totalOf(
  context: Subscriptions,
  appKeys: readonly string[],
  what: string,
  count: () => Promise<number>,
): Promise<number> {
  return context.memory.totals.get(`${what} ${appKeys.join(' ')}`, count)
}
