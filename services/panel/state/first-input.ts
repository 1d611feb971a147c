/**
 * Code that only an input makes necessary: toasts, the question about unsaved input. The first page does without it, and it is
 * there before a connection is lost.
 */
const { promise: firstInput, resolve } = Promise.withResolvers<void>()
for (const input of ['pointerdown', 'keydown']) globalThis.addEventListener?.(input, () => resolve(), { once: true })

/** Before another attempt while the browser is online, in milliseconds: the service may be starting again. */
const PAUSE_MS = 5_000

/** Loads at the first input; if that fails, when the browser is online again, or after a pause when it is. */
export function loadAtFirstInput<T>(load: () => Promise<T>): Promise<T> {
  const attempt = (): Promise<T> =>
    load().catch(async () => {
      await new Promise<unknown>(again => {
        addEventListener('online', again, { once: true })
        if (navigator.onLine) setTimeout(again, PAUSE_MS)
      })
      return attempt()
    })
  return firstInput.then(attempt)
}

/** Loads without an input. */
export const loadNow = (): void => resolve()
