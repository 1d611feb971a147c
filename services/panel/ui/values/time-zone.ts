/** Conversion between instants and wall-clock times of a time zone. */

const DAY_MS = 86_400_000

/**
 * The instant of a wall-clock time (`2026-11-21 18:00:00`) in a time zone; undefined for other texts and for invalid dates. Of
 * a time that occurs twice because of a clock change, the first one is returned.
 */
export function instantOf(text: string, zone: string): Date | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(text)
  if (!match) return undefined
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  // The 31st of February would be the 3rd of March.
  if (new Date(wall).toISOString().slice(0, 19) !== text.replace(' ', 'T')) return undefined
  // The offset changes at most once within a day before or after.
  const [before = 0, after = 0] = [wall - DAY_MS, wall + DAY_MS].map(at => wall - offsetAt(at, zone))
  const shown = [before, after].filter(moment => moment + offsetAt(moment, zone) === wall)
  // A skipped wall-clock time uses the offset before the change, as RFC 5545 does.
  return new Date(shown.length > 0 ? Math.min(...shown) : before)
}

/** Start of a day (`2026-11-21`) in a time zone; undefined for other texts. */
export function dayStart(day: string, zone: string): Date | undefined {
  // Where a clock change skips midnight, the day starts with the first time after it.
  return instantOf(`${day} 00:00:00`, zone)
}

/** The day of an instant in a time zone, as `2026-11-21`; empty for an invalid date. */
export function dayOf(moment: Date, zone: string): string {
  if (Number.isNaN(moment.getTime())) return ''
  return new Date(moment.getTime() + offsetAt(moment.getTime(), zone)).toISOString().slice(0, 10)
}

export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** UTC offset of the time zone at an instant, both in milliseconds. */
function offsetAt(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(at))
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find(one => one.type === type)?.value)
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return shown - Math.floor(at / 1000) * 1000
}
