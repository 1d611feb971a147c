/** Runs the transaction of a group when its site has room for it, and reports the result to the site. */
import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { isProvider } from '../../store/rules/assign-slot.ts'
import { explanationOf } from '../../store/rules/explanation.ts'
import { reserveProbe } from '../../store/sites.ts'
import type { InFlight } from '../claiming/in-flight.ts'
import { PROBE_MS, RELAY_PROBE_MS } from '../rules/site-control.ts'
import type { Sites } from '../sites/sites.ts'
import type { Attempt, Attempted } from './attempt.ts'
import type { Result } from './attempt-result.ts'
import type { Group } from './group-by-route.ts'

/** Dependencies of {@link createSend}. */
export interface SendOptions {
  mongo: Mongo
  log: Log
  clock: Clock
  /** DELIVERY_MODE=relay. */
  relay: boolean
  sites: Sites
  attempt: Attempt
  inFlight: Pick<InFlight, 'leaveSite'>
}

/** Waits for a place at the site and sends. Without a place nothing is attempted, and all of the group is untouched. Never rejects. */
export type Send = (group: Group) => Promise<Attempted>

/** No connection carries captured or simulated mail. */
const NO_LIMITS = { messagesPerConnection: Number.POSITIVE_INFINITY }

export function createSend(options: SendOptions): Send {
  const { mongo, log, clock, relay, sites, attempt, inFlight } = options
  const probeMs = relay ? RELAY_PROBE_MS : PROBE_MS

  /** A site that is down is probed by one worker at a time. */
  const mayProbe = (site: string) =>
    reserveProbe(mongo, site, clock.now(), probeMs).catch((error: unknown) => {
      log.warn({ err: error, site }, 'no probe of a site that is down')
      return false
    })

  /** Simulated mail, and captured mail that was claimed for another site, needs no place at a site, and says nothing about one. */
  const sendNothing: Send = async group => {
    try {
      return await attempt(group, NO_LIMITS)
    } finally {
      for (const delivery of group.deliveries) inFlight.leaveSite(delivery)
      sites.passedBy(group.site)
    }
  }

  return async group => {
    const { site, deliveries, route } = group
    if (route.simulated || (route.capture && (relay || !isCapturedAtOwnSite(group)))) return sendNothing(group)
    const place = await sites.enter(site)
    if (!place) return { results: [], untouched: deliveries }
    try {
      if (sites.isDown(site) && !(await mayProbe(site))) {
        sites.probedElsewhere(site)
        return { results: [], untouched: deliveries }
      }
      const attempted = await attempt(group, place.limits)
      reportTo(sites, { site, relay }, attempted)
      return attempted
    } finally {
      // Before the place is free: the site counts what still waits for one.
      for (const delivery of deliveries) inFlight.leaveSite(delivery)
      place.leave()
    }
  }
}

/** Such mail was claimed with the room of the site of its group, whose window has to grow with what is captured. */
function isCapturedAtOwnSite({ site, deliveries }: Group): boolean {
  return deliveries.every(delivery => delivery.site === site)
}

/** Reports the result of an attempt to its site. */
function reportTo(
  sites: Sites,
  { site, relay }: { site: string; relay: boolean },
  { results, unreachable, reached }: Attempted,
): void {
  if (reached) sites.reached(site)
  const slow = results.find(({ classification }) => classification.slowDown)
  // A host that greets with 421 wants fewer connections. The relay is one for all: then nothing goes out for a while.
  if (slow && !(relay && unreachable)) sites.throttled(site, explanationOf(slow.event))
  else if (unreachable) {
    // A domain's own policy is no evidence about the provider that it shares with others.
    if (!(unreachable.ofDomain && isProvider(site))) sites.unreachable(site, unreachable.reason, unreachable.until)
  } else if (results.some(isBroken)) sites.broke(site)
  if (results.some(({ next }) => next.kind === 'delivered')) sites.succeeded(site)
}

function isBroken({ classification }: Result): boolean {
  return classification.kind === 'network'
}
