/** A bound on how long one waits for something that may never come. */

/** What was waited for did not come in time; whether it still comes is not known. */
export class NoAnswer extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'NoAnswer'
  }
}

/** Resolves like `work`, or rejects with {@link NoAnswer} after `ms`; what is under way goes on and ends by itself. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoAnswer(ms)), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
