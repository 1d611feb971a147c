/** Hands groups of recipients to their sites, and tells the sites what the attempts say about them. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Claimed, DeliveryQueue } from '../store/deliveries.ts'
import { isProvider } from '../store/rules/assign-slot.ts'
import { reserveProbe } from '../store/sites.ts'
import type { Attempt, Attempted, Group } from './attempt.ts'
import { giveBack } from './claiming/give-back.ts'
import type { Hand } from './claiming/in-flight.ts'
import type { Result } from './result.ts'
import { PROBE_MS, RELAY_PROBE_MS, type SiteLimits } from './rules/site-control.ts'
import type { Settle } from './settle.ts'
import type { Sites } from './sites/sites.ts'

/** What {@link createTransactions} depends on. */
export interface TransactionsOptions {
  mongo: Mongo
  log: Log
  clock: Clock
  relay: boolean
  sites: Sites
  attempt: Attempt
  settle: Settle
  queue: Pick<DeliveryQueue, 'reschedule'>
  hand: Hand
  /** Ends the attempts to reach a database that is away. */
  signal: AbortSignal
}

/** Makes the function that gives a group its transaction, now or when its site has a place. */
export function createTransactions(options: TransactionsOptions): (group: Group) => void {
  const { mongo, log, clock, relay, sites, attempt, settle, queue, hand, signal } = options
  const probeMs = relay ? RELAY_PROBE_MS : PROBE_MS

  /**
   * Nothing was sent: back into the flow at once, without the mark. The usual reason is that the database went away while
   * the mark was written, so this is tried until it is back: a mark that stayed would look like a sent message. Mail for
   * hosts that may not be asked before `until` waits for that time outside of its flow: other mail of the site goes on,
   * and this would be taken with it again and again.
   */
  const putBack = async (deliveries: readonly Claimed[], until = 0) => {
    for (const delivery of deliveries) hand.leave(delivery)
    const now = clock.now()
    const due = new Date(Math.max(now.getTime(), until))
    const steps = deliveries.map(held => ({ held, set: { due, ...(held.flow && due <= now && { flow: held.flow }) } }))
    await giveBack(deliveries.length, () => queue.reschedule(steps), log, signal)
    for (const delivery of deliveries) hand.drop(delivery)
  }

  /** A site that is down is asked by one worker in a while. */
  const mayProbe = (site: string) =>
    reserveProbe(mongo, site, clock.now(), probeMs).catch((error: unknown) => {
      log.warn({ err: error, site }, 'no probe of a site that is down')
      return false
    })

  const run = async (group: Group, limits: SiteLimits) => {
    const { site, deliveries } = group
    if (sites.isDown(site) && !(await mayProbe(site))) {
      sites.probedElsewhere(site)
      await putBack(deliveries)
      return
    }
    const attempted = await attempt(group, limits)
    for (const { delivery } of attempted.results) hand.leave(delivery)
    report(sites, { site, relay }, attempted)
    for (const result of attempted.results) void settle(result)
    if (attempted.untouched.length > 0) void putBack(attempted.untouched, attempted.unreachable?.until)
  }

  return group =>
    sites.submit({
      site: group.site,
      run: limits => run(group, limits),
      putBack: () => void putBack(group.deliveries),
    })
}

/** What an attempt says about its site. */
function report(
  sites: Sites,
  { site, relay }: { site: string; relay: boolean },
  { results, unreachable, reached }: Attempted,
): void {
  if (reached) sites.reached(site)
  const slow = results.find(({ judged }) => judged.slowDown)
  // A host that greets with 421 wants fewer connections. The relay is one for all: then nothing goes out for a while.
  if (slow && !(relay && unreachable)) sites.throttled(site, slow.event.text)
  else if (unreachable) {
    // A domain's own policy says nothing about the provider that it shares with others.
    if (!(unreachable.ofDomain && isProvider(site))) sites.unreachable(site, unreachable.reason, unreachable.until)
  } else if (results.some(isBroken)) sites.broke(site)
  if (results.some(({ next }) => next.kind === 'delivered')) sites.succeeded(site)
}

function isBroken({ judged }: Result): boolean {
  return judged.kind === 'network'
}
