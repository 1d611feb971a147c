/** Gives deliveries back to the queue, again until the database takes them. */
import type { Clock } from '../../../platform/clock.ts'
import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { InFlight } from './in-flight.ts'

/** Ends the time of deliveries in flight without a result; an attempt does not count. */
export interface GiveBack {
  /** Gives back what was not attempted, to be tried at `due` (rounded up to 0.1 s); the mark of an earlier attempt stays. */
  postpone(deliveries: readonly ClaimedDelivery[], due: Date): void
  /**
   * Gives back what was withheld, without the mark: immediately into its flow, or outside of it until `until` (milliseconds).
   * The usual reason is that the database went away while the mark was written, and a mark that stayed would look like a
   * sent message. Mail for hosts that may not be asked before `until` waits outside of its flow, because otherwise it
   * would be claimed again and again with other mail of the site.
   */
  putBack(deliveries: readonly ClaimedDelivery[], until?: number): Promise<void>
}

/** Dependencies of {@link createGiveBack}. */
export interface GiveBackOptions {
  queue: Pick<DeliveryQueue, 'release' | 'reschedule'>
  inFlight: InFlight
  clock: Clock
  log: Log
  /** Ends the attempts to reach a database that is away; the claims run out then. */
  signal: AbortSignal
}

const RETRY_MS = 500
const BATCH = { most: 1_000, mostBytes: Number.POSITIVE_INFINITY, flights: 2, sizeOf: () => 1 }

export function createGiveBack({ queue, inFlight, clock, log, signal }: GiveBackOptions): GiveBack {
  const writeUntilTaken = async (count: number, write: () => Promise<unknown>) => {
    while (!signal.aborted) {
      try {
        await write()
        return
      } catch (error) {
        log.warn({ err: error, deliveries: count }, 'deliveries not given back; trying again')
        await abortableDelay(RETRY_MS, signal)
      }
    }
  }

  const release = createGroupCommit<{ delivery: ClaimedDelivery; due: Date }, true>({
    ...BATCH,
    async write(batch) {
      for (const [due, items] of Map.groupBy(batch, ({ due: at }) => Math.ceil(at.getTime() / 100))) {
        const held = items.map(({ delivery }) => delivery)
        await writeUntilTaken(held.length, () => queue.release(held, new Date(due * 100)))
      }
      return batch.map(() => true as const)
    },
  })

  return {
    postpone(deliveries, due) {
      for (const delivery of deliveries) {
        inFlight.leaveSite(delivery)
        release({ delivery, due })
          .catch((error: unknown) => log.warn({ err: error }, 'deliveries not given back; their claims run out'))
          .finally(() => inFlight.remove(delivery))
      }
    },
    async putBack(deliveries, until = 0) {
      for (const delivery of deliveries) inFlight.leaveSite(delivery)
      const now = clock.now()
      const due = new Date(Math.max(now.getTime(), until))
      const isReady = due <= now
      const steps = deliveries.map(held => ({ held, next: { due, ...(isReady && { flow: held.flow }) } }))
      await writeUntilTaken(deliveries.length, () => queue.reschedule(steps))
      for (const delivery of deliveries) inFlight.remove(delivery)
    },
  }
}
