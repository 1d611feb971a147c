/** Bounds the memory of large bodies that are coming in or being handled, over all requests and for each account. */
import { createMemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { ProblemError } from '../../../platform/problems.ts'

/** Opens a place for the body of an account's request; `encoding` is its Content-Encoding. */
export type BodyRoom = (account: string, encoding: string | undefined) => BodyPlace

/** What one body takes of the room. */
export interface BodyPlace {
  /** Counts octets as they come from the network. Throws `unavailable` when there is no room for them. */
  count(bytes: number): void
  /** Gives everything back, once. */
  leave(): void
}

/** So much of each body is free: mail of common size never waits for large mail. */
const FREE_BYTES = 128 * 1024
const RETRY_SECONDS = 5
/** What a byte of a compressed body may stand for: DEFLATE's bound. Brotli has none that helps. */
const DEFLATED = 1_032

/** Room for `most` bytes, of which one account gets half at most. No body has more than `mostOfBody`, compressed or not. */
export function createBodyRoom(most: number, mostOfBody: number): BodyRoom {
  const budget = createMemoryBudget(most)
  return (account, encoding) => {
    const weight = weightOf(encoding, mostOfBody)
    let read = 0
    let counted = 0
    return {
      count(bytes) {
        read = Math.min(read + bytes * weight, mostOfBody)
        const more = Math.max(0, read - FREE_BYTES) - counted
        if (more === 0) return
        if (!budget.take(account, more)) {
          const detail = 'Too many large messages are coming in; try again in a few seconds.'
          throw new ProblemError('unavailable', detail, { retryAfter: RETRY_SECONDS })
        }
        counted += more
      },
      leave() {
        budget.give(account, counted)
        counted = 0
      },
    }
  }
}

/** What is inside of a compressed body is known only when it is in memory, so it counts as the most that it may be. */
function weightOf(encoding: string | undefined, mostOfBody: number): number {
  if (encoding === undefined || encoding === 'identity') return 1
  return encoding === 'br' ? mostOfBody : DEFLATED
}
