import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, daysBetween, isDay, monthStart, secondsOf, zoneOf } from './time-zone.ts'

describe('the business zone', () => {
  const shanghai = zoneOf('Asia/Shanghai')
  const berlin = zoneOf('Europe/Berlin')

  test('formats and finds the start of days, over changes of the clock as well', () => {
    const at = new Date('2026-11-21T16:30:00Z')
    expect(shanghai.format(at)).toBe('2026-11-22 00:30:00')
    expect(shanghai.day(at)).toBe('2026-11-22')
    expect(shanghai.startOf('2026-11-22').toISOString()).toBe('2026-11-21T16:00:00.000Z')
    expect(berlin.startOf('2026-03-29').toISOString()).toBe('2026-03-28T23:00:00.000Z')
    expect(berlin.startOf('2026-03-30').toISOString()).toBe('2026-03-29T22:00:00.000Z')
    expect(berlin.format(new Date('2026-10-25T01:30:00Z'))).toBe('2026-10-25 02:30:00')
  })

  test('every instant is within its day', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('2000-01-01'), max: new Date('2050-01-01'), noInvalidDate: true }), at => {
        const day = berlin.day(at)
        expect(berlin.startOf(day) <= at && at < berlin.startOf(addDays(day, 1))).toBe(true)
      }),
    )
  })

  test.each([
    ['Asia/Shanghai', '2026-11-22', '2026-11-21T16:00:00.000Z', 'has one offset'],
    ['Asia/Kathmandu', '2026-11-22', '2026-11-21T18:15:00.000Z', 'is ahead by a quarter of an hour'],
    ['UTC', '2024-02-29', '2024-02-29T00:00:00.000Z', 'is UTC'],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z', 'skips an hour in the night'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 'repeats an hour in the night'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z', 'skips the first hour of the day'],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z', 'skips the first hour of the day'],
    ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z', 'repeats the last hour of the day before'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 'repeats the first hour of the day'],
    ['Asia/Amman', '2021-10-29', '2021-10-28T21:00:00.000Z', 'repeats the first hour of the day, ahead of UTC'],
    ['Atlantic/Azores', '2026-03-29', '2026-03-29T01:00:00.000Z', 'skips the first hour of the day, near UTC'],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 'skips the day before'],
  ])('in %s the day %s begins at %s: the clock %s', (name, day, begin) => {
    const zone = zoneOf(name)
    const start = zone.startOf(day)
    expect(start.toISOString()).toBe(begin)
    expect(zone.day(start)).toBe(day)
    expect(zone.day(new Date(start.getTime() - 1)) < day).toBe(true)
  })

  test.each(['America/Santiago', 'America/Havana', 'America/Asuncion', 'Atlantic/Azores', 'Asia/Gaza', 'Asia/Amman'])(
    'in %s, where clocks change around midnight, days follow each other without a gap',
    name => {
      const zone = zoneOf(name)
      const torn = daysBetween('2015-01-01', '2029-12-31').filter(day => {
        const start = zone.startOf(day)
        return zone.day(start) !== day || zone.day(new Date(start.getTime() - 1)) !== addDays(day, -1)
      })
      expect(torn).toEqual([])
    },
  )

  test('an unknown zone is refused, and years without a sensible offset give a time all the same', () => {
    expect(() => zoneOf('Asia/Nowhere')).toThrow(RangeError)
    for (const day of ['0000-01-01', '0001-01-01', '0099-12-31'])
      expect(berlin.startOf(day) < berlin.startOf('1900-01-01')).toBe(true)
    expect(berlin.startOf('9999-12-31').toISOString()).toBe('9999-12-30T23:00:00.000Z')
  })

  test('days go forth and back, and months have their lengths, leap years and centuries included', () => {
    const from = Date.UTC(1899, 0, 1) / 86_400_000
    const day = fc.integer({ min: from, max: from + 300 * 365 }).map(n => new Date(n * 86_400_000).toISOString())
    fc.assert(
      fc.property(day, fc.integer({ min: -5_000, max: 5_000 }), fc.nat(400), (iso, far, near) => {
        const at = iso.slice(0, 10)
        expect(addDays(addDays(at, far), -far)).toBe(at)
        expect(daysBetween(at, addDays(at, near))).toHaveLength(near + 1)
        expect(daysBetween(at, addDays(at, near)).toSorted().at(-1)).toBe(addDays(at, near))
        const [first, next] = [monthStart(at), monthStart(at, 1)]
        const length = new Date(Date.UTC(Number(at.slice(0, 4)), Number(at.slice(5, 7)), 0)).getUTCDate()
        expect(daysBetween(first, addDays(next, -1))).toHaveLength(length)
        expect(monthStart(monthStart(at, far % 100), -(far % 100))).toBe(first)
      }),
    )
  })

  test('days and months', () => {
    expect(daysBetween('2026-02-27', '2026-03-01')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
    expect(daysBetween('2026-03-01', '2026-02-27')).toEqual([])
    expect([monthStart('2026-01-31'), monthStart('2026-01-31', -1)]).toEqual(['2026-01-01', '2025-12-01'])
  })

  test.each([
    ['2026-02-28', true],
    ['2026-02-29', false],
    ['2028-02-29', true],
    ['2100-02-29', false],
    ['2026-04-31', false],
    ['2026-12-31', true],
    ['2026-13-01', false],
    ['2026-00-10', false],
    ['2026-01-00', false],
    ['2026-1-1', false],
    ['2026-01-01T00:00:00Z', false],
    [' 2026-01-01', false],
    ['２０２６-01-01', false],
    ['', false],
  ])('%s is a day: %s', (value, expected) => expect(isDay(value)).toBe(expected))

  test.each([
    ['1970-01-01T00:00:00.000Z', 0],
    ['1970-01-01T00:00:00.999Z', 0],
    ['1969-12-31T23:59:59.999Z', -1],
  ])('the second of %s is %d', (at, second) => expect(secondsOf(new Date(at))).toBe(second))
})
