/** A bound on how long one waits for something that may never come. */

/** Resolves like `work`, or rejects after `ms`; what is under way goes on and ends by itself. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
