import { expect, test } from 'vitest'
import { isSameList } from './placeholder-data.ts'

test.each([
  ['the next page', { query: { after: 'a' } }, { query: { after: 'b' } }, true],
  ['a filter', { query: {} }, { query: { status: 'bounced' } }, true],
  ['a filter within an app', { query: { app_key: 'shop', search: 'a' } }, { query: { app_key: 'shop' } }, true],
  ['a plan with other answers', { params: { id: 'x' }, body: {} }, { params: { id: 'x' }, body: { accept: [] } }, true],
  ['another app', { query: { app_key: 'shop' } }, { query: { app_key: 'game' } }, false],
  ['another thing', { params: { id: 'a' } }, { params: { id: 'b' } }, false],
  ['a thing instead of a list', {}, { params: { id: 'b' } }, false],
  ['a list instead of a thing', { params: { id: 'b' } }, {}, false],
  ['the first read of a list', undefined, { query: {} }, true],
  ['the first read of a thing', undefined, { params: { id: 'b' } }, false],
])('%s: %j before %j stays: %s', (_, before, now, stays) => {
  expect(isSameList(before, now)).toBe(stays)
})
