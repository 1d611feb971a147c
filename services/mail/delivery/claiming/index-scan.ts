/** Scans the index for flows with ready mail, in a bounded share of the time: it finds what hints have missed. */

import type { DeliveryQueue } from '../../store/deliveries.ts'
import { type FlowRange, rangeOfOtherMode, rangesOfSite, rangesOfSlots } from '../../store/rules/flow.ts'
import type { ReadyFlows } from './ready-flows.ts'

/** Dependencies of {@link IndexScan}. */
export interface IndexScanOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'forgetFlows'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that deliveries for a site may be in. */
  slotsOf(site: string): readonly number[]
  /** Receives the names of the flows that are found. */
  flows: Pick<ReadyFlows, 'learn'>
}

/** The index is scanned this often, or more rarely: no more than a fiftieth of the time is spent on it. */
const SCAN_MS = 500
const IDLE_SHARE = 50
/** Time that one round spends on slots that were taken over, so that claims go on between them. */
const TAKEN_MS = 50
/** Above this many flows one scan covers a single range of slots. */
const FLOWS_AT_ONCE = 2_000
/** Deliveries of the other mode that one scan makes timed. */
const FORGET_AT_ONCE = 1_000

/** The scans of one worker. */
export class IndexScan {
  readonly #options: IndexScanOptions
  /** performance.now() of the next scan. */
  #dueAt = Number.NEGATIVE_INFINITY
  /** What is left of the scan under way. */
  #pending: FlowRange[] = []
  #seen = 0
  #inParts = false
  #earliest: Date | undefined
  #oldest: Date | undefined
  #taken: FlowRange[] = []

  constructor(options: IndexScanOptions) {
    this.#options = options
  }

  /** These slots, which this worker took over, are scanned in the next rounds, without the pauses of the regular scan. */
  addTaken(slots: readonly number[]): void {
    this.#taken = [...this.#taken, ...slotBySlot(slots, this.#options.relay)]
  }

  /** True while some of the slots that were taken over have not been scanned. */
  hasTaken(): boolean {
    return this.#taken.length > 0
  }

  /** The earliest due time of ready mail in the last complete scan. */
  oldest(): Date | undefined {
    return this.#oldest
  }

  /** Scans `sites` and what was taken over, and, when it is time, the next part of `slots`. */
  async next(slots: readonly number[], sites: readonly string[]): Promise<void> {
    if (sites.length > 0) await this.#heads(this.#rangesOf(sites, new Set(slots)))
    await this.#scanTaken()
    if (performance.now() < this.#dueAt) return
    const started = performance.now()
    if (this.#pending.length === 0) await this.#begin(slots)
    await this.#continue()
    const pause = (performance.now() - started) * IDLE_SHARE
    this.#dueAt = performance.now() + (this.#pending.length === 0 ? Math.max(SCAN_MS, pause) : pause)
  }

  async #heads(ranges: readonly FlowRange[]): Promise<{ _id: string; due: Date }[]> {
    const { queue, flows } = this.#options
    const found = (await Promise.all(ranges.map(range => queue.heads(range)))).flat()
    flows.learn(found.map(({ _id }) => _id))
    return found
  }

  #rangesOf(sites: readonly string[], owned: ReadonlySet<number>): FlowRange[] {
    const { relay, slotsOf } = this.#options
    const slots = (site: string) => slotsOf(site).filter(slot => owned.has(slot))
    return sites.flatMap(site => rangesOfSite(site, slots(site), relay))
  }

  async #scanTaken(): Promise<void> {
    const end = performance.now() + TAKEN_MS
    while (this.#taken.length > 0 && performance.now() < end) {
      // A range that could not be read is read again.
      await this.#heads(this.#taken.slice(0, 1))
      this.#taken.shift()
    }
  }

  async #begin(slots: readonly number[]): Promise<void> {
    const { queue, relay } = this.#options
    this.#inParts = this.#seen > FLOWS_AT_ONCE
    this.#seen = 0
    this.#earliest = undefined
    this.#pending = this.#inParts ? slotBySlot(slots, relay) : rangesOfSlots(slots, relay)
    // Mail that was accepted before DELIVERY_MODE changed waits under names of the other mode.
    await queue.forgetFlows(rangeOfOtherMode(relay), FORGET_AT_ONCE)
  }

  async #continue(): Promise<void> {
    const found = await this.#heads(this.#inParts ? this.#pending.splice(0, 1) : this.#pending.splice(0))
    this.#seen += found.length
    for (const { due } of found) if (!this.#earliest || due < this.#earliest) this.#earliest = due
    if (this.#pending.length === 0) this.#oldest = this.#earliest
  }
}

/** In relay mode a flow is in no slot, and there is one range. */
function slotBySlot(slots: readonly number[], relay: boolean): FlowRange[] {
  return relay ? rangesOfSlots(slots, relay) : slots.flatMap(slot => rangesOfSlots([slot], relay))
}
