/** Finds mail that expired while its site was down. */

import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { DeliveryDoc } from '../../store/documents.ts'
import { rangesOfSite } from '../../store/rules/flow.ts'
import type { Hand } from './in-flight.ts'

interface ExpiryOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'firstOfEach' | 'ready'>
  relay: boolean
  /** Slots that mail for a site is in. */
  slotsOf(site: string): readonly number[]
  hand: Pick<Hand, 'has'>
}

/** Deliveries that one search gives, at most. */
const AT_ONCE = 200
/** Flows in one query: each costs a pipeline of its own. */
const UNION = 50
/** Flows of a site whose first delivery is looked at. */
const FLOWS = 500
/** Flows of a site, and deliveries of them together, that one search walks through. */
const WALK_FLOWS = 10
const WALK = 2_000

/**
 * Searches flows from their first delivery on, which usually expires first, and walks through all of them in small steps:
 * behind a message with a long lifetime there may be one with a short lifetime.
 */
export function createExpiry({ queue, relay, slotsOf, hand }: ExpiryOptions) {
  /** By site: how far the walk through each flow has come, in the order in which they were walked last. */
  const walks = new Map<string, Map<string, Date | undefined>>()

  const stepOf = async (site: string, names: readonly string[], now: Date): Promise<DeliveryDoc[]> => {
    const walked = walks.get(site) ?? new Map<string, Date | undefined>()
    walks.set(site, walked)
    const here = new Set(names)
    for (const name of walked.keys()) if (!here.has(name)) walked.delete(name)
    const fresh = names.filter(name => !walked.has(name))
    const flows = [...fresh, ...walked.keys()].slice(0, WALK_FLOWS)
    const count = Math.floor(WALK / flows.length)
    const found = await queue.ready(
      flows.map(flow => ({ flow, count, from: walked.get(flow) })),
      now,
    )
    const byFlow = Map.groupBy(found, ({ flow }) => flow ?? '')
    for (const flow of flows) {
      const step = byFlow.get(flow) ?? []
      const next = step.length < count ? undefined : nextStart(step, walked.get(flow))
      walked.delete(flow)
      walked.set(flow, next)
    }
    return found
  }

  return {
    /** Forgets sites that are down no more. */
    keep(down: ReadonlySet<string>) {
      for (const site of walks.keys()) if (!down.has(site)) walks.delete(site)
    },
    /** Deliveries of a site that have expired, at most 200; a long queue is searched over many calls. */
    async at(site: string, epochs: ReadonlyMap<number, number>, now: Date): Promise<DeliveryDoc[]> {
      const slots = slotsOf(site).filter(slot => epochs.has(slot))
      const heads = (await Promise.all(rangesOfSite(site, slots, relay).map(range => queue.heads(range)))).flat()
      const names = heads.slice(0, FLOWS).map(({ _id }) => _id)
      if (names.length === 0) return []
      const isExpired = ({ _id, expires_at, slot }: DeliveryDoc) =>
        expires_at <= now && epochs.has(slot) && !hand.has(_id)
      const firsts = (await queue.firstOfEach(names, now)).filter(isExpired)
      const wanted = firsts.slice(0, UNION).flatMap(({ flow }) => (flow ? [{ flow, count: AT_ONCE }] : []))
      const found = [...(await queue.ready(wanted, now)), ...(await stepOf(site, names, now))].filter(isExpired)
      return [...new Map(found.map(delivery => [delivery._id, delivery])).values()].slice(0, AT_ONCE)
    },
  }
}

/** Where the next step begins: at the last `due`, or behind it when one millisecond holds more than a step. */
function nextStart(step: readonly DeliveryDoc[], from: Date | undefined): Date | undefined {
  const last = step.at(-1)?.due.getTime()
  return last === undefined ? undefined : new Date(last === from?.getTime() ? last + 1 : last)
}
