/** Bounds the memory of large bodies that are coming in or being handled, over all requests and for each account. */
import type { IncomingMessage } from 'node:http'
import { ProblemError } from '../../platform/problems.ts'

/** Runs work that reads the body. Throws `unavailable` when the body finds no room; the rest of it is not read. */
export type BodyRoom = <T>(request: IncomingMessage, account: string, work: () => Promise<T>) => Promise<T>

/** So much of each body is free: mail of common size never waits for large mail. */
const FREE_BYTES = 128 * 1024
const RETRY_SECONDS = 5

/** Room for `most` bytes, of which one account gets half. */
export function createBodyRoom(most: number): BodyRoom {
  const held = new Map<string, number>()
  let used = 0
  const take = (account: string, bytes: number) => {
    used += bytes
    const holds = (held.get(account) ?? 0) + bytes
    if (holds === 0) held.delete(account)
    else held.set(account, holds)
    return used <= most && holds <= most / 2
  }
  return async (request, account, work) => {
    const full = Promise.withResolvers<never>()
    let read = 0
    let counted = 0
    const count = (chunk: Buffer) => {
      read += chunk.length
      const more = Math.max(0, read - FREE_BYTES) - counted
      if (more === 0) return
      counted += more
      if (take(account, more)) return
      request.off('data', count).pause()
      const detail = 'Too many large messages are coming in; try again in a few seconds.'
      full.reject(new ProblemError('unavailable', detail, { retryAfter: RETRY_SECONDS }))
    }
    const working = work()
    // Behind the reader's own listener: what flows begins when both are there.
    request.on('data', count)
    working.catch(() => undefined) // of a reader that was left, when the connection ends
    try {
      return await Promise.race([working, full.promise])
    } finally {
      request.off('data', count)
      take(account, -counted)
    }
  }
}
