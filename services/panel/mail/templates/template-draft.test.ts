import { expect, test } from 'vitest'
import { contentOf, draftOf, readSample, sampleOf } from './template-draft.ts'

const variables = [
  { key: 'name', type: 'string' as const, required: true },
  { key: 'count', type: 'number' as const, default: 2 },
  { key: 'lines', type: 'list' as const, default: [{ a: 1 }] },
  { key: 'title', type: 'string' as const, default: '2' },
]
const stored = { subject: 'S', html: '<p>', text: null, variables }

test('what is stored comes back as it was', () => {
  expect(contentOf(draftOf(stored))).toEqual({ subject: 'S', html: '<p>', text: null, variables })
})

test('sample values are defaults, or examples of the type', () => {
  expect(readSample(sampleOf(draftOf(stored).rows))).toEqual({ name: 'Ann', count: 2, lines: [{ a: 1 }], title: '2' })
})

test.each([
  ['number', '7', 7],
  ['number', 'seven', 'seven'],
  ['boolean', 'false', false],
  ['string', '7', '7'],
  ['list', '[1]', [1]],
] as const)('a default of type %s, written %s', (type, written, expected) => {
  const rows = [{ id: 0, key: 'x', type, default: written, required: false }]
  expect(contentOf({ subject: '', html: '', text: '', rows }).variables).toEqual([
    { key: 'x', type, default: expected },
  ])
})

test.each(['', '{', '[]', '1', 'null'])('no object: %j', text => {
  expect(readSample(text)).toBeUndefined()
})
