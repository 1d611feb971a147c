/** Sorts what was claimed: what needs no attempt is settled or given back, the rest is grouped by its way and handed on. */
import type { Log } from '../../platform/observability/log.ts'
import { split } from '../../platform/partition.ts'
import { type Claimed, type DeliveryQueue, recipientOf } from '../store/deliveries.ts'
import type { EventDoc } from '../store/documents.ts'
import { eventId } from '../store/events.ts'
import type { Outgoing } from '../store/outgoing.ts'
import { isProvider } from '../store/rules/assign-slot.ts'
import { flowOf, RELAY_SITE } from '../store/rules/flow.ts'
import type { Group } from './attempt.ts'
import type { Hand } from './claiming/in-flight.ts'
import {
  expiredResult,
  type LocalFailure,
  localResult,
  type Result,
  type ResultWorld,
  recordedResult,
  unnotedResult,
} from './result.ts'
import type { FindRoute } from './routes.ts'
import type { Sites } from './sites/sites.ts'

/** What sorting needs. */
export interface SortingOptions {
  queue: DeliveryQueue
  hand: Hand
  findRoute: FindRoute
  findEvents(ids: readonly string[]): Promise<Map<string, EventDoc>>
  /** At most 5 s behind. */
  isSuspended(userId: string): Promise<boolean>
  /** The slot of a delivery when it belongs to this site. */
  slotOf(site: string, messageId: string): number
  /** In relay mode the slot says nothing about the site, so nothing moves. */
  moves: boolean
  world(): ResultWorld
  /** Gives deliveries back, to be tried at `due`. */
  postpone(deliveries: readonly Claimed[], due: Date): void
  sites: Pick<Sites, 'isPaused' | 'unreachable'>
  /** A delivery is ready in another flow now. */
  onMoved(slot: number, flow: string): void
  submit(group: Group): void
  settle(result: Result): void
  log: Log
}

/** Recipients of one transaction (RFC 5321 section 4.5.3.1.8 lets a server refuse more than 100). */
const RCPTS = 100
/** Acceptance writes a message with its deliveries; one without (a database put together by hand) waits, then goes. */
const ORPHAN_AGE_MS = 10 * 60_000
const ORPHAN_WAIT_MS = 60_000
const SUSPENDED_WAIT_MS = 30_000

/**
 * Makes the function that sorts claimed deliveries; `messages` are those that were found. It rejects when the database
 * is away, and has handed on nothing then.
 */
export function createSorting(
  options: SortingOptions,
): (claimed: readonly Claimed[], messages: ReadonlyMap<string, Outgoing>) => Promise<void> {
  const { hand, queue, world, findRoute, settle } = options
  const siteOf = ({ site }: Claimed) => (options.moves ? site : RELAY_SITE)

  const clear = async (done: readonly Claimed[]) => {
    await queue.remove(done)
    for (const delivery of done) hand.drop(delivery)
  }

  /** Canceled, as the account was told, and only left behind: whoever canceled them died before their removal. */
  const forget = (canceled: readonly Claimed[]) => {
    if (canceled.length === 0) return
    clear(canceled).catch((error: unknown) => {
      options.log.warn({ err: error }, 'canceled deliveries were not removed')
      options.postpone(canceled, world().now)
    })
  }

  /** Deliveries without a message. */
  const giveUp = async (orphans: readonly Claimed[]) => {
    const { now } = world()
    const [old, young] = split(orphans, ({ created_at }) => now.getTime() - created_at.getTime() > ORPHAN_AGE_MS)
    options.postpone(young, new Date(now.getTime() + ORPHAN_WAIT_MS))
    if (old.length === 0) return
    await clear(old)
    options.log.info({ deliveries: old.length }, 'removed deliveries without a message')
  }

  const recordedOf = async (marked: readonly Pair[]): Promise<ReadonlyMap<string, EventDoc>> =>
    marked.length === 0 ? new Map() : options.findEvents(marked.map(({ delivery }) => attemptOf(delivery)))

  /** Marked by a worker that is gone: what it wrote down counts; without a note the outcome is not known. */
  const recovered = (marked: readonly Pair[], events: ReadonlyMap<string, EventDoc>) => {
    for (const { delivery, outgoing } of marked) {
      const event = events.get(attemptOf(delivery))
      const { message } = outgoing
      settle(event ? recordedResult(delivery, message, event, world()) : unnotedResult(delivery, message, world()))
    }
  }

  const suspendedUsers = async (all: readonly Pair[]) => {
    const users = new Set(all.filter(isUsers).map(({ delivery }) => delivery.user_id))
    const held = new Set<string>()
    for (const user of users) if (await options.isSuspended(user)) held.add(user)
    return held
  }

  /** A domain that turned out to be a provider's waits with the provider's, and perhaps belongs to another worker. */
  const moved = async (delivery: Claimed, site: string): Promise<boolean> => {
    if (!options.moves || site === delivery.site) return false
    const slot = options.slotOf(site, delivery.m)
    const { user_id, lane } = delivery
    const flow = flowOf({ slot, site, user_id, lane }, false)
    await queue.move([delivery], { site, slot, flow, due: world().now })
    hand.drop(delivery)
    options.onMoved(slot, flow)
    return true
  }

  const place = async (delivery: Claimed, outgoing: Outgoing, groups: Map<string, Group>) => {
    const found = await findRoute(delivery.rcpt)
    if (found.kind === 'failed') noRoute(delivery, outgoing, found.failure)
    else if (!(await moved(delivery, found.site))) join(groups, delivery, outgoing, found, options.submit)
  }

  /** DNS that gives no answer concerns the site: the first delivery notes it, the others stay untouched. */
  const noRoute = (delivery: Claimed, outgoing: Outgoing, failure: LocalFailure) => {
    if (failure.judged.outcome === 'deferred') {
      if (options.sites.isPaused(delivery.site)) {
        options.postpone([delivery], world().now)
        return
      }
      // A domain without an answer says nothing about the provider that it was found at before.
      if (!isProvider(delivery.site)) options.sites.unreachable(delivery.site, failure.text)
    }
    settle(localResult(delivery, outgoing.message, failure, world()))
  }

  /** Groups the recipients of one message by their way. DNS may take its time: other messages do not wait for it. */
  const route = async (outgoing: Outgoing, deliveries: readonly Claimed[]) => {
    const groups = new Map<string, Group>()
    const left = [...deliveries]
    try {
      for (const delivery of deliveries) {
        await place(delivery, outgoing, groups)
        left.shift()
      }
    } catch (error) {
      // Only these: what was settled or handed on is in other hands by now.
      options.log.warn({ err: error, m: outgoing.message._id }, 'a message was not handed on')
      options.postpone(left, world().now)
    }
    for (const group of groups.values()) options.submit(group)
  }

  return async (claimed, messages) => {
    const [known, missing] = split(claimed, ({ m }) => messages.has(m))
    const all = known.flatMap(delivery => {
      const outgoing = messages.get(delivery.m)
      return outgoing ? [{ delivery, outgoing }] : []
    })
    // What may fail comes first: a rejection means that nothing was handed on yet, so that all of it can be given back.
    const held = await suspendedUsers(all)
    const [waiting, active] = split(all, pair => isUsers(pair) && held.has(pair.delivery.user_id))
    const [marked, unmarked] = split(active, ({ delivery }) => delivery.ph === 'dot')
    const events = await recordedOf(marked)
    if (missing.length > 0)
      giveUp(missing).catch((error: unknown) => {
        options.log.warn({ err: error }, 'deliveries without a message were not removed')
        options.postpone(missing, world().now)
      })
    const [canceled, wanted] = split(unmarked, isCanceled)
    const { now } = world()
    const [expired, fresh] = split(
      wanted,
      ({ delivery }) => delivery.expires_at <= now && options.sites.isPaused(siteOf(delivery)),
    )
    for (const { delivery, outgoing } of expired) settle(expiredResult(delivery, outgoing.message, world()))
    if (waiting.length > 0)
      options.postpone(
        waiting.map(({ delivery }) => delivery),
        new Date(world().now.getTime() + SUSPENDED_WAIT_MS),
      )
    forget(canceled.map(({ delivery }) => delivery))
    recovered(marked, events)
    for (const [outgoing, pairs] of Map.groupBy(fresh, pair => pair.outgoing))
      void route(
        outgoing,
        pairs.map(({ delivery }) => delivery),
      )
  }
}

interface Pair {
  delivery: Claimed
  outgoing: Outgoing
}

/** The id of the event that its next attempt writes. */
function attemptOf({ _id, att }: Claimed): string {
  return eventId(_id, att + 1)
}

/** Reports of our own are never held back with the account they concern. */
function isUsers({ outgoing }: Pair): boolean {
  return outgoing.message.via.channel !== 'system'
}

function isCanceled({ delivery, outgoing }: Pair): boolean {
  return outgoing.message.rcpts[recipientOf(delivery._id)]?.status === 'canceled'
}

/** Adds a delivery to the group of its message and route; a full group goes at once. */
function join(
  groups: Map<string, Group>,
  delivery: Claimed,
  outgoing: Outgoing,
  { site, route }: { site: string; route: Group['route'] },
  submit: (group: Group) => void,
): void {
  const key = `${delivery.m} ${route.key}`
  const group = groups.get(key) ?? { outgoing, deliveries: [], site, route }
  groups.set(key, group)
  group.deliveries.push(delivery)
  if (group.deliveries.length < RCPTS) return
  groups.delete(key)
  submit(group)
}
