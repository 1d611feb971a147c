import { describe, expect, test } from 'vitest'
import { utcDayOf } from '../../../platform/durations.ts'
import { endOf, hoursOf, isInMotion, periodOf, reliableFor, startOf } from './stats-days.ts'

const NOW = new Date('2026-11-21T10:00:00Z')

describe('the days of a report', () => {
  test.each([
    [{}, '2026-11-08', '2026-11-21', 14],
    [{ since: '2026-11-21' }, '2026-11-21', '2026-11-21', 1],
    [{ until: '2026-03-01' }, '2026-02-16', '2026-03-01', 14],
    [{ since: '2026-08-22', until: '2026-11-21' }, '2026-08-22', '2026-11-21', 92],
  ])('%j', (given, since, until, count) => {
    const period = periodOf(given, NOW)
    expect(period).toMatchObject({ since, until })
    const days = 'days' in period ? period.days : []
    expect([days[0], days.at(-1), new Set(days).size]).toEqual([since, until, count])
  })
  test.each([{ since: '2026-11-22' }, { since: '2026-08-21', until: '2026-11-21' }])('%j is refused', given => {
    expect(periodOf(given, NOW)).toHaveProperty('error')
  })
})

test('a day ends where the next begins', () => {
  expect([startOf('2026-12-31'), endOf('2026-12-31')].map(at => at.toISOString())).toEqual([
    '2026-12-31T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ])
  expect(utcDayOf(new Date('2026-12-31T23:59:59.999Z'))).toBe('2026-12-31')
})

describe('counts of a period hold', () => {
  const HOURS = 3_600_000
  test.each([
    ['while it runs', -1, false, 30, 15_000],
    ['while it runs, though all is final', -1, true, 30, 15_000],
    ['for a moment after its end', 0, false, 30, 15_000],
    ['longer and longer', HOURS, false, 30, 60_000],
    ['for five minutes at most, while messages are in motion', 96 * HOURS - 1, false, 30, 300_000],
    ['for six hours, while there may be scheduled mail', 96 * HOURS, false, 30, 6 * HOURS],
    ['for ever when that is over', 34 * 24 * HOURS, false, 90, Number.POSITIVE_INFINITY],
    ['for ever when the log is being removed', 4 * 24 * HOURS, false, 1, Number.POSITIVE_INFINITY],
    ['not for ever when all is final, but a slow clock may still add to it', 2 * HOURS - 1, true, 30, (2 * HOURS) / 60],
    ['for ever when all is final', 2 * HOURS, true, 30, Number.POSITIVE_INFINITY],
  ])('%s', (_, age, settled, logDays, ms) => {
    const held = reliableFor({ end: NOW, countedAt: new Date(NOW.getTime() + age), settled }, logDays)
    expect(Math.round(held)).toBe(ms)
  })
})

test('hours of a day begin one after the other, and end with the one that runs', () => {
  const hours = hoursOf('2026-11-21', NOW)
  expect(hours).toHaveLength(11)
  expect(hours[10]).toEqual({ name: '2026-11-21T10', start: NOW, end: new Date('2026-11-21T11:00:00Z') })
  expect(hoursOf('2026-11-20', NOW).at(-1)?.end).toEqual(startOf('2026-11-21'))
  expect(hoursOf('2026-11-22', NOW)).toEqual([])
})

test.each([
  ['2026-11-22', true],
  ['2026-11-21', true],
  ['2026-11-17', true],
  ['2026-11-16', false],
])('messages of %s are in motion: %s', (day, expected) => {
  expect(isInMotion(day, NOW)).toBe(expected)
})
