/** Parsing filters of bookmarked, shared and mistyped addresses. */
import { expect, test } from 'vitest'
import { FAILURE_KINDS } from '../../../mail/delivery/rules/failure-kinds.ts'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { FAILURE_REASONS, filtersOf, isFiltered, messageFilters, messageSearch, NO_FILTERS } from './message-search.ts'

const NOW = Date.UTC(2026, 10, 24, 12, 0, 30)

test.each([
  [{}, {}],
  [
    { q: 'order', status: 'bounced', source: 'smtp', after: 'em_1' },
    { q: 'order', status: 'bounced', source: 'smtp', after: 'em_1' },
  ],
  [{ q: 42 }, { q: '42' }],
  // Several statuses are in the order of the form, whichever way they are given; one is as in earlier links.
  [{ status: ['failed', 'bounced', 'failed', 'exploded'] }, { status: ['bounced', 'failed'] }],
  [{ status: ['bounced'] }, { status: 'bounced' }],
  [{ status: [] }, {}],
  [{ status: [['bounced'], null, 3] }, {}],
  [{ q: '', to: null, status: 'exploded', source: 7, unknown: 'x', reason: 'bad luck' }, {}],
  [{ q: { $gt: '' }, domain: ['a'] }, {}],
  [
    { reason: 'tls', tag: 'kind:news', submitted_with: 'key_1', until: '2026-11-24T00:00:00Z' },
    { reason: 'tls', tag: 'kind:news', submitted_with: 'key_1', until: '2026-11-24T00:00:00Z' },
  ],
  // A period that ends now excludes other bounds, and has whole days.
  [{ days: '7', since: '2026-11-01T00:00:00Z' }, { days: 7 }],
  [{ days: 0 }, {}],
  [{ days: 1.5 }, {}],
  [{ days: 366 }, {}],
  [{ days: 'x', since: '2026-11-01T00:00:00Z' }, { since: '2026-11-01T00:00:00Z' }],
  // Without a field in the form, but kept.
  [
    { from: 'shop@example.com', template: 'tpl_1', message_id: '<1@example.com>' },
    { from: 'shop@example.com', template: 'tpl_1', message_id: '<1@example.com>' },
  ],
  [
    { recipient_domain: 'a.example', simulated: false },
    { recipient_domain: 'a.example', simulated: 'false' },
  ],
  [{ simulated: 'maybe' }, {}],
  [{ order: 'asc', sort: 'size' }, { order: 'asc' }],
  [{ order: 'desc' }, {}],
  // The default page size is not part of an address.
  [{ limit: 20 }, {}],
  [{ limit: '100' }, { limit: 100 }],
  [{ limit: 1000 }, {}],
])('%o is read as %o', (raw, search) => {
  expect(messageSearch(raw)).toEqual(search)
})

test.each([
  [{}, false],
  [{ after: 'em_1', limit: 50 as const }, false],
  [{ to: 'a@example.com' }, true],
  [{ template: 'tpl_1' }, true],
  [{ order: 'asc' as const }, false],
  [{ days: 7 }, true],
  [{ status: ['bounced' as const, 'failed' as const] }, true],
])('%o is filtered: %s', (search, filtered) => {
  expect(isFiltered(search)).toBe(filtered)
})

test.each([
  [{ q: 'a', to: 'b' }, { to: 'b' }],
  [{ q: 'ab', after: 'em_1', limit: 50 as const }, { q: 'ab' }],
  [{ status: 'bounced' as const }, { status: 'bounced' }],
  [{ days: 7 }, { since: '2026-11-17T12:00:00.000Z' }],
])('%o is queried as %o', (search, query) => {
  expect(messageFilters(search, NOW)).toEqual(query)
})

test('within a minute a period is the same request', () => {
  expect(messageFilters({ days: 1 }, NOW)).toEqual(messageFilters({ days: 1 }, NOW + 29_000))
})

test('every filter is removed by clearing them, and nothing else', () => {
  const all = { q: 'x', reason: 'tls', tag: 'a', days: 3, submitted_with: 'key_1', limit: 50, after: 'em_1' } as const
  expect(omitUndefined({ ...all, ...NO_FILTERS })).toEqual({ limit: 50, after: 'em_1' })
  expect(Object.keys(filtersOf(all))).toEqual(['q', 'reason', 'days', 'tag', 'submitted_with'])
})

test('the list of reasons has every class of the service', () => {
  expect(FAILURE_REASONS.toSorted()).toEqual(FAILURE_KINDS.toSorted())
})

test('undefined parameters are not part of the address', () => {
  expect(Object.keys(omitUndefined({ a: undefined, b: 'x', c: '' }))).toEqual(['b', 'c'])
})
