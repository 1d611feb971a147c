import { expect, test } from 'vitest'
import { instantOf } from './business-zone.ts'

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
