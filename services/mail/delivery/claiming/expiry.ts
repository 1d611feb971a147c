/** Finds mail that expired while its site was down. */

import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { Delivery } from '../../store/delivery.ts'
import { rangesOfSite } from '../../store/rules/flow.ts'
import type { InFlight } from './in-flight.ts'

/** Dependencies of {@link ExpirySearch}. */
export interface ExpirySearchOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'firstOfEach' | 'ready'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that deliveries for a site may be in. */
  slotsOf(site: string): readonly number[]
  inFlight: Pick<InFlight, 'has'>
}

/** Deliveries that one search gives, at most. */
const AT_ONCE = 200
/** Flows in one query: each costs a pipeline of its own. */
const UNION = 50
/** Flows of a site whose first delivery is read. */
const FLOWS = 500
/** Flows of a site, and deliveries of them together, that one search walks through. */
const WALK_FLOWS = 10
const WALK = 2_000

/**
 * Searches flows from their first delivery on, which usually expires first, and walks through all of them in small steps:
 * after a message with a long lifetime there may be one with a short lifetime.
 */
export class ExpirySearch {
  readonly #options: ExpirySearchOptions
  /** By site: how far the walk through each flow has come, in the order in which they were walked last. */
  readonly #walks = new Map<string, Map<string, Date | undefined>>()

  constructor(options: ExpirySearchOptions) {
    this.#options = options
  }

  /** Forgets sites that are down no more. */
  retain(down: ReadonlySet<string>): void {
    for (const site of this.#walks.keys()) if (!down.has(site)) this.#walks.delete(site)
  }

  /** Deliveries of a site that have expired, at most 200; a long queue is searched over many calls. */
  async findAt(site: string, epochs: ReadonlyMap<number, number>, now: Date): Promise<Delivery[]> {
    const { queue, relay, slotsOf, inFlight } = this.#options
    const slots = slotsOf(site).filter(slot => epochs.has(slot))
    const heads = (await Promise.all(rangesOfSite(site, slots, relay).map(range => queue.heads(range)))).flat()
    const names = heads.slice(0, FLOWS).map(({ _id }) => _id)
    if (names.length === 0) return []
    const isExpired = ({ id, expiresAt, slot }: Delivery) => expiresAt <= now && epochs.has(slot) && !inFlight.has(id)
    const firsts = (await queue.firstOfEach(names, now)).filter(isExpired)
    const wanted = firsts.slice(0, UNION).flatMap(({ flow }) => (flow ? [{ flow, count: AT_ONCE }] : []))
    const found = [...(await queue.ready(wanted, now)), ...(await this.#walk(site, names, now))].filter(isExpired)
    return [...new Map(found.map(delivery => [delivery.id, delivery])).values()].slice(0, AT_ONCE)
  }

  /** The next step of the walk through these flows of a site. */
  async #walk(site: string, names: readonly string[], now: Date): Promise<Delivery[]> {
    const walked = this.#walks.get(site) ?? new Map<string, Date | undefined>()
    this.#walks.set(site, walked)
    const here = new Set(names)
    for (const name of walked.keys()) if (!here.has(name)) walked.delete(name)
    const fresh = names.filter(name => !walked.has(name))
    const flows = [...fresh, ...walked.keys()].slice(0, WALK_FLOWS)
    const count = Math.floor(WALK / flows.length)
    const wanted = flows.map(flow => ({ flow, count, from: walked.get(flow) }))
    const found = await this.#options.queue.ready(wanted, now)
    const byFlow = Map.groupBy(found, ({ flow }) => flow ?? '')
    for (const flow of flows) {
      const step = byFlow.get(flow) ?? []
      const next = step.length < count ? undefined : nextStart(step, walked.get(flow))
      walked.delete(flow)
      walked.set(flow, next)
    }
    return found
  }
}

/** Where the next step begins: at the last `due`, or after it when one millisecond holds more than a step. */
function nextStart(step: readonly Delivery[], from: Date | undefined): Date | undefined {
  const last = step.at(-1)?.due.getTime()
  return last === undefined ? undefined : new Date(last === from?.getTime() ? last + 1 : last)
}
