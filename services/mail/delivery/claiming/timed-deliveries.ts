/** Makes timed deliveries ready whose time has come, the earliest first. */
import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { InFlight } from './in-flight.ts'
import type { WakeUps } from './wake-ups.ts'

/** Dependencies of {@link TimedDeliveries}. */
export interface TimedDeliveriesOptions {
  queue: Pick<DeliveryQueue, 'makeReady'>
  inFlight: Pick<InFlight, 'has'>
  /** Receives the flows of what became ready. */
  wakeUps: Pick<WakeUps, 'addFlows'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  now(): Date
}

const AT_ONCE = 1_000
const INTERVAL_MS = 200
/**
 * The index is read from the end of the last read, so that already read keys are not passed over again, except once in
 * this interval: late entries (a slow accept, another clock) wait for that.
 */
const FULL_SCAN_MS = 5_000
const OVERLAP_MS = 1_000

/** The timed deliveries of one worker. */
export class TimedDeliveries {
  readonly #options: TimedDeliveriesOptions
  #from: Date | undefined
  #fullScanAt = Number.NEGATIVE_INFINITY
  #startedAt = Number.NEGATIVE_INFINITY
  #isUnderWay = false

  constructor(options: TimedDeliveriesOptions) {
    this.#options = options
  }

  /** Slots were taken over: the next read begins at the start. */
  restart(): void {
    this.#from = undefined
  }

  /**
   * Makes the next deliveries ready, unless it is too early. The first part is waited for. The order is that of time,
   * whichever account's mail it is, so the rest follows immediately and next to the claims: mail that is timed for the same
   * moment as a campaign does not wait for the campaign's delivery.
   */
  async makeReady(): Promise<void> {
    if (this.#isUnderWay || performance.now() - this.#startedAt < INTERVAL_MS) return
    this.#isUnderWay = true
    const started = performance.now()
    const done = () => {
      this.#isUnderWay = false
      this.#startedAt = started
    }
    const rest = async () => {
      while (await this.#makeNextReady());
    }
    const hasMore = await this.#makeNextReady().catch((error: unknown) => {
      done()
      throw error
    })
    if (!hasMore) done()
    else void rest().then(done, done) // a failure meets the next round as well, and is logged there
  }

  /** Resolves to true when there may be more, and progress was made. */
  async #makeNextReady(): Promise<boolean> {
    const { queue, inFlight, wakeUps, relay, claimable } = this.#options
    const asked = claimable()
    const slots = [...asked.keys()]
    if (slots.length === 0) return false
    const now = this.#options.now()
    const { flows, full } = await queue.makeReady(
      slots,
      { from: this.#nextStart(), now },
      { limit: AT_ONCE, relay, skip: id => inFlight.has(id) },
    )
    // Slots that were taken over since were not asked for.
    this.#from = full || [...claimable()].some(([slot, epoch]) => asked.get(slot) !== epoch) ? undefined : now
    wakeUps.addFlows(flows)
    return full && flows.size > 0
  }

  #nextStart(): Date | undefined {
    const isFullScan = performance.now() - this.#fullScanAt >= FULL_SCAN_MS
    if (isFullScan) this.#fullScanAt = performance.now()
    return isFullScan || !this.#from ? undefined : new Date(this.#from.getTime() - OVERLAP_MS)
  }
}
