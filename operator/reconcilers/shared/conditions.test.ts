import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import {
  bad,
  type ConditionState,
  cut,
  good,
  isWorthWriting,
  progressOf,
  summarise,
  toConditions,
  unknown,
} from './conditions.ts'

const now = new Date('2026-11-21T10:00:00.123Z')

test.each<[string, ConditionState[], string, string]>([
  ['no conditions', [], 'True', 'Available'],
  ['all is well', [good('A', 'Fine', verbatim(''))], 'True', 'Available'],
  ['one is not', [good('A', 'Fine', verbatim('')), bad('B', 'Broken', verbatim(''))], 'False', 'Broken'],
  ['the first failure decides', [bad('A', 'First', verbatim('')), bad('B', 'Second', verbatim(''))], 'False', 'First'],
  [
    'a failure precedes an unknown',
    [unknown('A', 'Wait', verbatim('')), bad('B', 'Broken', verbatim(''))],
    'False',
    'Broken',
  ],
  [
    'an unknown precedes good',
    [good('A', 'Fine', verbatim('')), unknown('B', 'Wait', verbatim(''))],
    'Unknown',
    'Wait',
  ],
])('Ready when %s', (_what, conditions, status, reason) => {
  expect(summarise(conditions, verbatim('all good'))).toMatchObject({ type: 'Ready', status, reason })
})

test('Ready repeats the message of what decides', () => {
  expect(summarise([bad('A', 'Broken', verbatim('fix it'))], verbatim('all good')).message).toBe('fix it')
  expect(summarise([], verbatim('all good')).message).toBe('all good')
})

describe('progress', () => {
  const why = verbatim('Because.')
  test.each<[string, ConditionState[], string | undefined, string?]>([
    ['none of a ready resource', [good('Accepted', 'Accepted', why)], undefined],
    ['none of a resource without conditions', [], undefined],
    [
      'none where a receiver refused mail only',
      [good('Accepted', 'Accepted', why), bad('Authenticated', 'Refused', why)],
      undefined,
    ],
    ['an unknown state is progress', [unknown('Verified', 'LookupFailed', why)], 'Reconciling', 'LookupFailed'],
    ['missing records are waited for', [bad('DNSSynced', 'Guidance', why)], 'Reconciling', 'Guidance'],
    ['a missing dependency is waited for', [bad('Accepted', 'DependencyNotReady', why)], 'Reconciling'],
    ['an invalid spec is not', [bad('Accepted', 'InvalidSpec', why)], 'Stalled', 'InvalidSpec'],
    ['a reason of a later release is a refusal', [bad('Accepted', 'SomethingNew', why)], 'Stalled', 'SomethingNew'],
    [
      'a refusal decides over what is waited for',
      [bad('DNSSynced', 'Guidance', why), bad('Verified', 'Suspended', why)],
      'Stalled',
      'Suspended',
    ],
    [
      'an unknown state with the reason of a refusal is retried',
      [unknown('DNSSynced', 'Conflict', why)],
      'Reconciling',
      'Conflict',
    ],
  ])('%s', (_what, conditions, type, reason) => {
    const progress = progressOf(conditions)
    expect(progress?.type).toBe(type)
    if (progress) expect(progress).toMatchObject({ status: 'True', message: 'Because.', ...(reason ? { reason } : {}) })
  })
})

test('the time of transition moves with the status only', () => {
  const first = toConditions([good('A', 'Fine', verbatim('x'))], [], 1, new Date('2026-01-01T00:00:00Z'))
  expect(first).toEqual([
    {
      type: 'A',
      status: 'True',
      reason: 'Fine',
      message: 'x',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ])
  expect(toConditions([good('A', 'Fine', verbatim('x'))], first, 1, now)).toEqual(first)
  expect(toConditions([good('A', 'Better', verbatim('y'))], first, 2, now)[0]).toMatchObject({
    reason: 'Better',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  expect(toConditions([bad('A', 'Fine', verbatim('x'))], first, 1, now)[0]?.lastTransitionTime).toBe(
    '2026-11-21T10:00:00Z',
  )
})

test('a message never exceeds what the CRD allows', () => {
  expect(toConditions([bad('A', 'Long', verbatim('x'.repeat(9_000)))], [], 1, now)[0]?.message).toHaveLength(4_096)
})

test('a cut never splits a character: the stored text equals the sent one', () => {
  // The first fits, of the second half a character would remain.
  for (const lead of ['', 'x']) {
    const [condition] = toConditions([bad('A', 'Long', verbatim(lead + '🚀'.repeat(4_000)))], [], 1, now)
    expect(condition?.message).toBe(lead + '🚀'.repeat(2_048 - lead.length))
    const next = toConditions(
      [bad('A', 'Long', verbatim(lead + '🚀'.repeat(4_000)))],
      condition ? [condition] : [],
      1,
      now,
    )
    expect(next).toEqual([condition])
  }
})

test('whatever is cut is a beginning, as long as it may be, and well formed where the text was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(50), (text, most) => {
      const short = cut(text, most)
      expect(text.startsWith(short)).toBe(true)
      expect(short.isWellFormed()).toBe(true)
      expect(short.length).toBeLessThanOrEqual(most)
      expect(short.length).toBeGreaterThanOrEqual(Math.min(text.length, most - 1))
    }),
  )
})

const at = (minute: number, more: object = {}) => ({
  lastCheckTime: new Date(Date.UTC(2026, 10, 21, 10, minute)).toISOString(),
  nextCheckTime: new Date(Date.UTC(2026, 10, 21, 10, minute + 15)).toISOString(),
  ...more,
})
test.each<[string, object | undefined, object, boolean]>([
  ['the first one', undefined, at(0), true],
  ['the same one', at(0), at(0), false],
  ['another time', at(0), at(15), false],
  ['a time that is an hour old', at(0), at(60), true],
  ['a first time', {}, at(0), true],
  ['another fact', at(0, { owner: 'ann' }), at(0, { owner: 'bob' }), true],
  ['a fact that is gone', at(0, { owner: 'ann' }), at(15), true],
])('%s is written or not', (_what, before, after, expected) => {
  expect(isWorthWriting(before, after)).toBe(expected)
})
