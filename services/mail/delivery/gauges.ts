/** Gauges of this worker: what waits in its slots (the sum over all workers is the queue), and sites in trouble. */
import type { Metrics } from '../../platform/metrics.ts'
import type { FlowRange } from '../rules/flow.ts'
import type { DeliveryQueue } from '../store/deliveries.ts'
import type { Sites } from './sites.ts'

/** Sets the gauges of the queue for these slots, whose flows are in `ranges`. */
export async function measureQueue(
  queue: DeliveryQueue,
  slots: readonly number[],
  ranges: readonly FlowRange[],
  now: Date,
  metrics: Pick<Metrics, 'queueDepth' | 'queueOldest'>,
): Promise<void> {
  const [{ due, later }, heads] = await Promise.all([
    queue.measure(slots, ranges, now),
    Promise.all(ranges.map(range => queue.heads(range))),
  ])
  const oldest = heads.flat().reduce((least, { due: at }) => Math.min(least, at.getTime()), now.getTime())
  metrics.queueDepth.set({ state: 'due' }, due)
  metrics.queueDepth.set({ state: 'later' }, later)
  metrics.queueOldest.set((now.getTime() - oldest) / 1000)
}

/** Sets the gauges of the sites that are not up. */
export function measureSites(sites: Pick<Sites, 'troubled'>, metrics: Pick<Metrics, 'troubledSites'>): void {
  const states = sites.troubled().map(({ status }) => status)
  for (const state of ['throttled', 'down'] as const)
    metrics.troubledSites.set({ state }, states.filter(one => one === state).length)
}
