/** Clocks that tests advance. */
import type { Clock } from '../../../services/platform/clock.ts'

/** A clock with `advance`. */
export interface TestClock extends Clock {
  /** Advances the time (milliseconds). */
  advance(ms: number): void
}

/** A clock at a fixed time in 2026, or at the given one. */
export function testClock(start = new Date('2026-11-21T10:00:00Z')): TestClock {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    advance(ms) {
      now += ms
    },
  }
}

/** A clock that also runs in real time: for programs with their own timers. */
export function runningClock(): TestClock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    advance(ms) {
      ahead += ms
    },
  }
}
