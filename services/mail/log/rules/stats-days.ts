/** Which days a report covers, and how long the counts of a day or hour may be relied on. */

import { DAY_MS, HOUR_MS, utcDayOf } from '../../../platform/durations.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** How long after the end of their day messages are in motion. */
export const MOTION_MS = 4 * DAY_MS
/** A process with a slow clock may still accept messages of a period that has ended. */
const LATE_MS = 2 * HOUR_MS
/** Bounds of the time that counts hold while messages are in motion. */
const LEAST_MS = 15_000
const MOST_MS = 300_000
/** Most days of one report. */
const MAX_DAYS = 92
/** Default number of days of a report. */
const DEFAULT_DAYS = 14

/** A period of whole days, both ends included, or the error as a sentence. */
export type Period = { since: string; until: string; days: string[] } | { error: Sentence }

/** The days from `since` to `until` (as in 2026-11-21, UTC). */
export function periodOf(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  now: Date,
): Period {
  const last = until ?? utcDayOf(now)
  const first = since ?? utcDayOf(new Date(startOf(last).getTime() - (DEFAULT_DAYS - 1) * DAY_MS))
  const count = (startOf(last).getTime() - startOf(first).getTime()) / DAY_MS + 1
  if (count < 1) return { error: sentence('field.period_order') }
  if (count > MAX_DAYS) return { error: sentence('field.period_days', { days: MAX_DAYS }) }
  const days = Array.from({ length: count }, (_, index) =>
    utcDayOf(new Date(startOf(first).getTime() + index * DAY_MS)),
  )
  return { since: first, until: last, days }
}

/** The first moment of a day. */
export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** The first moment of the next day. */
export function endOf(day: string): Date {
  return new Date(startOf(day).getTime() + DAY_MS)
}

/** An hour: when it begins and ends, and its name, as in 2026-11-21T09. */
export interface Hour {
  name: string
  start: Date
  end: Date
}

/** Hours of a day that have begun. */
export function hoursOf(day: string, now: Date): Hour[] {
  const hours = Array.from({ length: 24 }, (_, hour) => hourAt(startOf(day).getTime() + hour * HOUR_MS))
  return hours.filter(({ start }) => start <= now)
}

/** The last `count` hours, oldest first; the last one is running. */
export function lastHours(count: number, now: Date): Hour[] {
  const running = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  return Array.from({ length: count }, (_, index) => hourAt(running - (count - 1 - index) * HOUR_MS))
}

function hourAt(time: number): Hour {
  const start = new Date(time)
  return { name: start.toISOString().slice(0, 13), start, end: new Date(time + HOUR_MS) }
}

/** Messages of a day are in motion for the lifetime of a message and a day: such a day is counted by the hour. */
export function isInMotion(day: string, now: Date): boolean {
  return now.getTime() - endOf(day).getTime() < MOTION_MS
}

/** What was counted: the end of its period, when, and whether every recipient was final. */
export interface Counted {
  end: Date
  countedAt: Date
  settled: boolean
}

/**
 * How long counts of a day or hour hold, in milliseconds. Recipients stay in motion for three days (the lifetime of a
 * message), fewer and fewer of them; scheduled ones for 30 more. `Infinity`: nothing changes any more, or the messages
 * are being removed and counting again would lose what is known.
 */
export function reliableFor({ end, countedAt, settled }: Counted, logDays: number): number {
  const age = countedAt.getTime() - end.getTime()
  if (age < 0) return LEAST_MS
  if (settled && age >= LATE_MS) return Number.POSITIVE_INFINITY
  if (age < MOTION_MS) return Math.min(Math.max(age / 60, LEAST_MS), MOST_MS)
  return age < Math.min(34, 2 + logDays) * DAY_MS ? 6 * HOUR_MS : Number.POSITIVE_INFINITY
}
