/**
 * The flows that are known to have ready mail, and how far each was read. They are learned from hints, from timed
 * deliveries that this worker makes ready, and from scans of the index.
 */
import { split } from '../../../platform/partition.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { Delivery } from '../../store/delivery.ts'
import { type Flow, parseFlow } from '../../store/rules/flow.ts'
import { type Admits, type Draw, FairQueue } from '../rules/fair-queue.ts'
import type { Sites } from '../sites/sites.ts'
import type { DestinationLimits } from './destination-limits.ts'

/** Dependencies of {@link ReadyFlows}. */
export interface ReadyFlowsOptions {
  queue: Pick<DeliveryQueue, 'firstOfEach' | 'ready'>
  sites: Pick<Sites, 'roomAt' | 'isPaused'>
  destinationLimits: Pick<DestinationLimits, 'take' | 'putBack' | 'isWaiting'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
}

interface Reading {
  /** Earlier deliveries are known to be taken; undefined: the next read begins at the start of the flow. */
  from: Date | undefined
  /** performance.now() of the last read from the start. */
  fullScanAt: number
}

/** Flows in memory; more are found as these end. */
const FLOWS_MOST = 20_000
/**
 * A flow is read from where the last read ended, so that what that one took is not passed over again in the index,
 * except once in this time: what turns up late (a slow accept, another clock) waits for that.
 */
const FULL_SCAN_MS = 1_000
const OVERLAP_MS = 1_000
/** Flows that one command reads several deliveries of. */
const UNION = 50

/** Ready flows of one worker. */
export class ReadyFlows {
  readonly #options: ReadyFlowsOptions
  readonly #flows = new FairQueue()
  readonly #readings = new Map<string, Reading>()

  constructor(options: ReadyFlowsOptions) {
    this.#options = options
  }

  /** Number of the flows. */
  get size(): number {
    return this.#flows.size
  }

  /** Adds flows that a scan found, as long as there is room for more. Flows whose site pauses are found again afterwards. */
  learn(names: Iterable<string>): void {
    const { sites } = this.#options
    // Once for all of them: a scan may bring a hundred thousand.
    if (this.#flows.size >= FLOWS_MOST) this.#flows.retain(({ site }) => !sites.isPaused(site))
    this.#add(names, FLOWS_MOST - this.#flows.size)
  }

  /** Adds flows that have new mail for certain. */
  hint(names: Iterable<string>): void {
    this.#add(names, Number.POSITIVE_INFINITY)
  }

  /** A site has room again: its flows get turns. */
  readmit(site: string): void {
    this.#flows.readmit(site)
  }

  /** Forgets the flows of slots that are no longer owned. */
  retainSlots(owned: ReadonlyMap<number, number>): void {
    this.#flows.retain(({ slot }) => slot === undefined || owned.has(slot))
    for (const name of this.#readings.keys()) if (!this.#flows.has(name)) this.#readings.delete(name)
  }

  /** Divides `room` deliveries among the flows, by turns of accounts and sites (rules/fair-queue.ts). */
  draw(room: number, admits: Admits): Draw[] {
    const { sites, destinationLimits } = this.#options
    // A draw that used up the room of a site put its flows aside although there was room when it was asked for.
    for (const site of [...this.#flows.sitesAside()]) if (sites.roomAt(site) > 0) this.#flows.readmit(site)
    return this.#flows.draw(
      room,
      site => sites.roomAt(site),
      admits,
      flow => destinationLimits.take(flow),
    )
  }

  /** Reads what was drawn; flows that gave less than was asked have nothing more and are forgotten. */
  async read(draws: readonly Draw[], now: Date): Promise<Delivery[]> {
    const { queue, relay, claimable } = this.#options
    const [single, several] = relay ? [[], draws] : split(draws, ({ count }) => count === 1)
    const slots = relay ? [...claimable().keys()] : undefined
    const started = performance.now()
    const wanted = several.map(({ flow: { name }, count }) => ({
      ...{ flow: name, count, from: this.#startOf(name, started) },
      ...(slots && { slots }),
    }))
    for (const { flow } of draws)
      if (!this.#readings.has(flow.name)) this.#readings.set(flow.name, { from: undefined, fullScanAt: started })
    const names = single.map(({ flow }) => flow.name)
    const parts = await Promise.all([
      names.length > 0 ? queue.firstOfEach(names, now) : [],
      ...chunks(wanted, UNION).map(chunk => queue.ready(chunk, now)),
    ])
    const found = parts.flat()
    this.#noteEnds(draws, found)
    return found
  }

  #add(names: Iterable<string>, most: number): void {
    const epochs = this.#options.claimable()
    let room = most
    for (const name of names) {
      if (room <= 0) return
      const flow = parseFlow(name, this.#options.relay)
      if (!flow || this.#flows.has(name) || !this.#isOurs(flow, epochs)) continue
      this.#flows.add(flow)
      room--
    }
  }

  #isOurs(flow: Flow, epochs: ReadonlyMap<number, number>): boolean {
    const { sites, destinationLimits } = this.#options
    const { slot, site } = flow
    return (slot === undefined || epochs.has(slot)) && !sites.isPaused(site) && !destinationLimits.isWaiting(flow)
  }

  /** Where to begin to read a flow. */
  #startOf(name: string, now: number): Date | undefined {
    const reading = this.#readings.get(name)
    if (!reading || now - reading.fullScanAt < FULL_SCAN_MS) return reading?.from
    reading.fullScanAt = now
    return undefined
  }

  /** Flows with more go on after what they gave. One that gets mail during the read is learned again by its hint. */
  #noteEnds(draws: readonly Draw[], found: readonly Delivery[]): void {
    const byFlow = Map.groupBy(found, ({ flow }) => flow)
    for (const { flow, count } of draws) {
      const given = byFlow.get(flow.name) ?? []
      const reading = this.#readings.get(flow.name)
      const last = given.at(-1)
      this.#options.destinationLimits.putBack(flow, count - given.length)
      if (given.length < count) {
        this.#flows.remove(flow.name)
        this.#readings.delete(flow.name)
      } else if (reading && last) reading.from = new Date(last.due.getTime() - OVERLAP_MS)
    }
  }
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))
}
