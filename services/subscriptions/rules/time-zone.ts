/** Dates and days in the business time zone. Offsets are read from Intl once per day and cached. */
import { DAY_MS } from '../../platform/durations.ts'

/** Conversions of a time zone. */
export interface Zone {
  /** `YYYY-MM-DD HH:MM:SS`. */
  format(at: Date): string
  /** `YYYY-MM-DD`. */
  day(at: Date): string
  /** First instant of a day `YYYY-MM-DD`, also where the clock skips or repeats midnight. */
  startOf(day: string): Date
}

/** Days with a cached offset: 27 years. */
const MAX_REMEMBERED = 10_000

/** Conversions of an IANA time zone such as Asia/Shanghai. Throws RangeError for an unknown one. */
export function zoneOf(name: string): Zone {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const exactOffset = (ms: number) => wallClock(parts, Math.floor(ms / 1000) * 1000) - Math.floor(ms / 1000) * 1000
  /** Offset of a UTC day; undefined on a day on which it changes. */
  const offsets = new Map<number, number | undefined>()
  const offsetAt = (ms: number) => {
    const day = Math.floor(ms / DAY_MS)
    if (!offsets.has(day)) {
      if (offsets.size >= MAX_REMEMBERED) offsets.clear()
      const [first, last] = [exactOffset(day * DAY_MS), exactOffset((day + 1) * DAY_MS - 1000)]
      offsets.set(day, first === last ? first : undefined)
    }
    return offsets.get(day) ?? exactOffset(ms)
  }
  const local = (ms: number) => new Date(ms + offsetAt(ms)).toISOString()
  return {
    format: at => local(at.getTime()).slice(0, 19).replace('T', ' '),
    day: at => local(at.getTime()).slice(0, 10),
    startOf(day) {
      const wall = Date.parse(`${day}T00:00:00Z`)
      const begun = (ms: number) => local(ms).slice(0, 10) >= day
      const midnight = wall - offsetAt(wall - offsetAt(wall))
      const isFirst = begun(midnight) && !begun(midnight - 1)
      return new Date(isFirst ? midnight : firstWhere(begun, wall - DAY_MS, wall + DAY_MS))
    },
  }
}

/** The first number in a range for which a monotonic condition holds (binary search). */
function firstWhere(holds: (value: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** The wall clock of an instant, read as if it were UTC. */
function wallClock(parts: Intl.DateTimeFormat, ms: number): number {
  const at: Record<string, number> = {}
  for (const { type, value } of parts.formatToParts(ms)) at[type] = Number(value)
  return Date.UTC(at.year ?? 0, (at.month ?? 1) - 1, at.day ?? 1, at.hour ?? 0, at.minute ?? 0, at.second ?? 0)
}

/** The day a number of days after (or before) a day. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

/** First day of the month of a day, moved by a number of months. */
export function monthStart(day: string, months = 0): string {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months, 1)).toISOString().slice(0, 10)
}

/** Days from the first to the last, both inclusive; empty when the first is later. */
export function daysBetween(first: string, last: string): string[] {
  const count = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => addDays(first, i))
}

/** True for a day that exists, as `YYYY-MM-DD`. */
export function isDay(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false
  const parsed = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value)
}

/** Unix seconds of a date. */
export const secondsOf = (at: Date): number => Math.floor(at.getTime() / 1000)
