/** Shares questions and writes to the database between callers: while some batches are under way the next one gathers. */
import { LoadPause } from './load-pause.ts'

/** How batches are formed and written. */
export interface GroupCommitOptions<T, R> {
  /** Writes a batch and answers in its order. A rejection reaches every caller of the batch. */
  write(batch: readonly T[]): Promise<readonly R[]>
  /** Size of an item in bytes, for `mostBytes`. */
  sizeOf(item: T): number
  /** Most items of a batch. */
  most: number
  /** A batch is closed once it reaches this size; one larger item is written alone. */
  mostBytes: number
  /** Batches in flight. */
  flights: number
  /**
   * Longest gathering, in milliseconds from the end of the previous batch: the first item after a pause is written
   * immediately, the next ones wait for the callers of the last batch to return, no longer than this. Default: no wait.
   */
  gatherMs?: number
  /** Items a second below which the gathering is shorter (see {@link LoadPause}). Default: it is not. */
  gatherRate?: number
}

interface Waiting<T, R> {
  item: T
  done: PromiseWithResolvers<R>
}

/**
 * Returns a function that queues one item and resolves with its own result once its batch is written. Items keep
 * their order between batches of one flight, not between flights.
 */
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): (item: T) => Promise<R> {
  const { gatherMs = 0, gatherRate = 0 } = options
  const load = new LoadPause({ longestMs: gatherMs, rate: gatherRate })
  let queue: Waiting<T, R>[] = []
  let flying = 0
  /** Until when the next batch gathers (performance.now()). */
  let gatherUntil = Number.NEGATIVE_INFINITY
  /**
   * The callers of a finished batch, which are expected to return, and those that waited when it ended. 0 while more
   * waits than fits.
   */
  let expected = 0
  const held = new Set<() => void>()

  const isWorthwhile = () => queue.length >= Math.min(expected, options.most)

  const take = (): Waiting<T, R>[] => {
    let bytes = 0
    let count = 0
    for (const { item } of queue) {
      if (count === options.most) break
      bytes += options.sizeOf(item)
      if (count > 0 && bytes > options.mostBytes) break
      count++
    }
    const batch = queue.slice(0, count)
    queue = queue.slice(count)
    return batch
  }

  /** Waits for the turn of the next batch: until its time, or until as many items wait as can be expected. */
  const turn = async (): Promise<void> => {
    const waitMs = gatherUntil - performance.now()
    if (waitMs <= 0 || isWorthwhile()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    held.add(resolve)
    await promise
    held.delete(resolve)
    clearTimeout(timer)
  }

  const write = async (batch: readonly Waiting<T, R>[]): Promise<void> => {
    try {
      const results = await options.write(batch.map(({ item }) => item))
      batch.forEach(({ done }, index) => {
        const result = results[index]
        if (result === undefined) done.reject(new Error('the batch has no result for this item'))
        else done.resolve(result)
      })
    } catch (error) {
      for (const { done } of batch) done.reject(error)
    }
  }

  const fly = async (): Promise<void> => {
    while (queue.length > 0) {
      await turn()
      const batch = take()
      if (batch.length === 0) continue // another flight took them while this one waited
      const full = queue.length > 0
      await write(batch)
      gatherUntil = performance.now() + load.after(batch.length)
      expected = full ? 0 : queue.length + batch.length
    }
    flying--
  }

  return item => {
    const done = Promise.withResolvers<R>()
    queue.push({ item, done })
    if (held.size > 0 && isWorthwhile()) for (const go of held) go()
    if (flying < options.flights) {
      flying++
      // A microtask later, so that callers of this turn of the event loop share the first batch.
      queueMicrotask(() => void fly())
    }
    return done.promise
  }
}
