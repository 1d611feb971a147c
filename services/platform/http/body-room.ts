/** Bounds the memory of large bodies that are coming in or being handled, over all requests and for each account. */
import { createMemoryBudget } from '../concurrency/memory-budget.ts'
import { ProblemError } from '../problems.ts'
import type { WebContext } from './web-app.ts'

/** Opens a place for the body of an account's request; `encoding` is its Content-Encoding. */
export type BodyRoom = (account: string, encoding: string | undefined) => BodyPlace

/** What one body takes of the room. */
export interface BodyPlace {
  /** Counts octets as they come from the network. Throws `unavailable` when there is no room for them. */
  count(bytes: number): void
  /** Gives everything back, once. */
  leave(): void
}

/** This much of each body is free: small bodies never wait for large ones. */
const FREE_BYTES = 128 * 1024
const RETRY_SECONDS = 5
/** What a byte of a compressed body may stand for: DEFLATE's bound. Brotli has none that helps. */
const DEFLATED = 1_032

/**
 * Room for `most` bytes, of which one account gets half at most. No body has more than `mostOfBody`, compressed or not;
 * `what` names the bodies in the refusal.
 */
export function createBodyRoom(most: number, mostOfBody: number, what: string): BodyRoom {
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
          const detail = `Too many large ${what} are coming in; try again in a few seconds.`
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

/**
 * Reads a body that has this place, if any; gives what frees the place when the request was handled. A body that is
 * refused before its end closes the connection: its rest is not read.
 */
export async function readInPlace(
  context: WebContext,
  place: BodyPlace | undefined,
  read: (count: Pick<BodyPlace, 'count'>) => Promise<void>,
): Promise<(() => void) | undefined> {
  try {
    await read(place ?? { count: () => undefined })
  } catch (error) {
    place?.leave()
    if (place && !context.req.readableEnded && leavesRest(error)) context.set('Connection', 'close')
    throw error
  }
  return place?.leave
}

function leavesRest(error: unknown): boolean {
  return error instanceof ProblemError && (error.code === 'unavailable' || error.code === 'message_too_large')
}

/** What is inside of a compressed body is known only when it is in memory, so it counts as the most that it may be. */
function weightOf(encoding: string | undefined, mostOfBody: number): number {
  if (encoding === undefined || encoding === 'identity') return 1
  return encoding === 'br' ? mostOfBody : DEFLATED
}
