/** Limits the memory of large request bodies in transfer or in process, over all requests and per account. */
import { createMemoryBudget } from '../concurrency/memory-budget.ts'
import { ProblemError } from '../problems.ts'
import type { Sentence } from '../sentences/sentence.ts'
import type { WebContext } from './web-app.ts'

/** Opens a place for the body of an account's request; `encoding` is its Content-Encoding. */
export type BodyRoom = (account: string, encoding: string | undefined) => BodyPlace

/** Memory of one body. */
export interface BodyPlace {
  /** Counts bytes as they arrive. Throws `unavailable` when they do not fit. */
  count(bytes: number): void
  /** Releases all counted bytes; further calls do nothing. */
  release(): void
}

/** This much of each body is free: small bodies never wait for large ones. */
const FREE_BYTES = 128 * 1024
const RETRY_SECONDS = 5
/** Largest expansion of a compressed byte: DEFLATE's bound. Brotli has no useful one. */
const DEFLATED = 1_032

/**
 * Room for `most` bytes, of which one account gets at most half. No body has more than `mostOfBody`, compressed or not;
 * `busy` is the refusal of a body that does not fit.
 */
export function createBodyRoom(most: number, mostOfBody: number, busy: Sentence): BodyRoom {
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
        if (!budget.take(account, more)) throw new ProblemError('unavailable', busy, { retryAfter: RETRY_SECONDS })
        counted += more
      },
      release() {
        budget.give(account, counted)
        counted = 0
      },
    }
  }
}

/**
 * Reads a body within its room, if it needs any; returns a function that releases it once the request is processed. A
 * body that is refused before its end closes the connection, and its rest is not read.
 */
export async function readInPlace(
  context: WebContext,
  place: BodyPlace | undefined,
  read: (count: Pick<BodyPlace, 'count'>) => Promise<void>,
): Promise<(() => void) | undefined> {
  try {
    await read(place ?? { count: () => undefined })
  } catch (error) {
    place?.release()
    if (place && !context.req.readableEnded && isUnread(error)) context.set('Connection', 'close')
    throw error
  }
  return place?.release
}

function isUnread(error: unknown): boolean {
  return error instanceof ProblemError && (error.code === 'unavailable' || error.code === 'message_too_large')
}

/** What is inside of a compressed body is known only when it is in memory, so it counts as the most that it may be. */
function weightOf(encoding: string | undefined, mostOfBody: number): number {
  if (encoding === undefined || encoding === 'identity') return 1
  return encoding === 'br' ? mostOfBody : DEFLATED
}
