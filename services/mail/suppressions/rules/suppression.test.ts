import { describe, expect, test } from 'vitest'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import {
  explainSuppression,
  STREAM_NAME,
  type SuppressionState,
  streamsAbove,
  suppressionAddress,
  suppressionFor,
} from './suppression.ts'

const NOW = new Date('2026-11-23T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)
const entry = (stream: string, more: Partial<SuppressionState> = {}): SuppressionState => ({
  ...{ email: 'ann@example.net', stream, reason: 'manual', created_at: at(-1_000) },
  ...more,
})

test.each([
  [undefined, ['', 'transactional']],
  ['transactional', ['', 'transactional']],
  ['bulk', ['', 'bulk']],
  ['bulk/news', ['', 'bulk', 'bulk/news']],
])('for a message of stream %s entries of these streams hold: %j', (stream, expected) => {
  expect(streamsAbove(stream)).toEqual(expected)
})

test.each([
  ['transactional', true],
  ['bulk', true],
  ['bulk/news', true],
  ['bulk/2026-11.weekly_b', true],
  [`bulk/${'a'.repeat(64)}`, true],
  [`bulk/${'a'.repeat(65)}`, false],
  ['bulk/', false],
  ['bulk/News', false],
  ['bulk/a/b', false],
  ['transactional/a', false],
  ['', false],
  ['other', false],
  ['bulk\n', false],
])('%j names a stream: %s', (name, expected) => {
  expect(STREAM_NAME.test(name)).toBe(expected)
})

describe('the entry that holds', () => {
  const all = entry('', { reason: 'complaint' })
  const bulk = entry('bulk', { reason: 'unsubscribe' })
  const list = entry('bulk/news')
  test.each<[string, SuppressionState[], string | undefined, SuppressionState | undefined]>([
    ['none', [], 'bulk', undefined],
    ['of all streams, whatever the message', [all], 'transactional', all],
    ['of all streams before a narrower one', [list, bulk, all], 'bulk/news', all],
    ['of the stream before the list', [list, bulk], 'bulk/news', bulk],
    ['of the list', [list], 'bulk/news', list],
    ['not of another list', [list], 'bulk/offers', undefined],
    ['not of a list, for the whole stream', [list], 'bulk', undefined],
    ['not of bulk mail, for transactional mail', [bulk, list], undefined, undefined],
  ])('%s', (_, entries, stream, expected) => {
    expect(suppressionFor(entries, stream, NOW)).toBe(expected)
  })

  test.each([
    ['one millisecond before its end', 1, true],
    ['at its end', 0, false],
    ['after its end', -1, false],
  ])('%s', (_, left, holds) => {
    expect(suppressionFor([entry('', { expires_at: at(left) })], undefined, NOW) !== undefined).toBe(holds)
  })

  test('is a narrower one once the wider one has ended', () => {
    expect(suppressionFor([entry('', { expires_at: NOW }), bulk], 'bulk', NOW)).toBe(bulk)
  })
})

test.each([
  ['Ann@Example.NET', 'ann@example.net'],
  ['"A b"@example.net', '"a b"@example.net'],
])('%s is stored as %s', (written, stored) => {
  expect(suppressionAddress(written)).toBe(stored)
})

test('the log says why and since when', () => {
  expect(inEnglish(explainSuppression(entry('', { reason: 'hard_bounce' })))).toBe(
    'on the suppression list of the account since 2026-11-23 (the address does not exist)',
  )
})
