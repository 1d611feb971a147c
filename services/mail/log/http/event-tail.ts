/** Follows an account's events as they are stored. */
import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'

/** The position of a reader: time and id of its last event. */
export interface Position {
  at: Date
  id?: string | undefined
}

/** Reads events from a time on, oldest first. */
export type ReadEvents<T> = (since: Date, limit: number) => Promise<T[]>

/** Options of {@link tail}. */
export interface TailOptions<T> {
  read: ReadEvents<T>
  /** Ends the tail. */
  signal: AbortSignal
  pollMs: number
}

/**
 * Events carry the time of their attempt and are stored a little later, in batches: each read goes back so far, and
 * what was given out already is left out.
 */
const OVERLAP_MS = 3_000
const READ_LIMIT = 5_000

/**
 * Yields the events after `position` in batches, an empty batch when there is nothing new, until the signal. A reader
 * that reconnects gets some seconds again: events may be repeated (with the same ids), none is missed.
 */
export async function* tail<T extends { _id: string; at: Date }>(
  position: Position,
  { read, signal, pollMs }: TailOptions<T>,
): AsyncGenerator<T[]> {
  const given = new Map<string, number>()
  let since = position.at
  if (position.id !== undefined) {
    given.set(position.id, position.at.getTime())
    since = new Date(position.at.getTime() - OVERLAP_MS)
  }
  while (!signal.aborted) {
    const found = await read(since, READ_LIMIT)
    const fresh = found.filter(event => !given.has(event._id))
    for (const event of fresh) given.set(event._id, event.at.getTime())
    yield fresh
    const full = found.length === READ_LIMIT
    since = nextStart(since, found.at(-1)?.at, full)
    for (const [id, at] of given) if (at < since.getTime()) given.delete(id)
    if (!full) await abortableDelay(pollMs, signal)
  }
}

/** Where the next read starts: some seconds before the last event, or at it when there are more than one read takes. */
function nextStart(since: Date, last: Date | undefined, full: boolean): Date {
  if (!last) return since
  if (!full) return new Date(Math.max(since.getTime(), last.getTime() - OVERLAP_MS))
  return last > since ? last : new Date(since.getTime() + 1)
}
