/**
 * Code that only an input makes necessary: toasts, the question about unsaved input. The first page does without it, and it is
 * there before a connection is lost.
 */
const { promise: firstInput, resolve } = Promise.withResolvers<void>()
for (const input of ['pointerdown', 'keydown']) globalThis.addEventListener?.(input, () => resolve(), { once: true })

/** Loads at the first input; if that fails, when the browser is online again. */
export function loadAtFirstInput<T>(load: () => Promise<T>): Promise<T> {
  const attempt = (): Promise<T> =>
    load().catch(async () => {
      await new Promise(online => addEventListener('online', online, { once: true }))
      return attempt()
    })
  return firstInput.then(attempt)
}

/** Loads without an input. */
export const loadNow = (): void => resolve()
