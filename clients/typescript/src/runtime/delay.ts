/** Waiting with an end. */

/** Resolves after `ms` milliseconds; rejects with the reason of the signal when that comes first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** A signal that follows another one and aborts after `ms` milliseconds; `renew` starts the time again, `clear` ends it. */
export function withTimeout(ms: number, signal?: AbortSignal) {
  const controller = new AbortController()
  const start = () => setTimeout(() => controller.abort(new Error('timeout')), ms)
  let timer = start()
  return {
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    renew() {
      clearTimeout(timer)
      timer = start()
    },
    clear: () => clearTimeout(timer),
  }
}
