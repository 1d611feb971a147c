/** Gauges of this worker: what waits in its slots (the sum over all workers is the queue), and sites in trouble. */
import type { Clock } from '../../platform/clock.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { DeliveryQueue } from '../store/deliveries.ts'
import { rangesOfSlots } from '../store/rules/flow.ts'
import type { ClaimRounds } from './claiming/claim-rounds.ts'
import type { Sites } from './sites/sites.ts'

/** Dependencies of {@link measureDelivery}. */
export interface GaugesOptions {
  queue: Pick<DeliveryQueue, 'measure'>
  sites: Pick<Sites, 'troubled'>
  rounds: Pick<ClaimRounds, 'oldest'>
  /** Slots that may be claimed from. */
  claimable(): ReadonlyMap<number, number>
  clock: Clock
  metrics: Pick<Metrics, 'queueDepth' | 'queueOldest' | 'troubledSites'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
}

/** Sets the gauges. Rejects when the database is away. */
export async function measureDelivery(options: GaugesOptions): Promise<void> {
  const { queue, sites, rounds, metrics, clock, relay } = options
  const states = sites.troubled().map(({ status }) => status)
  for (const state of ['throttled', 'down'] as const)
    metrics.troubledSites.set({ state }, states.filter(one => one === state).length)
  const slots = [...options.claimable().keys()]
  const now = clock.now()
  const oldest = rounds.oldest() ?? now
  const { due, later } = await queue.measure(slots, rangesOfSlots(slots, relay), now)
  metrics.queueDepth.set({ state: 'due' }, due)
  metrics.queueDepth.set({ state: 'later' }, later)
  metrics.queueOldest.set(Math.max(0, now.getTime() - oldest.getTime()) / 1000)
}
