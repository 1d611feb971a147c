import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_SECONDS } from '../../platform/durations.ts'
import {
  begin,
  cancel,
  endNow,
  expire,
  extend,
  givesAccess,
  type Period,
  type PlanSnapshot,
  pending,
  refund,
  renew,
  STATUS,
  type Step,
  setAutoRenew,
  setEnd,
} from './subscription-lifecycle.ts'

const NOW = 1_800_000_000
const plan = (duration: number, grace_days = 0): PlanSnapshot => ({
  plan_id: 1,
  version: 1,
  name: 'p',
  price_cents: 100,
  duration,
  grace_days,
  features: [],
})
const active = begin(plan(30), NOW, true)
const forever = begin(plan(0), NOW, true)
const expired: Period = { ...active, status: STATUS.expired, ended_at: active.end }
const cancelled: Period = { ...active, status: STATUS.cancelled, end: NOW, lapse_at: NOW }
const refunded: Period = { ...cancelled, status: STATUS.refunded }
const waiting = pending(plan(30), NOW)

/** The table of the states: from, step, and what comes out: the new status or the reason of a refusal. */
const steps: Record<string, (period: Period) => Step> = {
  renew: period => renew(period, plan(30), NOW),
  extend: period => extend(period, plan(30), 3, NOW),
  'cancel at the end': period => cancel(period, 'period_end', NOW),
  'cancel now': period => cancel(period, 'now', NOW),
  refund: period => refund(period, NOW),
  'auto renew on': period => setAutoRenew(period, true),
  'set end': period => setEnd(period, plan(30), NOW + DAY_SECONDS, NOW),
  'end now': period => endNow(period, NOW),
}
const table: Record<string, [period: Period, outcomes: (number | string)[]]> = {
  pending: [waiting, [1, 'not_active', 3, 3, 'not_active', 'not_active', 'not_active', 'not_active']],
  active: [active, [1, 1, 1, 3, 4, 1, 1, 2]],
  permanent: [forever, ['permanent', 'permanent', 'permanent', 3, 4, 'permanent', 'permanent', 'permanent']],
  expired: [expired, [1, 1, 'not_active', 3, 4, 'not_active', 1, 'not_active']],
  cancelled: [cancelled, ['final', 'final', 'final', 'final', 'final', 'final', 'final', 'not_active']],
  refunded: [refunded, ['final', 'final', 'final', 'final', 'final', 'final', 'final', 'not_active']],
}

describe.each(Object.entries(table))('from %s', (_, [period, outcomes]) => {
  test.each(Object.entries(steps).map(([name, step], i) => [name, step, outcomes[i]] as const))(
    '%s',
    (_, step, outcome) => {
      const result = step(period)
      expect(result.ok ? result.period.status : result.reason).toBe(outcome)
    },
  )
})

function must(step: Step): Period {
  if (!step.ok) throw new Error(step.reason)
  return step.period
}

test('a renewal while it runs adds to the end; after the end it starts again from now', () => {
  expect(must(renew(active, plan(30), NOW + DAY_SECONDS)).end).toBe(NOW + 60 * DAY_SECONDS)
  expect(must(renew(active, plan(30), NOW + 40 * DAY_SECONDS))).toMatchObject({
    start: NOW + 40 * DAY_SECONDS,
    end: NOW + 70 * DAY_SECONDS,
  })
})

test('gives access and renews from its end during grace, and has lapsed afterwards', () => {
  const graced = begin(plan(30, 3), NOW, false)
  const inGrace = NOW + 32 * DAY_SECONDS
  expect(givesAccess(graced, inGrace)).toBe(true)
  expect(expire(graced, inGrace).ok).toBe(false)
  expect(must(renew(graced, plan(30, 3), inGrace)).end).toBe(inGrace + 30 * DAY_SECONDS)
  expect(givesAccess(graced, NOW + 33 * DAY_SECONDS)).toBe(false)
  expect(must(expire(graced, NOW + 33 * DAY_SECONDS)).status).toBe(STATUS.expired)
})

test('a refund cuts the end to now, never later than it was, and keeps the old one', () => {
  expect(must(refund(active, NOW + DAY_SECONDS))).toMatchObject({
    end: NOW + DAY_SECONDS,
    previous_end: active.end,
    auto_renew: false,
  })
  expect(must(refund(expired, NOW + 50 * DAY_SECONDS)).end).toBe(expired.end)
  expect(must(refund(forever, NOW + DAY_SECONDS))).toMatchObject({ end: NOW + DAY_SECONDS, previous_end: 0 })
})

test('an end reported by a channel reactivates an ended subscription only when it is in the future', () => {
  const graced = { ...begin(plan(30, 3), NOW, false), status: STATUS.expired }
  const later = NOW + 60 * DAY_SECONDS
  expect(setEnd(graced, plan(30, 3), later, later)).toEqual({ ok: false, reason: 'not_active' })
  expect(setEnd(graced, plan(30, 3), NOW, later)).toEqual({ ok: false, reason: 'not_active' })
  expect(must(setEnd(graced, plan(30, 3), later + 1, later))).toMatchObject({ status: STATUS.active, end: later + 1 })
  expect(must(setEnd(active, plan(30), NOW, later))).toMatchObject({ status: STATUS.active, end: later })
})

test('what ended before it was cut keeps the time of its end; what never began has none', () => {
  expect(must(refund(expired, NOW + 50 * DAY_SECONDS)).ended_at).toBe(expired.ended_at)
  expect(must(cancel(expired, 'now', NOW + 50 * DAY_SECONDS)).ended_at).toBe(expired.ended_at)
  expect(must(refund(active, NOW + DAY_SECONDS)).ended_at).toBe(NOW + DAY_SECONDS)
  expect(must(cancel(waiting, 'now', NOW + DAY_SECONDS))).not.toHaveProperty('ended_at')
})

test('the sum of renewals does not depend on their order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 }),
      fc.integer(),
      (days, seed) => {
        const run = (order: readonly number[]) =>
          order.reduce((period, duration) => must(renew(period, plan(duration), NOW)), active).end
        const shuffled = days.toSorted((a, b) => ((a * 31 + seed) % 17) - ((b * 31 + seed) % 17))
        expect(run(shuffled)).toBe(run(days))
      },
    ),
  )
})

test('access never returns as time passes', () => {
  fc.assert(
    fc.property(fc.nat(400), fc.nat(30), fc.nat(500), fc.nat(500), (duration, grace, a, b) => {
      const period = begin(plan(duration, grace), NOW, false)
      const [early, late] = [Math.min(a, b), Math.max(a, b)].map(days => givesAccess(period, NOW + days * DAY_SECONDS))
      expect(early || !late).toBe(true)
    }),
  )
})

describe('whatever happens in whatever order', () => {
  /** Any step, at increasing times. */
  const steps = fc.array(
    fc.record({
      step: fc.constantFrom<((period: Period, sold: PlanSnapshot, now: number, days: number) => Step)[]>(
        (period, sold, now) => renew(period, sold, now),
        (period, sold, now) => renew(period, sold, now, true),
        (period, sold, now, days) => extend(period, sold, days + 1, now),
        (period, sold, now, days) => setEnd(period, sold, now + (days - 30) * DAY_SECONDS, now),
        (period, _, now) => cancel(period, 'period_end', now),
        (period, _, now) => cancel(period, 'now', now),
        (period, _, now) => refund(period, now),
        period => setAutoRenew(period, true),
        (period, _, now) => expire(period, now),
        (period, _, now) => endNow(period, now),
      ),
      days: fc.nat(60),
      duration: fc.constantFrom(0, 1, 30, 31, 365),
      grace: fc.constantFrom(0, 3),
    }),
    { maxLength: 25 },
  )

  /** The states of a life, from the first on, each with the time at which it was reached. */
  function* live(first: Period, life: readonly (typeof steps extends fc.Arbitrary<infer T> ? T : never)[number][]) {
    let period = first
    let now = NOW
    let begun = period.status === STATUS.active
    yield { before: first, period, now, begun, step: undefined }
    for (const { step, days, duration, grace } of life) {
      now += days * DAY_SECONDS
      const result = step(period, plan(duration, grace), now, days)
      const before = period
      if (result.ok) period = result.period
      begun ||= period.status === STATUS.active
      yield { before, period, now, begun, step: result }
    }
  }

  const lives = (check: (state: ReturnType<typeof live> extends Generator<infer S> ? S : never) => void) =>
    fc.assert(
      fc.property(fc.constantFrom(waiting, active, forever), steps, (first, life) => {
        for (const state of live(first, life)) check(state)
      }),
      { numRuns: 500 },
    )

  test('a final state is never left, and a refused step changes nothing', () => {
    lives(({ before, period, step }) => {
      if (before.status === STATUS.cancelled || before.status === STATUS.refunded) expect(period).toBe(before)
      if (step?.ok === false) expect(period).toBe(before)
    })
  })

  test('a permanent one never lapses and never renews itself; a timed one lapses at its end or after it', () => {
    lives(({ period }) => {
      if (period.end === 0) expect(period).toMatchObject({ lapse_at: 0, auto_renew: false })
      else expect(period.lapse_at).toBeGreaterThanOrEqual(period.end)
      expect(Number.isSafeInteger(period.end)).toBe(true)
    })
  })

  test('an active one ends in the future, and an ended one has the time of its end', () => {
    lives(({ period, now, begun }) => {
      const over = period.status !== STATUS.active && period.status !== STATUS.pending
      expect(period.ended_at !== undefined).toBe(over && begun)
      if (period.ended_at !== undefined) expect(period.ended_at).toBeLessThanOrEqual(now)
      if (over) expect(givesAccess(period, now)).toBe(false)
    })
  })

  test('money never shortens a period that runs', () => {
    lives(({ period, now }) => {
      if (!givesAccess(period, now)) return
      const renewed = renew(period, plan(30), now)
      if (renewed.ok) expect(renewed.period.end).toBeGreaterThanOrEqual(period.end + 30 * DAY_SECONDS)
      const forGood = renew(period, plan(0), now)
      if (forGood.ok) expect(forGood.period.end).toBe(0)
      expect(renewed.ok).toBe(period.end !== 0)
    })
  })
})
