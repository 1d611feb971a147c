/** The loops of a delivery engine, from its start to its stop. */
import type { Clock } from '../../platform/clock.ts'
import { abortableDelay, repeat } from '../../platform/concurrency/abortable-delay.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { RefusalRecorder } from '../domains/record-refusals.ts'
import type { Quota } from '../limits/quota.ts'
import type { DeliveryQueue } from '../store/deliveries.ts'
import type { Wake } from '../store/wake.ts'
import { type ClaimedBatch, VISIBILITY_MS } from './claiming/claim-deliveries.ts'
import { runClaimLoop } from './claiming/claim-loop.ts'
import type { ClaimRounds } from './claiming/claim-rounds.ts'
import type { DestinationLimits } from './claiming/destination-limits.ts'
import type { InFlight } from './claiming/in-flight.ts'
import type { WakeUps } from './claiming/wake-ups.ts'
import type { HeldMail } from './control/held-mail.ts'
import { measureDelivery } from './gauges.ts'
import type { TlsResultRecorder } from './record-tls-results.ts'
import type { SiteExchange } from './sites/site-sync.ts'
import type { Sites } from './sites/sites.ts'
import type { SlotLeases } from './slots/slot-leases.ts'
import type { Transport } from './smtp/transport.ts'

/** The parts that run. */
export interface EngineParts {
  log: Log
  metrics: Metrics
  clock: Clock
  jobs: Jobs
  relay: boolean
  /** How long a stop waits for what is in flight, in milliseconds. */
  graceMs: number
  wake: Wake
  queue: Pick<DeliveryQueue, 'keep' | 'measure'>
  inFlight: InFlight
  wakeUps: WakeUps
  leases: SlotLeases
  sites: Sites
  exchange: SiteExchange
  destinationLimits: Pick<DestinationLimits, 'refresh'>
  quota: Pick<Quota, 'stop'>
  heldMail: Pick<HeldMail, 'refresh'>
  /** One run of the background work of queue control. */
  workOnQueue(signal: AbortSignal): Promise<void>
  rounds: Pick<ClaimRounds, 'next' | 'search' | 'expired' | 'oldest'>
  refusals: Pick<RefusalRecorder, 'flush' | 'refresh'>
  tlsResults?: Pick<TlsResultRecorder, 'flush'> | undefined
  /** Takes over a claimed batch; when it rejects, it has given the batch back. */
  deliver(batch: ClaimedBatch): Promise<void>
  transport: Pick<Transport, 'stop'>
  /** Aborted when the grace time of a stop is over: ends the attempts to reach a database that is away. */
  hardStop: AbortController
}

/** Between renewals of the claims in flight: a third of the visibility timeout, in milliseconds. */
const KEEP_MS = VISIBILITY_MS / 3
const SITES_MS = 1_000
/** Between looks for changed limits, holds and actions on the queue. */
const LIMITS_MS = 2_000
const EXPIRE_MS = 30_000
const GAUGES_MS = 15_000
/** Between writes of counters: what a worker that dies loses of them. */
const FLUSH_MS = 5_000
const REFRESH_REFUSALS_MS = 30_000
/** For the last counters at the stop, in milliseconds: they are statistics. */
const LAST_FLUSH_MS = 2_000
/** For giving back the slots at the stop, in milliseconds: a few writes, unless the database is away. */
const RELEASE_MS = 5_000

/** An engine; made by `createDeliveryEngine`. */
export class DeliveryEngine {
  readonly #parts: EngineParts
  readonly #stopping = new AbortController()
  #loops: Promise<void>[] = []
  #unlisten = () => {}

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  /** Resolves once the engine takes part in the ownership of slots and claims. Rejects when the database is away. */
  async start(): Promise<void> {
    const { wake, wakeUps, leases, jobs, log, rounds } = this.#parts
    const signal = this.#stopping.signal
    this.#unlisten = wake.listen((_, flows, released) => {
      if (released.length > 0) leases.lookForFree()
      wakeUps.newMail(flows)
    })
    await Promise.all([this.#parts.destinationLimits.refresh(), this.#parts.heldMail.refresh()])
    await leases.start()
    await jobs.start()
    void wake.follow(signal) // not waited for: its read may hang for a second, and nothing depends on it
    const deliver = (batch: ClaimedBatch) => this.#parts.deliver(batch)
    this.#loops = [runClaimLoop({ rounds, deliver, wakeUps, log, signal }), ...this.#upkeep(signal)]
  }

  /** Lets what is in flight finish, and gives back the rest and the slots. */
  async stop(): Promise<void> {
    const { graceMs, hardStop, wakeUps, leases, sites, inFlight, transport } = this.#parts
    this.#stopping.abort()
    this.#unlisten()
    wakeUps.notify()
    void leases.retire() // not waited for: without a database it takes as long as the driver's timeout
    // While the database is away a round takes as long as the driver's timeout, and then another one.
    const graceOver = abortableDelay(graceMs, hardStop.signal).then(() => hardStop.abort())
    await Promise.race([Promise.all(this.#loops), graceOver])
    sites.stop()
    await Promise.race([inFlight.whenIdle(), graceOver])
    await transport.stop()
    await this.#flushCounters()
    await this.#releaseSlots()
    hardStop.abort()
  }

  #upkeep(signal: AbortSignal): Promise<void>[] {
    const { log, clock, queue, inFlight, exchange, rounds, leases, refusals, tlsResults } = this.#parts
    const every = (ms: number, work: () => Promise<void>) =>
      repeat({ ms, signal, onError: error => log.warn({ err: error }, 'upkeep of the queue failed') }, work)
    return [
      every(KEEP_MS, () => queue.keep(inFlight.all(), new Date(clock.now().getTime() + VISIBILITY_MS))),
      every(GAUGES_MS, () => measureDelivery({ ...this.#parts, claimable: () => leases.claimable() })),
      every(LIMITS_MS, () => this.#parts.destinationLimits.refresh()),
      every(LIMITS_MS, () => this.#parts.heldMail.refresh()),
      every(LIMITS_MS, () => this.#parts.workOnQueue(signal)),
      every(SITES_MS, () => exchange.exchange()),
      every(FLUSH_MS, () => refusals.flush()),
      every(FLUSH_MS, async () => tlsResults?.flush()),
      every(REFRESH_REFUSALS_MS, () => refusals.refresh()),
      every(EXPIRE_MS, async () => {
        for await (const batch of rounds.expired()) await this.#parts.deliver(batch)
      }),
    ]
  }

  async #flushCounters(): Promise<void> {
    const { refusals, tlsResults, log } = this.#parts
    const flushed = Promise.all([refusals.flush(), tlsResults?.flush()])
    await withTimeout(LAST_FLUSH_MS, flushed).catch((error: unknown) =>
      log.warn({ err: error }, 'the last authentication refusals or TLS results were not recorded'),
    )
  }

  async #releaseSlots(): Promise<void> {
    const { jobs, leases, log } = this.#parts
    const release = Promise.all([jobs.stop().then(() => leases.stop()), this.#parts.quota.stop()])
    await withTimeout(RELEASE_MS, release).catch((error: unknown) =>
      log.warn({ err: error }, 'slots not given back; their leases run out'),
    )
  }
}
