import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FailureKind } from './classify-reply.ts'
import { afterAmbiguous, afterFailure, type History } from './retry.ts'

const now = new Date('2026-11-21T10:00:00Z')
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const history = (given: Partial<History> = {}): History => ({
  attempts: 1,
  ambiguous: 0,
  expiresAt: hours(72),
  policy: 'retry',
  ...given,
})
const minutesTo = (step: ReturnType<typeof afterFailure>) =>
  step.kind === 'retry' ? (step.due.getTime() - now.getTime()) / 60_000 : undefined

describe('afterFailure', () => {
  test.each<[number, FailureKind, number]>([
    [1, 'other', 1],
    [2, 'network', 4],
    [3, 'other', 10],
    [1, 'throttled', 1 / 12],
    [2, 'throttled', 0.5],
    [5, 'throttled', 5],
    [20, 'throttled', 240],
    [7, 'other', 160],
    [8, 'other', 240],
    [30, 'other', 240],
    [1, 'greylisted', 6.25],
    [5, 'greylisted', 40],
    [1, 'mailbox_full', 60],
    [2, 'mailbox_full', 240],
    [9, 'mailbox_full', 720],
    [1, 'signing', 5],
    [9, 'relay_login', 5],
  ])('attempt %i, %s: next in %d minutes', (attempts, kind, minutes) => {
    expect(minutesTo(afterFailure({ outcome: 'deferred', kind }, history({ attempts }), now, 0.5))).toBeCloseTo(minutes)
  })

  test('a refusal ends it', () => {
    expect(afterFailure({ outcome: 'bounced', kind: 'address' }, history(), now, 0.5)).toEqual({
      kind: 'end',
      status: 'bounced',
      event: 'bounced',
    })
  })

  test('the last try is at the end of the lifetime, and after it the message expires', () => {
    const late = history({ attempts: 8, expiresAt: hours(1) })
    expect(afterFailure({ outcome: 'deferred', kind: 'other' }, late, now, 0.5)).toEqual({
      kind: 'retry',
      due: hours(1),
    })
    expect(afterFailure({ outcome: 'deferred', kind: 'other' }, late, hours(1), 0.5)).toEqual({
      kind: 'end',
      status: 'failed',
      event: 'expired',
    })
  })

  test('jitter stays within a fifth, and greylisting servers never see us before five minutes', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 40 }), (jitter, attempts) => {
        const at = (kind: FailureKind, value: number) =>
          minutesTo(afterFailure({ outcome: 'deferred', kind }, history({ attempts }), now, value)) ?? 0
        const middle = at('other', 0.5)
        expect(at('other', jitter)).toBeGreaterThanOrEqual(middle * 0.8 - 0.001)
        expect(at('other', jitter)).toBeLessThanOrEqual(middle * 1.2 + 0.001)
        expect(at('greylisted', jitter)).toBeGreaterThanOrEqual(5)
      }),
    )
  })
})

describe('afterAmbiguous', () => {
  test.each([
    ['whose reply was lost', 'reply', history({ ambiguous: 1 }), 15],
    ['whose reply was lost a second time', 'reply', history({ attempts: 2, ambiguous: 2 }), 15],
    ['whose reply was lost after many others', 'reply', history({ attempts: 7, ambiguous: 1 }), 128],
    ['whose worker was gone', 'worker', history({ ambiguous: 1 }), 0.8],
    ['whose worker was gone a second time', 'worker', history({ attempts: 2, ambiguous: 2 }), 3.2],
  ] as const)('an attempt %s is repeated, even with the least jitter no sooner', (_, missing, given, minutes) => {
    const step = afterAmbiguous(missing, given, now, 0)
    expect(minutesTo(step)).toBeCloseTo(minutes)
  })

  test.each([
    ['is not repeated a third time', history({ ambiguous: 3 })],
    ['is never repeated under the policy "fail"', history({ ambiguous: 1, policy: 'fail' })],
  ])('an attempt of unknown outcome %s', (_, given) => {
    for (const missing of ['reply', 'worker'] as const)
      expect(afterAmbiguous(missing, given, now, 0)).toEqual({ kind: 'end', status: 'failed', event: 'failed' })
  })
})
