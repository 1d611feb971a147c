/** A clock that tests turn by hand. */
import type { Clock } from '../../../services/platform/clock.ts'

/** Moves when it is turned. */
export interface TestClock extends Clock {
  /** Moves the time on by so many milliseconds. */
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

/** A clock that runs by itself from the present time on: for programs whose own timers run as well. */
export function runningClock(): TestClock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    advance(ms) {
      ahead += ms
    },
  }
}
