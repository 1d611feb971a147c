/**
 * The delivery engine of one worker: own slots, claim what is due in them, send, settle. Which host, which keys and
 * which way out are handed in; everything that must survive is in the database.
 */
import type { Clock } from '../platform/clock.ts'
import { within } from '../platform/deadline.ts'
import { createGroupCommit } from '../platform/group-commit.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Mongo } from '../platform/mongo.ts'
import type { Running } from '../platform/run.ts'
import { type Attempt, createAttempt, type Group } from './delivery/attempt.ts'
import { createClaiming, type Round, VISIBILITY_MS } from './delivery/claiming.ts'
import { createDispatcher, type Dispatcher } from './delivery/dispatch.ts'
import { measureQueue } from './delivery/gauges.ts'
import { Hand } from './delivery/hand.ts'
import type { FindKeys } from './delivery/keys.ts'
import { createLeases, type LeaseTimes } from './delivery/leases.ts'
import type { Result } from './delivery/result.ts'
import type { FindRoute } from './delivery/routes.ts'
import { createSettle, type Settle } from './delivery/settle.ts'
import { createSorting } from './delivery/sorting.ts'
import { abortableDelay, createBell } from './delivery/timing.ts'
import { partsOf, slotOf } from './rules/slots.ts'
import type { Transport } from './smtp/transport.ts'
import { type Claimed, DeliveryQueue } from './store/deliveries.ts'
import { findEvents } from './store/events.ts'
import { Outbox } from './store/outgoing.ts'
import { suspendedSites, suspendSite } from './store/sites.ts'
import type { Wake } from './store/wake.ts'

/** What the engine needs. */
export interface DeliveryOptions {
  mongo: Mongo
  log: Log
  metrics: Metrics
  clock: Clock
  /** Unique name of this worker. */
  owner: string
  /** Agenda instance of the slots only; started and stopped here. */
  jobs: Jobs
  slots: number
  relay: boolean
  logDays: number
  times: LeaseTimes
  /** How long a stop waits for what is in flight, in milliseconds. */
  graceMs: number
  transport: Transport
  findRoute: FindRoute
  findKeys: FindKeys
  isSuspended(userId: string): Promise<boolean>
  report(results: readonly Result[]): Promise<void>
  wake: Wake
  /** A number from 0 to 1. */
  random(): number
}

/** Polls of an idle worker start close and become rarer, in milliseconds. */
const POLL = { first: 50, last: 500 }
/** Least time between two claims: one costs six commands, whatever it finds. The first message after a pause never waits. */
const CLAIM_GAP_MS = 50
/** Claims are extended so often: a third of their time. */
const KEEP_MS = VISIBILITY_MS / 3
/** A relay takes what it gets; among many receivers slow ones must not use up the room. */
const IN_HAND = { relay: 600, direct: 3_000 }
const SITES_MS = 5_000
const GAUGES_MS = 15_000
/** At the stop, for giving back the slots: a few writes, unless the database is away. */
const RELEASE_MS = 5_000

/** Starts delivering. `stop` lets what is in flight finish, gives back the rest and the slots. */
export async function startDelivery(options: DeliveryOptions): Promise<Running> {
  const { mongo, log, metrics, clock, wake, relay, slots } = options
  const queue = new DeliveryQueue(mongo)
  const outbox = new Outbox(mongo, options.logDays)
  const hand = new Hand()
  const bell = createBell()
  const stopping = new AbortController()
  const hopeless = new AbortController()
  const world = () => ({ now: clock.now(), random: options.random, logDays: options.logDays })
  const dispatcher = createDispatcher({
    partsOf: site => partsOf(site, slots, relay),
    relay,
    now: () => clock.now().getTime(),
  })
  const leases = createLeases({
    ...options,
    onTaken: async taken => {
      await queue.recover(taken, clock.now(), VISIBILITY_MS)
      bell.ring()
    },
    idle: slot => hand.idle(slot),
    isIdle: slot => hand.isIdle(slot),
    onCount: owned => metrics.slotsOwned.set(owned),
  })
  const settle = settleInHand(
    createSettle({ ...options, queue, outbox, signal: hopeless.signal }),
    hand,
    bell.ring,
    log,
  )
  const postpone = createPostpone(queue, hand, log, hopeless.signal)
  const attempt = createAttempt({ ...options, queue, mayFinish: leases.mayFinish, world })
  const sort = createSorting({
    ...options,
    queue,
    hand,
    findEvents: ids => findEvents(mongo, ids),
    slotOf: (site, id) => slotOf(site, id, slots, relay),
    moves: !relay,
    world,
    postpone,
    submit: createSubmit({ ...options, dispatcher, attempt, settle, postpone, queue, hand, signal: hopeless.signal }),
    settle: result => void settle(result),
  })
  const inHand = relay ? IN_HAND.relay : IN_HAND.direct
  const claim = createClaiming({
    queue,
    outbox,
    hand,
    inHand,
    claimable: () => leases.claimable(),
    world,
    postpone,
    sort,
  })

  const claimForEver = async () => {
    let pause = POLL.first
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const round: Round = await claim().catch((error: unknown) => {
        log.warn({ err: error }, 'nothing could be claimed')
        return { taken: 0, full: false }
      })
      if (round.full) continue
      if (round.taken > 0) await abortableDelay(CLAIM_GAP_MS - (performance.now() - began), stopping.signal)
      pause = round.taken > 0 ? POLL.first : Math.min(pause * 1.5, POLL.last)
      if (await bell.wait(pause)) pause = POLL.first
    }
  }

  const deaf = wake.listen(() => bell.ring())
  await leases.start()
  await options.jobs.start()
  void wake.follow(stopping.signal) // not waited for: its read may hang for a second, and nothing depends on it
  const loops = [
    claimForEver(),
    repeat(KEEP_MS, stopping.signal, log, () =>
      queue.keep(hand.all(), new Date(clock.now().getTime() + VISIBILITY_MS)),
    ),
    repeat(GAUGES_MS, stopping.signal, log, () =>
      measureQueue(queue, [...leases.claimable().keys()], clock.now(), metrics),
    ),
    repeat(SITES_MS, stopping.signal, log, async () => {
      for (const { _id, suspended_until } of await suspendedSites(mongo, clock.now()))
        if (suspended_until) dispatcher.suspendUntil(_id, suspended_until.getTime())
    }),
  ]

  return {
    async stop() {
      stopping.abort()
      deaf()
      bell.ring()
      // While the database is away a round takes as long as the driver's patience lasts, and then another one.
      const late = abortableDelay(options.graceMs, hopeless.signal).then(() => hopeless.abort())
      await Promise.race([Promise.all(loops), late])
      dispatcher.postponeAll()
      await Promise.race([hand.idle(), late])
      await options.transport.stop()
      const release = options.jobs.stop().then(() => leases.stop())
      await within(RELEASE_MS, release).catch((error: unknown) =>
        log.warn({ err: error }, 'slots not given back; their leases run out'),
      )
      hopeless.abort()
    },
  }
}

/** Turns groups into work for the dispatcher. */
function createSubmit(
  parts: Pick<DeliveryOptions, 'mongo' | 'log' | 'clock'> & {
    dispatcher: Dispatcher
    attempt: Attempt
    settle: Settle
    postpone(deliveries: readonly Claimed[], due: Date): void
    queue: DeliveryQueue
    hand: Hand
    /** Ends the attempts to reach a database that is away. */
    signal: AbortSignal
  },
): (group: Group) => void {
  const { dispatcher, attempt, settle, postpone, queue, hand, clock, log, mongo, signal } = parts

  /**
   * Nothing was sent: back into the queue at once, without the mark. The usual reason is that the database went away
   * while the mark was written, so this is tried until it is back: a mark that stayed would look like a sent message.
   */
  const untouched = async (deliveries: readonly Claimed[]) => {
    const steps = deliveries.map(held => ({ held, set: { due: clock.now() } }))
    await giveBack(deliveries.length, () => queue.reschedule(steps), log, signal)
    for (const delivery of deliveries) hand.drop(delivery)
  }

  const note = ({ delivery, judged, next }: Result, site: string) => {
    if (next.kind === 'delivered') dispatcher.succeeded(site)
    const pause = judged.slowDown ? dispatcher.slowDown(site) : undefined
    if (!pause) return
    log.info({ m: delivery.m, site, ms: pause.suspendedUntil - clock.now().getTime() }, 'site asked for a pause')
    suspendSite(mongo, site, new Date(pause.suspendedUntil), pause.limit, clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'pause of a site not shared'),
    )
  }

  return group =>
    dispatcher.submit({
      site: group.site,
      async run(limits) {
        const { results, untouched: withheld } = await attempt(group, limits)
        for (const result of results) {
          note(result, group.site)
          void settle(result)
        }
        if (withheld.length > 0) void untouched(withheld)
      },
      postpone: until => postpone(group.deliveries, new Date(until)),
    })
}

/** Settling ends the time in hand. A result that could not be written stays for the next claim, which finds the mark. */
function settleInHand(settle: Settle, hand: Hand, ring: () => void, log: Log): Settle {
  return async result => {
    await settle(result).catch((error: unknown) =>
      log.error({ err: error, delivery: result.delivery._id }, 'a result was not written'),
    )
    hand.drop(result.delivery)
    if (hand.size % 50 === 0) ring()
  }
}

/** Writes deliveries back, again until the database takes them or the signal aborts; then their claims run out. */
async function giveBack(count: number, write: () => Promise<unknown>, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await write()
      return
    } catch (error) {
      log.warn({ err: error, deliveries: count }, 'deliveries not given back; trying again')
      await abortableDelay(500, signal)
    }
  }
}

/** Gives deliveries back in shared writes, again until the database takes them or the signal aborts. */
function createPostpone(queue: DeliveryQueue, hand: Hand, log: Log, signal: AbortSignal) {
  const release = (items: readonly Claimed[], due: Date) =>
    giveBack(items.length, () => queue.release(items, due), log, signal)
  const commit = createGroupCommit<{ delivery: Claimed; due: Date }, true>({
    most: 1_000,
    mostBytes: Number.POSITIVE_INFINITY,
    flights: 2,
    sizeOf: () => 1,
    async write(batch) {
      for (const [due, items] of Map.groupBy(batch, ({ due: at }) => Math.ceil(at.getTime() / 100)))
        await release(
          items.map(({ delivery }) => delivery),
          new Date(due * 100),
        )
      return batch.map(() => true as const)
    },
  })
  return (deliveries: readonly Claimed[], due: Date) => {
    for (const delivery of deliveries)
      commit({ delivery, due })
        .catch((error: unknown) => log.warn({ err: error }, 'deliveries not given back; their claims run out'))
        .finally(() => hand.drop(delivery))
  }
}

async function repeat(ms: number, signal: AbortSignal, log: Log, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await abortableDelay(ms, signal)
    if (!signal.aborted) await work().catch((error: unknown) => log.warn({ err: error }, 'upkeep of the queue failed'))
  }
}
