/** How much waits in the slots of this worker; the sum over all workers is the queue. */
import type { Metrics } from '../../platform/metrics.ts'
import type { DeliveryQueue } from '../store/deliveries.ts'

/** Sets the gauges of the queue for these slots. */
export async function measureQueue(
  queue: DeliveryQueue,
  slots: readonly number[],
  now: Date,
  metrics: Pick<Metrics, 'queueDepth' | 'queueOldest'>,
): Promise<void> {
  const { due, later, oldest } = await queue.measure(slots, now)
  metrics.queueDepth.set({ state: 'due' }, due)
  metrics.queueDepth.set({ state: 'later' }, later)
  metrics.queueOldest.set(oldest ? Math.max(0, (now.getTime() - oldest.getTime()) / 1000) : 0)
}
