/** Times and days in zones ahead of, behind and on UTC, and where clocks change. */
import { expect, test } from 'vitest'
import { dayOf, dayStart, instantOf } from './zone.ts'

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
