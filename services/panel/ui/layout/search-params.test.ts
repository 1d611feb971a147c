/** Parsing search parameters as the router passes them: digits are numbers, and values can be anything. */
import { expect, test } from 'vitest'
import { subscriptionsSearch } from '../../subscriptions/shared/subscriptions-search.ts'
import { splitList } from '../forms/split-text.ts'
import { pageNumber } from './page-number.ts'
import { stringParams } from './search-params.ts'

test.each([
  [{ after: 'em_1' }, { after: 'em_1' }],
  [
    { after: 42, user: 0 },
    { after: '42', user: '0' },
  ],
  [{ after: '', user: null, other: 'x' }, {}],
  [{ after: ['a'], user: { $ne: '' } }, {}],
  [{ after: true, user: undefined }, {}],
])('%j has the texts %j', (raw, texts) => {
  expect(stringParams(raw, ['after', 'user'])).toEqual(texts)
})

test.each([
  [2, 2],
  ['17', 17],
  // The first page is omitted from addresses.
  [1, undefined],
  ['1', undefined],
  [0, undefined],
  [-3, undefined],
  [2.5, undefined],
  ['two', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
  [[2, 3], undefined],
  [Number.POSITIVE_INFINITY, undefined],
])('%j is page %s', (raw, page) => {
  expect(pageNumber(raw)).toBe(page)
})

test.each([
  [{}, {}],
  [
    { search: 1001, status: 1, page: '3' },
    { search: '1001', status: '1', page: 3 },
  ],
  [{ search: ['Ada'], page: 'x', days: 7 }, {}],
])('the address %j of the subscription pages is %j', (raw, search) => {
  expect(subscriptionsSearch(raw)).toEqual(search)
})

test.each([
  ['', []],
  [' \n , \n', []],
  ['a@example.com', ['a@example.com']],
  [' a@example.com \n\n@example.org,10.0.0.0/8,', ['a@example.com', '@example.org', '10.0.0.0/8']],
  ['a\r\nb\r\n', ['a', 'b']],
])('%j has the lines %j', (text, lines) => {
  expect(splitList(text)).toEqual(lines)
})
