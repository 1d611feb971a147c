import { expect, test } from 'vitest'
import { newId, timeOfId } from './ids.ts'

test('ids carry their prefix and 26 characters of Crockford base 32', () => {
  expect(newId('em')).toMatch(/^em_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('ids of later milliseconds sort later', () => {
  const ids = Array.from({ length: 1000 }, (_, ms) => newId('em', 1_700_000_000_000 + ms))
  expect(ids.toSorted()).toEqual(ids)
})

test('a hundred thousand ids of one millisecond are different', () => {
  expect(new Set(Array.from({ length: 100_000 }, () => newId('em', 1))).size).toBe(100_000)
})

test.each([0, 1, 1_700_000_000_123, 2 ** 48 - 1])('an id contains its creation time: %d', time => {
  expect(timeOfId(newId('em', time))).toBe(time)
})

test.each(['', 'em_', 'em_01k3', 'em_01k3!abcde'])('%j is no id and has no time', text => {
  expect(timeOfId(text)).toBeNaN()
})
