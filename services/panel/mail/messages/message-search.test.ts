/** Parsing filters of bookmarked, shared and mistyped addresses. */
import { expect, test } from 'vitest'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { isFiltered, messageQuery, messageSearch } from './message-search.ts'

test.each([
  [{}, {}],
  [
    { q: 'order', status: 'bounced', source: 'smtp', after: 'em_1' },
    { q: 'order', status: 'bounced', source: 'smtp', after: 'em_1' },
  ],
  [{ q: 42 }, { q: '42' }],
  [{ q: '', to: null, status: 'exploded', source: 7, unknown: 'x' }, {}],
  [{ q: { $gt: '' }, domain: ['a'] }, {}],
])('%o is read as %o', (raw, search) => {
  expect(messageSearch(raw)).toEqual(search)
})

test.each([
  [{}, false],
  [{ after: 'em_1' }, false],
  [{ to: 'a@example.com' }, true],
])('%o is filtered: %s', (search, filtered) => {
  expect(isFiltered(search)).toBe(filtered)
})

test.each([
  [{ q: 'a', to: 'b' }, { to: 'b' }],
  [
    { q: 'ab', after: 'em_1' },
    { q: 'ab', after: 'em_1' },
  ],
  [{ status: 'bounced' as const }, { status: 'bounced' }],
])('%o is queried as %o', (search, query) => {
  expect(messageQuery(search)).toEqual(query)
})

test('undefined parameters are not part of the address', () => {
  expect(Object.keys(omitUndefined({ a: undefined, b: 'x', c: '' }))).toEqual(['b', 'c'])
})
