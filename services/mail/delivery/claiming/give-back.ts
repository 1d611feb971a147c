/** Gives deliveries back to the queue, again until the database takes them. */
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Claimed, DeliveryQueue } from '../../store/deliveries.ts'
import { abortableDelay } from '../timing.ts'
import type { Hand } from './in-flight.ts'

const AGAIN_MS = 500

/** Repeats a write until it succeeds or the signal aborts; then the claims of the deliveries run out. */
export async function giveBack(
  count: number,
  write: () => Promise<unknown>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await write()
      return
    } catch (error) {
      log.warn({ err: error, deliveries: count }, 'deliveries not given back; trying again')
      await abortableDelay(AGAIN_MS, signal)
    }
  }
}

/** Makes the function that gives deliveries back to be tried at `due`, in shared writes of times rounded to 0.1 s. */
export function createPostpone(
  queue: Pick<DeliveryQueue, 'release'>,
  hand: Hand,
  log: Log,
  signal: AbortSignal,
): (deliveries: readonly Claimed[], due: Date) => void {
  const commit = createGroupCommit<{ delivery: Claimed; due: Date }, true>({
    most: 1_000,
    mostBytes: Number.POSITIVE_INFINITY,
    flights: 2,
    sizeOf: () => 1,
    async write(batch) {
      for (const [due, items] of Map.groupBy(batch, ({ due: at }) => Math.ceil(at.getTime() / 100))) {
        const held = items.map(({ delivery }) => delivery)
        await giveBack(held.length, () => queue.release(held, new Date(due * 100)), log, signal)
      }
      return batch.map(() => true as const)
    },
  })
  return (deliveries, due) => {
    for (const delivery of deliveries) {
      hand.leave(delivery)
      commit({ delivery, due })
        .catch((error: unknown) => log.warn({ err: error }, 'deliveries not given back; their claims run out'))
        .finally(() => hand.drop(delivery))
    }
  }
}
