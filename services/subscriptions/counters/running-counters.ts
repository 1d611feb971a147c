/** Running figures: moved behind each write, remembered for a second between the requests that show them. */
import type { Subscriptions } from '../context.ts'
import type { CounterDoc } from '../store/documents.ts'
import { bump, bumpDay, type DayField, type DayFigures, readCounters, readDays } from './store/counters.ts'

/** What a write moves: figures of the app, and of this day. */
export interface Moved {
  counters?: Record<string, number>
  today?: Partial<Record<DayField, number>>
}

/** Moves running figures of an app. */
export async function moveFigures(
  s: Subscriptions,
  appKey: string,
  { counters = {}, today = {} }: Moved,
): Promise<void> {
  await Promise.all([bump(s.c, appKey, counters), bumpDay(s.c, appKey, s.zone.day(s.clock.now()), today)])
  forgetFigures(s)
}

/** After a change in this process: who asks next sees it. */
export function forgetFigures({ memory }: Pick<Subscriptions, 'memory'>): void {
  memory.counters.clear()
  memory.today.clear()
  memory.totals.clear()
  memory.planNames.clear()
}

/** The running figures of several apps as one. */
export function countersOf(s: Subscriptions, appKeys: readonly string[]): Promise<CounterDoc> {
  return s.memory.counters.get(appKeys.join(' '), () => readCounters(s.c, appKeys))
}

/** Figures of days of which some are not over. */
export function openDaysOf(
  s: Subscriptions,
  appKeys: readonly string[],
  first: string,
  last: string,
): Promise<Map<string, DayFigures>> {
  return s.memory.today.get(`${first} ${last} ${appKeys.join(' ')}`, () => readDays(s.c, appKeys, first, last))
}

/** A total over apps; `what` names what `count` counts. */
export function totalOf(
  s: Subscriptions,
  appKeys: readonly string[],
  what: string,
  count: () => Promise<number>,
): Promise<number> {
  return s.memory.totals.get(`${what} ${appKeys.join(' ')}`, count)
}
