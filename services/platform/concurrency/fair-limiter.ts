/**
 * Limits expensive work of a process and shares it among accounts: an account with many requests delays only itself.
 */
import { ProblemError } from '../problems.ts'
import { sentence } from '../sentences/sentence.ts'

/** Limits of a limiter. */
export interface FairLimits {
  /** Parallel tasks; no limit by default. */
  atOnce?: number
  /** Parallel tasks of one key. */
  perKey: number
  /** Waiting tasks of one key; no limit by default. */
  waiting?: number
}

/**
 * Runs work for a key (an account) when it is its turn: keys take turns, the work of one key is done in its order. Throws
 * `rate_limited` when too much of the key waits already.
 */
export type FairLimiter = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Line {
  running: number
  waiting: (() => void)[]
}

/** Seconds after which a client may try again that found its line full. */
const RETRY_SECONDS = 5

/** A limiter without work. */
export function createFairLimiter({
  atOnce = Number.POSITIVE_INFINITY,
  perKey,
  waiting: most,
}: FairLimits): FairLimiter {
  /** The key that was served longest ago comes first. */
  const lines = new Map<string, Line>()
  let running = 0

  const start = (): void => {
    while (running < atOnce) {
      const turn = lines.entries().find(([, line]) => line.waiting.length > 0 && line.running < perKey)
      if (!turn) return
      const [key, line] = turn
      lines.delete(key)
      lines.set(key, line)
      running++
      line.running++
      line.waiting.shift()?.()
    }
  }
  const end = (key: string, line: Line): void => {
    running--
    line.running--
    lines.delete(key) // to the end: keys that arrived during this task were not served yet
    if (line.running > 0 || line.waiting.length > 0) lines.set(key, line)
    start()
  }

  return async (key, work) => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    if (most !== undefined && line.waiting.length >= most)
      throw new ProblemError('rate_limited', sentence('detail.waiting_requests', { count: most }), {
        retryAfter: RETRY_SECONDS,
      })
    lines.set(key, line)
    await new Promise<void>(resolve => {
      line.waiting.push(resolve)
      start()
    })
    try {
      return await work()
    } finally {
      end(key, line)
    }
  }
}
