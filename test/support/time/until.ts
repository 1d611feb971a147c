/** Waits for a condition: polls until it holds, and fails with its source after a timeout. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves as soon as `condition` is true, checked every `pauseMs`; rejects after `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
  pauseMs = 10,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`still false after ${timeoutMs} ms: ${condition}`)
    await sleep(pauseMs)
  }
}
