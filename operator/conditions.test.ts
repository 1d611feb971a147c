import { expect, test } from 'vitest'
import { type Aspect, bad, good, summarise, toConditions, unknown } from './conditions.ts'

const now = new Date('2026-11-21T10:00:00.123Z')

test.each<[string, Aspect[], string, string]>([
  ['nothing to say', [], 'True', 'Available'],
  ['all is well', [good('A', 'Fine', '')], 'True', 'Available'],
  ['one is not', [good('A', 'Fine', ''), bad('B', 'Broken', '')], 'False', 'Broken'],
  ['the first fault decides', [bad('A', 'First', ''), bad('B', 'Second', '')], 'False', 'First'],
  ['a fault goes before an unknown', [unknown('A', 'Wait', ''), bad('B', 'Broken', '')], 'False', 'Broken'],
  ['an unknown goes before good', [good('A', 'Fine', ''), unknown('B', 'Wait', '')], 'Unknown', 'Wait'],
])('Ready when %s', (_what, aspects, status, reason) => {
  expect(summarise(aspects, 'all good')).toMatchObject({ type: 'Ready', status, reason })
})

test('Ready repeats the message of what decides', () => {
  expect(summarise([bad('A', 'Broken', 'mend it')], 'all good').message).toBe('mend it')
  expect(summarise([], 'all good').message).toBe('all good')
})

test('the time of transition moves with the status only', () => {
  const first = toConditions([good('A', 'Fine', 'x')], [], 1, new Date('2026-01-01T00:00:00Z'))
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
  expect(toConditions([good('A', 'Fine', 'x')], first, 1, now)).toEqual(first)
  expect(toConditions([good('A', 'Better', 'y')], first, 2, now)[0]).toMatchObject({
    reason: 'Better',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  expect(toConditions([bad('A', 'Fine', 'x')], first, 1, now)[0]?.lastTransitionTime).toBe('2026-11-21T10:00:00Z')
})

test('a message never exceeds what the CRD allows', () => {
  expect(toConditions([bad('A', 'Long', 'x'.repeat(9_000))], [], 1, now)[0]?.message).toHaveLength(4_096)
})
