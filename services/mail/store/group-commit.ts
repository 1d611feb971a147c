/** Shares writes between callers: while some batches are under way the next one gathers, so no timer is needed. */

/** How batches are formed and written. */
export interface GroupCommitOptions<T, R> {
  /** Writes a batch and answers in its order. A rejection reaches every caller of the batch. */
  write(batch: readonly T[]): Promise<readonly R[]>
  /** Size of an item in bytes, for `mostBytes`. */
  sizeOf(item: T): number
  /** Most items of a batch. */
  most: number
  /** A batch is closed once it reaches so many bytes; one larger item still goes, alone. */
  mostBytes: number
  /** Batches under way at once. */
  flights: number
  /** A batch waits so long for company before it goes, in milliseconds; without it, until the end of the turn. */
  gatherMs?: number
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
  let queue: Waiting<T, R>[] = []
  let flying = 0

  const take = (): Waiting<T, R>[] => {
    let bytes = 0
    let count = 0
    for (const { item } of queue) {
      if (count === options.most || (count > 0 && bytes + options.sizeOf(item) > options.mostBytes)) break
      bytes += options.sizeOf(item)
      count++
    }
    const batch = queue.slice(0, count)
    queue = queue.slice(count)
    return batch
  }

  const fly = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = take()
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
    flying--
  }

  return item => {
    const done = Promise.withResolvers<R>()
    queue.push({ item, done })
    if (flying < options.flights) {
      flying++
      // A microtask later, so that callers of this turn of the event loop share the first batch.
      if (options.gatherMs === undefined) queueMicrotask(() => void fly())
      else setTimeout(() => void fly(), options.gatherMs)
    }
    return done.promise
  }
}
