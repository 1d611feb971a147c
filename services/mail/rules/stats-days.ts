/** Which days a report covers and how long a day's figures may be relied on. */

const DAY_MS = 86_400_000
/** Most days of one report. */
const MAX_DAYS = 92
/** Days of a report when nothing is said. */
const DEFAULT_DAYS = 14

/** A period of whole days, both ends included, or the sentence that says what is wrong. */
export type Period = { since: string; until: string; days: string[] } | { fault: string }

/** The days from `since` to `until` (as in 2026-11-21, UTC). */
export function periodOf(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  now: Date,
): Period {
  const last = until ?? toDay(now)
  const first = since ?? toDay(new Date(startOf(last).getTime() - (DEFAULT_DAYS - 1) * DAY_MS))
  const count = (startOf(last).getTime() - startOf(first).getTime()) / DAY_MS + 1
  if (count < 1) return { fault: 'since lies behind until.' }
  if (count > MAX_DAYS) return { fault: `A report covers at most ${MAX_DAYS} days.` }
  const days = Array.from({ length: count }, (_, index) => toDay(new Date(startOf(first).getTime() + index * DAY_MS)))
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

/** The day of a moment. */
export function toDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/**
 * How long figures counted at `countedAt` hold, in milliseconds. Recipients of a day stay in motion for three days
 * (the lifetime of a message); scheduled ones for 30 more. `Infinity`: nothing changes any more, or the messages are
 * being removed and counting again would lose what is known.
 */
export function reliableFor(day: string, countedAt: Date, logDays: number): number {
  const age = (countedAt.getTime() - endOf(day).getTime()) / DAY_MS
  if (age < 0) return 15_000
  if (age < 4) return 300_000
  return age < Math.min(34, 2 + logDays) ? 6 * 3_600_000 : Number.POSITIVE_INFINITY
}
