import { expect, test } from 'vitest'
import {
  COUNTED,
  changeOf,
  daysAgo,
  logOfBar,
  logOfSpan,
  overviewSearch,
  SPANS,
  searchOf,
  spanOf,
} from './overview-search.ts'

test.each([
  [{}, '30d', {}],
  [{ days: '7' }, '7d', { days: 7 }],
  [{ days: 30 }, '30d', {}],
  [{ hours: '24' }, '24h', { hours: 24 }],
  [{ hours: 1, days: 7 }, '1h', { hours: 1 }],
  [{ hours: 2, days: 8 }, '30d', {}],
] as const)('%o is the span %s', (raw, span, search) => {
  expect([spanOf(overviewSearch(raw)), overviewSearch(raw)]).toEqual([span, search])
})

test.each(SPANS)('the address of %s leads to it', span => {
  expect(spanOf(searchOf(span))).toBe(span)
})

const SHOWN = ['queued', 'scheduled', 'deferred', 'delivered', 'bounced', 'failed', 'complained']

test.each([
  ['2026-11-20', '7d', undefined, '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', SHOWN],
  ['2026-11-20T23:00:00.000Z', '24h', undefined, '2026-11-20T23:00:00.000Z', '2026-11-21T00:00:00.000Z', SHOWN],
  ['2026-11-20', '7d', 'bounced', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z', ['bounced']],
  [
    ...(['2026-11-20', '7d', 'waiting', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'] as const),
    ['scheduled', 'queued', 'deferred'],
  ],
] as const)('the bar %s of %s, %s, leads to its messages', (start, span, series, since, until, statuses) => {
  const { status = [], ...others } = logOfBar(start, span, series)
  expect(others).toEqual({ since, until, simulated: 'false' })
  expect([status].flat().toSorted()).toEqual([...statuses].toSorted())
})

test('a span of days begins at midnight in UTC and leaves out what statistics leave out', () => {
  expect(logOfSpan('2026-11-20')).toEqual({ since: '2026-11-20T00:00:00.000Z', simulated: 'false' })
  expect(logOfSpan('2026-11-20', COUNTED.bounced)).toMatchObject({ status: ['bounced', 'failed'] })
  expect(daysAgo(1, Date.UTC(2026, 2, 1, 0, 30))).toBe('2026-02-28')
})

test.each([
  [15, 10, 0.5],
  [0, 10, -1],
  [5, 0, undefined],
])('%i after %i is a change by %s', (now, before, change) => {
  expect(changeOf(now, before)).toBe(change)
})
