/** Times and days as a zone's clock shows them. */

/** The moment of `2026-11-21 18:00:00` in a zone; undefined for other texts. An hour that a clock shows twice is its first. */
export function instantOf(text: string, zone: string): Date | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(text)
  if (!match) return undefined
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  // The offset at the wall time taken for UTC is that of some hours away; from its result the right one is found.
  const near = wall - offsetAt(wall, zone)
  return new Date(Math.min(wall - offsetAt(near, zone), wall - offsetAt(near - 3_600_000, zone)))
}

/** The moment at which a day (`2026-11-21`) begins in a zone; undefined for other texts. */
export function dayStart(day: string, zone: string): Date | undefined {
  const midnight = instantOf(`${day} 00:00:00`, zone)
  // Where the clocks skip midnight the day begins with its first hour.
  return midnight && dayOf(midnight, zone) !== day ? new Date(midnight.getTime() + 3_600_000) : midnight
}

/** The day of a moment in a zone; empty for what is no moment. */
export function dayOf(moment: Date, zone: string): string {
  if (Number.isNaN(moment.getTime())) return ''
  return new Date(moment.getTime() + offsetAt(moment.getTime(), zone)).toISOString().slice(0, 10)
}

/** The zone of the browser. */
export function browserZone(): string {
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
