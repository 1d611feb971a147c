import { describe, expect, test } from 'vitest'
import { differences } from './differences.ts'

describe('differences', () => {
  test.each<[string, object | undefined, object | undefined, Record<string, [unknown, unknown]>]>([
    ['name both sides of a field that changed', { name: 'a', price: 1 }, { name: 'b', price: 1 }, { name: ['a', 'b'] }],
    ['have null for what was not there', {}, { name: 'b' }, { name: [null, 'b'] }],
    ['have null for what is gone', { name: 'a' }, {}, { name: ['a', null] }],
    [
      'of a new record are all of its fields',
      undefined,
      { name: 'b', free: false },
      { name: [null, 'b'], free: [null, false] },
    ],
    ['of a removed record are all of its fields', { name: 'a' }, undefined, { name: ['a', null] }],
    ['are found inside of objects and lists', { tags: ['a'] }, { tags: ['a', 'b'] }, { tags: [['a'], ['a', 'b']] }],
    ['are none between equal dates', { at: new Date(7) }, { at: new Date(7) }, {}],
    ['distinguish null from an empty text', { note: null }, { note: '' }, { note: [null, ''] }],
    [
      'leave out what every write changes',
      { version: 1, updated_at: 1, edits: 1 },
      { version: 2, updated_at: 2, edits: 2 },
      {},
    ],
    ['of nothing are none', undefined, undefined, {}],
  ])('%s', (_, before, after, expected) => expect(differences(before, after)).toEqual(expected))

  test.each<[string, unknown, unknown]>([
    ['what is as long as allowed stays', 'x'.repeat(500), 'x'.repeat(500)],
    ['one character more is cut and marked', 'x'.repeat(501), `${'x'.repeat(500)}…`],
    ['an object that is too long becomes text', { a: 'x'.repeat(600) }, `{"a":"${'x'.repeat(494)}…`],
    ['a character of two halves is not cut in two', `${'x'.repeat(499)}😀`, `${'x'.repeat(499)}…`],
    ['one that ends at the limit stays complete', `${'x'.repeat(498)}😀y`, `${'x'.repeat(498)}😀…`],
  ])('%s', (_, value, shown) => expect(differences({}, { value })).toEqual({ value: [null, shown] }))
})
