/** Conversion in time zones east and west of UTC, and around clock changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayOf, dayStart, instantOf } from './time-zone.ts'

test.each([
  ['2026-11-21 18:00:00', 'Asia/Shanghai', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21 00:30:00', 'Asia/Shanghai', '2026-11-20T16:30:00.000Z'],
  ['2026-11-21 10:00:00', 'UTC', '2026-11-21T10:00:00.000Z'],
  ['2026-07-01 12:00:00', 'Europe/Berlin', '2026-07-01T10:00:00.000Z'],
  ['2026-01-01 12:00:00', 'Europe/Berlin', '2026-01-01T11:00:00.000Z'],
  // The hours before and after a clock change.
  ['2026-03-29 01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59.000Z'],
  ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['2026-10-25 03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-11-21 10:00:00', 'America/St_Johns', '2026-11-21T13:30:00.000Z'],
  // West of UTC: an hour that occurs twice is the first one.
  ['2026-11-01 01:30:00', 'America/St_Johns', '2026-11-01T04:00:00.000Z'],
  ['2026-11-01 02:00:00', 'America/St_Johns', '2026-11-01T05:30:00.000Z'],
  ['2026-04-05 00:00:00', 'America/Santiago', '2026-04-05T04:00:00.000Z'],
  // A skipped time uses the offset before the change.
  ['2026-03-29 02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
])('%s in %s is %s', (text, zone, moment) => {
  expect(instantOf(text, zone)?.toISOString()).toBe(moment)
})

test.each(['', 'Permanent', '永久', '2026-11-21', '2026-11-21T10:00:00Z'])('"%s" is not a time', text => {
  expect(instantOf(text, 'UTC')).toBeUndefined()
})

test.each([
  ['2026-11-21', 'UTC', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21', 'Asia/Shanghai', '2026-11-20T16:00:00.000Z'],
  ['2026-11-21', 'America/St_Johns', '2026-11-21T03:30:00.000Z'],
  ['2026-11-21', 'Pacific/Kiritimati', '2026-11-20T10:00:00.000Z'],
  ['2026-11-21', 'Pacific/Pago_Pago', '2026-11-21T11:00:00.000Z'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
  // Clocks in Santiago change from 24:00 to 01:00, so this day has no midnight.
  ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
])('%s in %s begins at %s, and that is the same day there', (day, zone, moment) => {
  const start = dayStart(day, zone)
  expect(start?.toISOString()).toBe(moment)
  expect(start && dayOf(start, zone)).toBe(day)
  expect(start && dayOf(new Date(start.getTime() - 1), zone) < day).toBe(true)
})

test.each(['', 'soon', '2026-11', '21.11.2026'])('"%s" is not a day', text => {
  expect(dayStart(text, 'UTC')).toBeUndefined()
})

test('an invalid date has no day', () => {
  expect(dayOf(new Date('soon'), 'UTC')).toBe('')
})

test.each(['2026-02-31', '2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-11-00'])(
  '%s is not a calendar date',
  day => {
    expect(dayStart(day, 'Europe/Berlin')).toBeUndefined()
    expect(instantOf(`${day} 12:00:00`, 'UTC')).toBeUndefined()
  },
)

test.each(['24:00:00', '12:60:00', '12:00:60', '99:00:00'])('%s is not a valid time', time => {
  expect(instantOf(`2026-11-21 ${time}`, 'UTC')).toBeUndefined()
})

const ZONES = [
  'UTC',
  'Asia/Shanghai',
  'Europe/Berlin',
  'America/St_Johns',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Africa/Casablanca',
  'Asia/Kathmandu',
] as const

/** Wall-clock time in a time zone; the Swedish locale formats dates as ISO 8601. */
function shown(moment: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment)
}

/** Clock changes in these time zones. */
const CHANGES = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2026-09-06T04:00:00Z',
  '2026-04-05T03:00:00Z',
  '2026-03-08T05:30:00Z',
  '2026-11-01T04:30:00Z',
].map(text => Date.parse(text) / 1000)

/** Any second of thirty years, often one close to a clock change. */
const moments = fc
  .oneof(
    fc.integer({ min: Date.UTC(2010, 0, 1) / 1000, max: Date.UTC(2040, 0, 1) / 1000 }),
    fc.tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -10_800, max: 10_800 })).map(([at, by]) => at + by),
  )
  .map(seconds => new Date(seconds * 1000))

test('a wall-clock time converts back to its instant, or to the earlier one with the same wall-clock time', () => {
  fc.assert(
    fc.property(moments, fc.constantFrom(...ZONES), (moment, zone) => {
      const text = shown(moment, zone)
      const found = instantOf(text, zone)
      expect(found && shown(found, zone)).toBe(text)
      const back = moment.getTime() - (found?.getTime() ?? 0)
      // Clocks change by half an hour on Lord Howe, by one hour elsewhere.
      expect([0, 1_800_000, 3_600_000]).toContain(back)
    }),
    { numRuns: 800 },
  )
})

test('a day starts at its first instant', () => {
  fc.assert(
    fc.property(moments, fc.constantFrom(...ZONES), (moment, zone) => {
      const day = dayOf(moment, zone)
      const start = dayStart(day, zone) ?? new Date(0)
      expect(dayOf(start, zone)).toBe(day)
      expect(dayOf(new Date(start.getTime() - 1_000), zone) < day).toBe(true)
      expect(start <= moment).toBe(true)
    }),
    { numRuns: 800 },
  )
})
