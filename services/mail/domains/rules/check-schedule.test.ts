import { describe, expect, test } from 'vitest'
import { afterSettled, type CheckOutcome, type CheckState, nextState } from './check-schedule.ts'

const start = new Date('2026-11-01T00:00:00Z')
const after = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
const HOURS = 60
const fresh: CheckState = {
  status: 'pending',
  created_at: start,
  pinned: false,
  managed: false,
  attempts: 0,
  failures: 0,
}
const verified: CheckState = { ...fresh, status: 'verified', verified_at: start }
const minutesOf = (next: Date | undefined, now: Date) => next && (next.getTime() - now.getTime()) / 60_000

test('a pending claim is looked at after 1, 2, 5 and 15 minutes, then hourly, and expires after 14 days', () => {
  let state = fresh
  const waits: (number | undefined)[] = []
  for (let i = 0; i < 6; i++) {
    const next = nextState(state, 'pending', start, 0.5)
    waits.push(minutesOf(next.next_check_at, start))
    state = { ...state, ...next }
  }
  expect(waits).toEqual([1, 2, 5, 15, 60, 60])
  const late = after(14 * 24 * HOURS)
  expect(nextState(state, 'failed', late, 0.5)).toMatchObject({ status: 'failed', event: 'domain.failed' })
  expect(nextState(state, 'failed', late, 0.5).next_check_at).toBeUndefined()
})

test.each([
  [verified, 360],
  [{ ...verified, managed: true }, 15],
])('a verified domain is looked at every six hours, a managed one every quarter', (state, minutes) => {
  expect(minutesOf(nextState(state, 'verified', start, 0.5).next_check_at, start)).toBe(minutes)
})

describe('a managed domain with all records', () => {
  test('is looked at for changes every five minutes, and checked completely after half an hour', () => {
    for (const jitter of [0, 0.5, 0.999_999]) {
      const kinds: string[] = []
      let now = start
      while (kinds.at(-1) !== 'full') {
        const next = afterSettled(start, now, jitter)
        const wait = minutesOf(next.next_check_at, now) ?? 0
        expect(wait).toBeGreaterThanOrEqual(4.5)
        expect(wait).toBeLessThanOrEqual(5.5)
        if (next.quick_check_at) expect(next.quick_check_at).toEqual(next.next_check_at)
        kinds.push(next.quick_check_at ? 'quick' : 'full')
        now = next.next_check_at
      }
      expect(now.getTime() - start.getTime()).toBeGreaterThanOrEqual(30 * 60_000)
      expect(now.getTime() - start.getTime()).toBeLessThan(35.5 * 60_000)
    }
  })
})

test('jitter spreads by ten per cent either way', () => {
  expect(minutesOf(nextState(verified, 'verified', start, 0).next_check_at, start)).toBe(324)
  expect(minutesOf(nextState(verified, 'verified', start, 0.999_999_999).next_check_at, start)).toBeCloseTo(396, 3)
})

test('the first success verifies', () => {
  expect(nextState(fresh, 'verified', start, 0)).toMatchObject({
    status: 'verified',
    event: 'domain.verified',
    failures: 0,
  })
})

/** Runs outcomes at minutes and gives back what was announced when. */
function history(state: CheckState, steps: [number, CheckOutcome][]) {
  const events: [number, string | undefined, string][] = []
  let current = state
  for (const [minute, outcome] of steps) {
    const next = nextState(current, outcome, after(minute), 0.5)
    events.push([minute, next.event, next.status])
    const { failing_since: _, lost_at: __, ...kept } = current
    current = { ...kept, ...next }
  }
  return events
}

describe('losing a domain', () => {
  test('takes three definite failures over a day, and then three days of grace', () => {
    expect(
      history(verified, [
        [0, 'failed'],
        [6 * HOURS, 'failed'],
        [12 * HOURS, 'failed'],
        [24 * HOURS, 'failed'],
        [95 * HOURS, 'failed'],
        [96 * HOURS, 'failed'],
      ]),
    ).toEqual([
      [0, 'domain.failing', 'verified'],
      [6 * HOURS, undefined, 'verified'],
      [12 * HOURS, undefined, 'verified'],
      [24 * HOURS, 'domain.lost', 'verified'],
      [95 * HOURS, undefined, 'verified'],
      [96 * HOURS, 'domain.failed', 'failed'],
    ])
  })

  test('two failures a month apart are not a loss when the record was back between', () => {
    expect(
      history(verified, [
        [0, 'failed'],
        [60, 'verified'],
        [43_200, 'failed'],
      ]).map(([, event]) => event),
    ).toEqual(['domain.failing', 'domain.recovered', 'domain.failing'])
  })

  test('temporary failures never flip a verified domain, for however long', () => {
    const weeks = Array.from({ length: 200 }, (_, i): [number, CheckOutcome] => [i * 6 * HOURS, 'temporary'])
    expect(new Set(history(verified, weeks).map(([, event, status]) => `${event} ${status}`))).toEqual(
      new Set(['undefined verified']),
    )
  })

  test('a lost domain recovers by itself', () => {
    const lost: CheckState = { ...verified, status: 'failed' }
    expect(nextState(lost, 'verified', start, 0)).toMatchObject({ status: 'verified', event: 'domain.recovered' })
    expect(minutesOf(nextState(lost, 'failed', start, 0.5).next_check_at, start)).toBe(360)
  })

  test('what an admin marked verified is not taken back by DNS', () => {
    const pinned = { ...verified, pinned: true }
    expect(
      history(
        pinned,
        Array.from({ length: 30 }, (_, i): [number, CheckOutcome] => [i * 360, 'failed']),
      ).every(([, event, status]) => !event && status === 'verified'),
    ).toBe(true)
  })
})

test('a suspended domain is not looked at', () => {
  const next = nextState({ ...fresh, status: 'suspended' }, 'verified', start, 0)
  expect(next).toMatchObject({ status: 'suspended' })
  expect(next.next_check_at).toBeUndefined()
})
