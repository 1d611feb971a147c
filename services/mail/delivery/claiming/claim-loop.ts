/**
 * Claims and passes on deliveries until it is stopped: immediately while there are more, then on wake-ups, and by polls
 * at growing intervals.
 */

import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'
import { LoadPause } from '../../../platform/concurrency/load-pause.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { CLAIM_PAUSE } from '../../store/wake.ts'
import type { ClaimedBatch } from './claim-deliveries.ts'
import type { ClaimRounds } from './claim-rounds.ts'
import type { WakeUps } from './wake-ups.ts'

/** Dependencies of {@link runClaimLoop}. */
export interface ClaimLoopOptions {
  rounds: Pick<ClaimRounds, 'next' | 'search'>
  /** Takes over a batch; when it rejects, it has given the batch back. */
  deliver(batch: ClaimedBatch): Promise<void>
  wakeUps: Pick<WakeUps, 'wait'>
  log: Pick<Log, 'warn'>
  signal: AbortSignal
}

/** Milliseconds between polls of an idle worker, at first and at last. */
const POLL = { first: 50, last: 500 }

/** Resolves once the signal has aborted and the round under way has ended. */
export async function runClaimLoop({ rounds, deliver, wakeUps, log, signal }: ClaimLoopOptions): Promise<void> {
  const round = async () => {
    const { batch, full } = await rounds.next()
    if (batch) await deliver(batch)
    const hasMore = await rounds.search().catch((error: unknown) => {
      log.warn({ err: error }, 'mail that no hint named could not be searched for')
      return false
    })
    return { taken: batch?.deliveries.length ?? 0, full: full || hasMore }
  }
  // A round that takes something costs four commands, whether it is one delivery or many.
  const load = new LoadPause(CLAIM_PAUSE)
  let pause = POLL.first
  while (!signal.aborted) {
    const started = performance.now()
    const { taken, full } = await round().catch((error: unknown) => {
      log.warn({ err: error }, 'nothing could be claimed')
      return { taken: 0, full: false }
    })
    const gap = load.after(taken)
    if (full) continue
    if (taken > 0) await abortableDelay(gap - (performance.now() - started), signal)
    pause = taken > 0 ? POLL.first : Math.min(pause * 1.5, POLL.last)
    if (await wakeUps.wait(pause)) pause = POLL.first
  }
}
