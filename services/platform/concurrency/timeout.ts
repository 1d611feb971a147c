/** Timeouts of promises that may never settle. */

/** A promise did not settle in time; its work may still complete. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'TimeoutError'
  }
}

/**
 * Resolves like `work`, or rejects with {@link TimeoutError} after `ms` milliseconds; the work itself is not aborted.
 */
export function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(ms)), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
