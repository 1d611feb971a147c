/** Times and days in zones ahead of, behind and on UTC, and where clocks change. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayOf, dayStart, instantOf } from './time-zone.ts'

test.each([
  ['2026-11-21 18:00:00', 'Asia/Shanghai', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21 00:30:00', 'Asia/Shanghai', '2026-11-20T16:30:00.000Z'],
  ['2026-11-21 10:00:00', 'UTC', '2026-11-21T10:00:00.000Z'],
  ['2026-07-01 12:00:00', 'Europe/Berlin', '2026-07-01T10:00:00.000Z'],
  ['2026-01-01 12:00:00', 'Europe/Berlin', '2026-01-01T11:00:00.000Z'],
  // The hour before and after the clocks change.
  ['2026-03-29 01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59.000Z'],
  ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['2026-10-25 03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
  ['2026-11-21 10:00:00', 'America/St_Johns', '2026-11-21T13:30:00.000Z'],
  // The same behind UTC: an hour that is shown twice is its first, the one after it comes once.
  ['2026-11-01 01:30:00', 'America/St_Johns', '2026-11-01T04:00:00.000Z'],
  ['2026-11-01 02:00:00', 'America/St_Johns', '2026-11-01T05:30:00.000Z'],
  ['2026-04-05 00:00:00', 'America/Santiago', '2026-04-05T04:00:00.000Z'],
  // What is skipped is what the clock shows when so much time has gone by.
  ['2026-03-29 02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
])('%s in %s is %s', (text, zone, moment) => {
  expect(instantOf(text, zone)?.toISOString()).toBe(moment)
})

test.each(['', 'Permanent', '永久', '2026-11-21', '2026-11-21T10:00:00Z'])('"%s" is no such time', text => {
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
  // Santiago's clocks go from 24:00 to 01:00: the day has no midnight.
  ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
])('%s in %s begins at %s, and that is the same day there', (day, zone, moment) => {
  const start = dayStart(day, zone)
  expect(start?.toISOString()).toBe(moment)
  expect(start && dayOf(start, zone)).toBe(day)
  expect(start && dayOf(new Date(start.getTime() - 1), zone) < day).toBe(true)
})

test.each(['', 'soon', '2026-11', '21.11.2026'])('"%s" is no day', text => {
  expect(dayStart(text, 'UTC')).toBeUndefined()
})

test('what is no moment has no day', () => {
  expect(dayOf(new Date('soon'), 'UTC')).toBe('')
})

test.each(['2026-02-31', '2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-11-00'])(
  '%s is on no calendar, so it is no day',
  day => {
    expect(dayStart(day, 'Europe/Berlin')).toBeUndefined()
    expect(instantOf(`${day} 12:00:00`, 'UTC')).toBeUndefined()
  },
)

test.each(['24:00:00', '12:60:00', '12:00:60', '99:00:00'])('%s is on no clock', time => {
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

/** What the clock of a zone shows, by the formatter of Swedish, which writes days as ISO 8601 does. */
function shown(moment: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment)
}

/** Changes of clocks in these zones. */
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

/** Every second of thirty years, and often one around a change of clocks. */
const moments = fc
  .oneof(
    fc.integer({ min: Date.UTC(2010, 0, 1) / 1000, max: Date.UTC(2040, 0, 1) / 1000 }),
    fc.tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -10_800, max: 10_800 })).map(([at, by]) => at + by),
  )
  .map(seconds => new Date(seconds * 1000))

test('what a clock shows leads back to the moment, or to the earlier one that shows the same', () => {
  fc.assert(
    fc.property(moments, fc.constantFrom(...ZONES), (moment, zone) => {
      const text = shown(moment, zone)
      const found = instantOf(text, zone)
      expect(found && shown(found, zone)).toBe(text)
      const back = moment.getTime() - (found?.getTime() ?? 0)
      // Lord Howe turns its clocks by half an hour, all others by one.
      expect([0, 1_800_000, 3_600_000]).toContain(back)
    }),
    { numRuns: 800 },
  )
})

test('a day begins at the first moment that is of that day', () => {
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
