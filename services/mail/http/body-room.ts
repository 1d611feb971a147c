/** Bounds the memory of large bodies that are coming in or being handled, over all requests and for each account. */
import type { IncomingMessage } from 'node:http'
import { createMemoryBudget } from '../../platform/memory-budget.ts'
import { ProblemError } from '../../platform/problems.ts'

/** Runs work that reads the body. Throws `unavailable` when the body finds no room; the rest of it is not read. */
export type BodyRoom = <T>(request: IncomingMessage, account: string, work: () => Promise<T>) => Promise<T>

/** So much of each body is free: mail of common size never waits for large mail. */
const FREE_BYTES = 128 * 1024
const RETRY_SECONDS = 5
/** What a byte of a compressed body may stand for: DEFLATE's bound. Brotli has none that helps. */
const DEFLATED = 1_032

/** Room for `most` bytes, of which one account gets half at most. No body has more than `mostOfBody`, compressed or not. */
export function createBodyRoom(most: number, mostOfBody: number): BodyRoom {
  const budget = createMemoryBudget(most)
  return async (request, account, work) => {
    const left = Promise.withResolvers<never>()
    const weight = weightOf(request.headers['content-encoding'], mostOfBody)
    let read = 0
    let counted = 0
    const count = (chunk: Buffer) => {
      read = Math.min(read + chunk.length * weight, mostOfBody)
      const more = Math.max(0, read - FREE_BYTES) - counted
      if (more === 0) return
      if (budget.take(account, more)) {
        counted += more
        return
      }
      request.off('data', count).pause()
      const detail = 'Too many large messages are coming in; try again in a few seconds.'
      left.reject(new ProblemError('unavailable', detail, { retryAfter: RETRY_SECONDS }))
    }
    // Whoever unpacks a body never hears that the rest of it will not come.
    const close = () => {
      if (!request.complete) left.reject(new ProblemError('invalid_json', 'The connection ended before the body.'))
    }
    const working = work()
    // Behind the reader's own listener: what flows begins when both are there.
    request.on('data', count).on('close', close)
    working.catch(() => undefined) // of a reader that was left, when the connection ends
    try {
      return await Promise.race([working, left.promise])
    } finally {
      request.off('data', count).off('close', close)
      budget.give(account, counted)
    }
  }
}

/** What is inside of a compressed body is known only when it is in memory, so it counts as the most that it may be. */
function weightOf(encoding: string | undefined, mostOfBody: number): number {
  if (encoding === undefined || encoding === 'identity') return 1
  return encoding === 'br' ? mostOfBody : DEFLATED
}
