/** Waiting that can be cut short. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after `ms` or when the signal aborts, whichever is first; never rejects. */
export async function abortableDelay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)
}

/** A wait that anybody may end: for loops that poll and are woken. */
export interface Bell {
  /** Ends the wait, or the next one if nobody waits. */
  ring(): void
  /** Resolves at the next ring or after `ms`; true when it was a ring. */
  wait(ms: number): Promise<boolean>
}

/** Makes a bell for one waiter. */
export function createBell(): Bell {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      rung = true
      wake?.()
    },
    wait(ms) {
      return new Promise(resolve => {
        const done = () => {
          clearTimeout(timer)
          wake = undefined
          const byRing = rung
          rung = false
          resolve(byRing)
        }
        const timer = setTimeout(done, ms)
        wake = done
        if (rung) done()
      })
    },
  }
}
