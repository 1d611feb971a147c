/** Tries again: work that failed, questions without an answer yet, and writes that another writer forestalled. */
import { type ProblemCode, ProblemError } from '../problems.ts'
import { abortableDelay } from './abortable-delay.ts'

/** How often, and how long. */
export interface Tries {
  /** Mean pause between two tries, in milliseconds; each is up to a fifth shorter or longer. */
  pauseMs: number
  /** A try that fails after this time, in milliseconds, is the last one; without it there is no end. */
  timeoutMs?: number
  /** Ends the pauses, and with them the tries. */
  signal?: AbortSignal
}

/** Which errors are tried again. */
export interface Retries extends Tries {
  on(error: unknown): boolean
  /** Called before each pause. */
  onRetry?(error: unknown): void
}

/** Repeats work while it fails with such an error. Rejects with the last error of it. */
export async function retry<T>(work: () => Promise<T>, { on, onRetry, ...tries }: Retries): Promise<T> {
  let last: unknown
  const done = await poll(async () => {
    try {
      return { value: await work() }
    } catch (error) {
      if (!on(error)) throw error
      last = error
      onRetry?.(error)
      return undefined
    }
  }, tries)
  if (!done) throw last
  return done.value
}

/** Polls until the result is neither undefined nor false; undefined after the timeout. */
export async function poll<T>(
  attempt: () => Promise<T | undefined | false>,
  { pauseMs, timeoutMs = Number.POSITIVE_INFINITY, signal }: Tries,
): Promise<T | undefined> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const answer = await attempt()
    if (answer !== undefined && answer !== false) return answer
    if (signal?.aborted || performance.now() >= until) return undefined
    await abortableDelay(pauseMs * (0.8 + 0.4 * Math.random()), signal)
    if (signal?.aborted) return undefined
  }
}

/** Most tries of {@link writeAsRead}: each needs another writer to be faster. */
const WRITES = 5

/**
 * Reads, decides and writes, again while `attempt` resolves to undefined because another writer was faster. Throws
 * `conflict` after five tries.
 */
export async function writeAsRead<T>(
  attempt: () => Promise<T | undefined>,
  conflict: ProblemCode = 'version_conflict',
): Promise<T> {
  for (let tries = 0; tries < WRITES; tries++) {
    const written = await attempt()
    if (written !== undefined) return written
  }
  throw new ProblemError(conflict)
}
