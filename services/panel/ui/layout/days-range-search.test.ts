/** Parsing date ranges of bookmarked, shared and mistyped addresses. */
import { expect, test } from 'vitest'
import { daysRangeSearch } from './days-range-search.ts'

test.each([
  [{}, {}],
  [{ days: 7 }, { days: 7 }],
  [{ days: '90' }, { days: 90 }],
  [{ days: 30 }, {}],
  [{ days: 8 }, {}],
  [{ days: 'all' }, {}],
  [{ days: ['7', '7'] }, {}],
  [{ days: { $gt: 0 } }, {}],
])('%j is read as %j', (raw, search) => {
  expect(daysRangeSearch(raw)).toEqual(search)
})
