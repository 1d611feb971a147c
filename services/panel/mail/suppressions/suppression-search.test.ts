import { expect, test } from 'vitest'
import { suppressionQuery, suppressionSearch } from './suppression-search.ts'

test.each<[Record<string, unknown>, object]>([
  [{}, {}],
  [
    { email: 'a@b.example', reason: 'complaint', after: 'sup_1' },
    { email: 'a@b.example', reason: 'complaint', after: 'sup_1' },
  ],
  [{ reason: 'bored', email: { $ne: '' } }, {}],
  [{ reason: { $ne: '' }, other: 'x' }, {}],
])('the address %j has the filters %j', (raw, expected) => {
  expect(suppressionSearch(raw)).toEqual(expected)
})

test.each([
  ['ann@example.net', 'ann@example.net'],
  ['ann', undefined],
  ['ann@', undefined],
  ['', undefined],
])('the text %j asks for %s', (email, expected) => {
  expect(suppressionQuery({ email, reason: 'manual' })).toEqual({ reason: 'manual', ...(expected && { email }) })
})
