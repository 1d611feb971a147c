/** Gauges of this worker: what waits in its slots (the sum over all workers is the queue), and sites in trouble. */
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { DeliveryQueue } from '../store/deliveries.ts'
import type { FlowRange } from '../store/rules/flow.ts'
import type { Sites } from './sites/sites.ts'

/** Sets the gauges of the queue for these slots, whose flows are in `ranges`; `oldest`: when its first mail was due. */
export async function measureQueue(
  queue: Pick<DeliveryQueue, 'measure'>,
  slots: readonly number[],
  ranges: readonly FlowRange[],
  { now, oldest = now }: { now: Date; oldest: Date | undefined },
  metrics: Pick<Metrics, 'queueDepth' | 'queueOldest'>,
): Promise<void> {
  const { due, later } = await queue.measure(slots, ranges, now)
  metrics.queueDepth.set({ state: 'due' }, due)
  metrics.queueDepth.set({ state: 'later' }, later)
  metrics.queueOldest.set(Math.max(0, now.getTime() - oldest.getTime()) / 1000)
}

/** Sets the gauges of the sites that are not up. */
export function measureSites(sites: Pick<Sites, 'troubled'>, metrics: Pick<Metrics, 'troubledSites'>): void {
  const states = sites.troubled().map(({ status }) => status)
  for (const state of ['throttled', 'down'] as const)
    metrics.troubledSites.set({ state }, states.filter(one => one === state).length)
}
