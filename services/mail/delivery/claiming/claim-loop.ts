/**
 * Claims and passes on deliveries until it is stopped: immediately while there are more, then on wake-ups, and by polls
 * at growing intervals.
 */

import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { ClaimedBatch } from './claim-deliveries.ts'
import type { ClaimRounds } from './claim-rounds.ts'
import type { WakeUps } from './wake-ups.ts'

/** Dependencies of {@link runClaimLoop}. */
export interface ClaimLoopOptions {
  rounds: Pick<ClaimRounds, 'next'>
  /** Takes over a batch; when it rejects, it has given the batch back. */
  deliver(batch: ClaimedBatch): Promise<void>
  wakeUps: Pick<WakeUps, 'wait'>
  log: Pick<Log, 'warn'>
  signal: AbortSignal
}

/** Milliseconds between polls of an idle worker, at first and at last. */
const POLL = { first: 50, last: 500 }
/**
 * Least time between the starts of two rounds of which the first took something, in milliseconds: a round costs six commands,
 * whatever it finds. The first message after a pause never waits.
 */
const ROUND_GAP_MS = 50

/** Resolves once the signal has aborted and the round under way has ended. */
export async function runClaimLoop({ rounds, deliver, wakeUps, log, signal }: ClaimLoopOptions): Promise<void> {
  const round = async () => {
    const { batch, full } = await rounds.next()
    if (batch) await deliver(batch)
    return { tookSome: batch !== undefined && batch.deliveries.length > 0, full }
  }
  let pause = POLL.first
  while (!signal.aborted) {
    const started = performance.now()
    const { tookSome, full } = await round().catch((error: unknown) => {
      log.warn({ err: error }, 'nothing could be claimed')
      return { tookSome: false, full: false }
    })
    if (full) continue
    if (tookSome) await abortableDelay(ROUND_GAP_MS - (performance.now() - started), signal)
    pause = tookSome ? POLL.first : Math.min(pause * 1.5, POLL.last)
    if (await wakeUps.wait(pause)) pause = POLL.first
  }
}
