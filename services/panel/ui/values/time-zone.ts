/** Times and days as a zone's clock shows them. */

const DAY_MS = 86_400_000

/**
 * The moment of `2026-11-21 18:00:00` in a zone; undefined for other texts and for days that no calendar has. An hour
 * that a clock shows twice is its first.
 */
export function instantOf(text: string, zone: string): Date | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(text)
  if (!match) return undefined
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  // The 31st of February would be the 3rd of March.
  if (new Date(wall).toISOString().slice(0, 19) !== text.replace(' ', 'T')) return undefined
  // Clocks change at most once within a day to either side.
  const [before = 0, after = 0] = [wall - DAY_MS, wall + DAY_MS].map(at => wall - offsetAt(at, zone))
  const shown = [before, after].filter(moment => moment + offsetAt(moment, zone) === wall)
  // What the clock skips counts from before the change: the same time after it has gone on.
  return new Date(shown.length > 0 ? Math.min(...shown) : before)
}

/** The moment at which a day (`2026-11-21`) begins in a zone; undefined for other texts. */
export function dayStart(day: string, zone: string): Date | undefined {
  // Where the clocks skip midnight, that is the first hour of the day.
  return instantOf(`${day} 00:00:00`, zone)
}

/** The day of a moment in a zone; empty for what is no moment. */
export function dayOf(moment: Date, zone: string): string {
  if (Number.isNaN(moment.getTime())) return ''
  return new Date(moment.getTime() + offsetAt(moment.getTime(), zone)).toISOString().slice(0, 10)
}

/** The zone of the browser. */
export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** How far the zone's clock is ahead of UTC at a moment, in milliseconds. */
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
