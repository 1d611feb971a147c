/** Limits parallel work; further work waits in a queue. */

/** Runs work when it has a place; resolves or rejects as the work does. */
export type AtMost = <T>(work: () => Promise<T>) => Promise<T>

/** Creates a limit of `places`; waiting callers are served in the order of arrival. */
export function atMost(places: number): AtMost {
  let free = places
  const waiting: (() => void)[] = []
  return async work => {
    if (free > 0) free--
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
