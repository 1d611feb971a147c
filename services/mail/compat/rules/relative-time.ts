/** Times of `scheduled_at`: ISO 8601, or from now on in English, as the original takes them. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../platform/durations.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ForeignError } from './foreign-error.ts'

const FROM_NOW = /^in (an?|\d{1,6}) ?(s|sec|second|min|minute|h|hour|d|day|week)s?\.?$/i

const UNITS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  sec: SECOND_MS,
  second: SECOND_MS,
  min: MINUTE_MS,
  minute: MINUTE_MS,
  h: HOUR_MS,
  hour: HOUR_MS,
  d: DAY_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** ISO 8601 with a zone; the blank of Python's `str()` and zones without a colon are known too. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?([Zz]|[+-]\d{2}(?::?\d{2})?)$/

/** The time as the own API takes it. Throws `validation_error` for anything else. */
export function toInstant(value: unknown, now: Date): string {
  const text = typeof value === 'string' ? value.trim() : ''
  const [, count = '', unit = ''] = FROM_NOW.exec(text) ?? []
  const ms = UNITS[unit.toLowerCase()]
  if (ms !== undefined) return new Date(now.getTime() + (/^an?$/i.test(count) ? 1 : Number(count)) * ms).toISOString()
  const [, date, time = '', zone = ''] = INSTANT.exec(text) ?? []
  const at = date !== undefined && isDay(date) ? Date.parse(`${date}T${time}${zoneOf(zone)}`) : Number.NaN
  if (Number.isNaN(at))
    throw new ForeignError(422, 'validation_error', sentence('compat.time', { field: 'scheduled_at' }))
  return new Date(at).toISOString()
}

/** `Date.parse` takes 30 February for 2 March. */
function isDay(date: string): boolean {
  const at = Date.parse(date)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}

function zoneOf(zone: string): string {
  if (/^z$/i.test(zone)) return 'Z'
  const digits = zone.replace(':', '')
  return `${digits.slice(0, 3)}:${digits.slice(3) || '00'}`
}
