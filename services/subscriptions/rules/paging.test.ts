import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cursorQuery, dateQuery, dateRange, nextOf, pageOf, pageQuery, pagination, switchPagination } from './paging.ts'
import { zoneOf } from './time-zone.ts'

const query = z.object({ ...pageQuery, ...cursorQuery, ...dateQuery })
const shanghai = zoneOf('Asia/Shanghai')
const HOUR = 3_600_000

describe('the requested page', () => {
  test.each<[string, object, object]>([
    ['the first', {}, { number: 1, size: 20, offset: 0 }],
    ['another', { page: '3' }, { number: 3, size: 20, offset: 40 }],
    ['of another size', { page: 2, pageSize: 5 }, { number: 2, size: 5, offset: 5 }],
    ['by the other name', { page_size: '5' }, { number: 1, size: 5, offset: 0 }],
    ['by both names', { pageSize: 7, page_size: 5 }, { number: 1, size: 7, offset: 0 }],
    ['of the largest size', { pageSize: 100 }, { number: 1, size: 100, offset: 0 }],
    ['of more than that', { page: 2, pageSize: 101 }, { number: 2, size: 100, offset: 100 }],
  ])('%s', (_, given, page) => expect(pageOf(query.parse(given))).toEqual(page))

  test.each([{ page: 0 }, { page: -1 }, { page: 1.5 }, { page: 'two' }, { pageSize: 0 }, { page_size: '' }])(
    'is not %j',
    given => expect(query.safeParse(given).success).toBe(false),
  )
})

describe('a cursor', () => {
  const page = pageOf({})
  const at = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })

  test('decodes to its position, whatever the page number', () => {
    fc.assert(
      fc.property(at, fc.integer({ min: 1, max: 999_999_999_999_999 }), (time, id) => {
        const { next_cursor } = pagination(page, { total: 1, next: { at: time, id } })
        const parsed = query.parse({ page: 7, pageSize: 5, cursor: next_cursor })
        expect(pageOf(parsed)).toEqual({ number: 1, size: 5, offset: 0, after: { at: time, id } })
      }),
    )
  })

  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  test.each([
    ['nothing', ''],
    ['no base64', '*'],
    ['another text', encoded('hello')],
    ['a time alone', encoded('1700000000000')],
    ['a negative time', encoded('-1.5')],
    ['a negative id', encoded('1.-5')],
    ['more than a position', encoded('1.2.3')],
    ['a time beyond all calendars', encoded('9999999999999999.1')],
    ['a line after it', encoded('1.2\n3')],
    ['a long one', encoded('1'.repeat(80))],
  ])('is none with %s', (_, cursor) => {
    const { error } = query.safeParse({ cursor })
    expect(error?.issues.map(({ path }) => path)).toEqual([['cursor']])
  })

  test('is present on full pages only, and names their last record', () => {
    const items = [9, 8, 7].map(id => ({ id }))
    const position = ({ id }: { id: number }) => ({ at: new Date(id * 1000), id })
    expect(nextOf(items, pageOf({ pageSize: 3 }), position)).toEqual({ at: new Date(7000), id: 7 })
    expect(nextOf(items, pageOf({ pageSize: 4 }), position)).toBeUndefined()
    expect(nextOf([], pageOf({ pageSize: 1 }), position)).toBeUndefined()
  })
})

test.each([
  [0, 20, 0],
  [1, 20, 1],
  [20, 20, 1],
  [21, 20, 2],
  [101, 100, 2],
])('%d records are on pages of %d: %d', (total, pageSize, pages) => {
  const page = pageOf({ pageSize })
  expect(pagination(page, { total })).toEqual({
    current_page: 1,
    page_size: pageSize,
    total_pages: pages,
    total_records: total,
  })
  expect(switchPagination(page, total)).toEqual({ page: 1, pageSize, total, totalPages: pages })
})

describe('a range of dates', () => {
  test.each<[string, string | undefined, string | undefined, string | undefined, string | undefined]>([
    ['open', undefined, undefined, undefined, undefined],
    ['open end', '2026-11-22', undefined, '2026-11-21T16:00:00.000Z', undefined],
    ['open before', undefined, '2026-11-22', undefined, '2026-11-22T16:00:00.000Z'],
    ['one day', '2026-11-22', '2026-11-22', '2026-11-21T16:00:00.000Z', '2026-11-22T16:00:00.000Z'],
    ['over a leap day', '2028-02-28', '2028-02-29', '2028-02-27T16:00:00.000Z', '2028-02-29T16:00:00.000Z'],
    ['one second', '0', '0', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'],
    ['of both kinds', '1795276800', '2026-11-22', '2026-11-21T16:00:00.000Z', '2026-11-22T16:00:00.000Z'],
    ['without an end', '2026-11-22', '9999-12-31', '2026-11-21T16:00:00.000Z', '9999-12-31T16:00:00.000Z'],
  ])('%s', (_, start, end, from, to) => {
    const parsed = query.parse({ start_date: start, end_date: end })
    const range = dateRange(parsed.start_date, parsed.end_date, shanghai)
    expect([range?.from?.toISOString(), range?.to?.toISOString()]).toEqual([from, to])
    expect(Object.keys(range ?? {})).toEqual([...(from ? ['from'] : []), ...(to ? ['to'] : [])])
  })

  test.each([
    ['2026-11-23', '2026-11-22'],
    ['101', '99'],
    ['2026-11-23', '0'],
  ])('from %s to %s is none', (start, end) => expect(dateRange(start, end, shanghai)).toBeUndefined())

  test.each(['2026-02-30', '2026-1-1', 'today', '-1', '1.5', '123456789012', '2026-11-22T00:00:00Z', ''])(
    '%j is no date',
    start_date => expect(query.safeParse({ start_date }).success).toBe(false),
  )

  test.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/Santiago', '2026-09-06', 23],
    ['America/Santiago', '2026-04-04', 25],
    ['Asia/Shanghai', '2026-11-22', 24],
  ])('in %s the day %s has %d hours', (zone, day, hours) => {
    const { from = new Date(0), to = new Date(0) } = dateRange(day, day, zoneOf(zone)) ?? {}
    expect((to.getTime() - from.getTime()) / HOUR).toBe(hours)
  })
})
