/** Spans of time by name. Days are 24 hours: those of a time zone belong to its calendar. */

/** Milliseconds of a second. */
export const SECOND_MS = 1_000
/** Milliseconds of a minute. */
export const MINUTE_MS = 60 * SECOND_MS
/** Milliseconds of an hour. */
export const HOUR_MS = 60 * MINUTE_MS
/** Milliseconds of a day. */
export const DAY_MS = 24 * HOUR_MS
/** Seconds of a day, as indexes that expire count. */
export const DAY_SECONDS = DAY_MS / SECOND_MS

/** The day of a moment in UTC, as in `2026-11-23`. */
export function utcDayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
