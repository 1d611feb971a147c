/** Waits and repetitions that an abort ends. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after `ms` or when the signal aborts, whichever is first; never rejects. Keeps the process alive until then. */
export async function abortableDelay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Runs `work` with `ms` between its end and its next start until the signal aborts, whether it fails or not. */
export async function repeat(
  { ms, signal, onError }: { ms: number; signal: AbortSignal; onError(error: unknown): void },
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await abortableDelay(ms, signal)
    if (!signal.aborted) await work().catch(onError)
  }
}
