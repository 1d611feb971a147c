import { describe, expect, test } from 'vitest'
import { endOf, periodOf, reliableFor, startOf, toDay } from './stats-days.ts'

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
    expect(periodOf(given, NOW)).toHaveProperty('fault')
  })
})

test('a day ends where the next begins', () => {
  expect([startOf('2026-12-31'), endOf('2026-12-31')].map(at => at.toISOString())).toEqual([
    '2026-12-31T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ])
  expect(toDay(new Date('2026-12-31T23:59:59.999Z'))).toBe('2026-12-31')
})

test.each([
  ['2026-11-21', 30, 15_000],
  ['2026-11-20', 30, 300_000],
  ['2026-11-17', 30, 300_000],
  ['2026-11-10', 30, 21_600_000],
  ['2026-10-01', 30, Number.POSITIVE_INFINITY],
  ['2026-11-10', 1, Number.POSITIVE_INFINITY],
])('figures of %s, with %i days of log, hold for %d ms', (day, logDays, ms) => {
  expect(reliableFor(day, NOW, logDays)).toBe(ms)
})
