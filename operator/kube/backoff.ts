/** Pauses between attempts: decorrelated jitter, so that many clients do not retry at the same time. */

/** Pauses of one chain of failures. */
export interface Backoff {
  /** Milliseconds to wait after one more failure. */
  next(): number
  reset(): void
}

/**
 * Pauses between `baseMs` and `capMs`; each is drawn between the base and three times the previous one. `random`
 * returns numbers in [0, 1).
 */
export function createBackoff(baseMs: number, capMs: number, random: () => number): Backoff {
  let last = baseMs
  return {
    next() {
      last = Math.min(capMs, baseMs + random() * (last * 3 - baseMs))
      return last
    },
    reset() {
      last = baseMs
    },
  }
}
