/**
 * The delivery engine of one worker: own slots, claim what is due in them, send, settle. Which host, which keys and
 * which way out are handed in; everything that must survive is in the database.
 */
import type { Clock } from '../../platform/clock.ts'
import { within } from '../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { Running } from '../../platform/running.ts'
import { DeliveryQueue } from '../store/deliveries.ts'
import { findEvents } from '../store/events.ts'
import { Outbox } from '../store/outgoing.ts'
import { partsOf, slotOf, slotsOf } from '../store/rules/assign-slot.ts'
import { RELAY_SITE, rangesOfSlots } from '../store/rules/flow.ts'
import type { Wake } from '../store/wake.ts'
import { createAttempt } from './attempt.ts'
import { createClaiming, VISIBILITY_MS } from './claiming/claim.ts'
import { createPostpone } from './claiming/give-back.ts'
import { Hand } from './claiming/in-flight.ts'
import { createLeases, type LeaseTimes } from './claiming/slot-leases.ts'
import { measureQueue, measureSites } from './gauges.ts'
import { createSorting } from './group-by-route.ts'
import type { Result } from './result.ts'
import type { FindRoute } from './routes.ts'
import { createTransactions } from './send-groups.ts'
import { createSettle, type Settle } from './settle.ts'
import type { FindKeys } from './signing-keys.ts'
import { createSiteExchange } from './sites/site-sync.ts'
import { createSites } from './sites/sites.ts'
import type { Transport } from './smtp/transport.ts'
import { abortableDelay, createBell } from './timing.ts'

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
/** A relay takes what it gets; among many receivers slow ones must not use up the room. One account alone gets 3,000. */
const IN_HAND = { relay: 600, direct: 4_000 }
const SITES_MS = 1_000
const EXPIRE_MS = 30_000
const GAUGES_MS = 15_000
/** At the stop, for giving back the slots: a few writes, unless the database is away. */
const RELEASE_MS = 5_000

/** Starts delivering. `stop` lets what is in flight finish, gives back the rest and the slots. */
export async function startDelivery(options: DeliveryOptions): Promise<Running> {
  const { mongo, log, metrics, clock, wake, relay, slots } = options
  const queue = new DeliveryQueue(mongo)
  const outbox = new Outbox(mongo, options.logDays)
  const hand = new Hand(({ site }) => (relay ? RELAY_SITE : site))
  const bell = createBell()
  const stopping = new AbortController()
  const hopeless = new AbortController()
  const world = () => ({ now: clock.now(), random: options.random, logDays: options.logDays })
  const leases = createLeases({
    ...options,
    onTaken: async taken => {
      await queue.recover(taken, clock.now(), VISIBILITY_MS)
      bell.ring()
    },
    onReleased: released => wake.release(released),
    idle: slot => hand.idle(slot),
    isIdle: slot => hand.isIdle(slot),
    onCount: owned => metrics.slotsOwned.set(owned),
  })
  const exchange = createSiteExchange({
    ...{ mongo, owner: options.owner, now: () => clock.now() },
    learn: news => sites.learn(news),
  })
  const sites = createSites({
    relay,
    shareOf(site) {
      const all = slotsOf(site, slots, relay)
      const mine = leases.claimable()
      return { owned: all.filter(slot => mine.has(slot)).length, parts: partsOf(site, slots, relay) }
    },
    now: () => clock.now().getTime(),
    after: (ms, call) => void setTimeout(call, ms).unref(),
    placesAt: site => hand.placesAt(site),
    onRoom(site) {
      claiming.readmit(site)
      bell.ring()
    },
    onChange(news) {
      log.info({ ...news, resumeInMs: Math.max(0, news.resumeAt - clock.now().getTime()) }, 'state of a site changed')
      exchange.note(news)
    },
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
    sites,
    onMoved: (slot, flow) => wake.ring([slot], [flow]),
    submit: createTransactions({ ...options, sites, attempt, settle, queue, hand, signal: hopeless.signal }),
    settle: result => void settle(result),
  })
  const claiming = createClaiming({
    ...{ queue, outbox, hand, sites, relay, world, postpone, sort },
    slotsOf: site => slotsOf(site, slots, relay),
    inHand: relay ? IN_HAND.relay : IN_HAND.direct,
    claimable: () => leases.claimable(),
  })

  const claimForEver = async () => {
    let pause = POLL.first
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const round = await claiming.round().catch((error: unknown) => {
        log.warn({ err: error }, 'nothing could be claimed')
        return { taken: 0, full: false }
      })
      if (round.full) continue
      if (round.taken > 0) await abortableDelay(CLAIM_GAP_MS - (performance.now() - began), stopping.signal)
      pause = round.taken > 0 ? POLL.first : Math.min(pause * 1.5, POLL.last)
      if (await bell.wait(pause)) pause = POLL.first
    }
  }

  const deaf = wake.listen((_, flows, released) => {
    if (released.length > 0) leases.lookForFree()
    claiming.hint(flows)
    bell.ring()
  })
  await leases.start()
  await options.jobs.start()
  void wake.follow(stopping.signal) // not waited for: its read may hang for a second, and nothing depends on it
  const loops = [
    claimForEver(),
    repeat(KEEP_MS, stopping.signal, log, () =>
      queue.keep(hand.all(), new Date(clock.now().getTime() + VISIBILITY_MS)),
    ),
    repeat(GAUGES_MS, stopping.signal, log, () => {
      const owned = [...leases.claimable().keys()]
      measureSites(sites, metrics)
      const times = { now: clock.now(), oldest: claiming.oldest() }
      return measureQueue(queue, owned, rangesOfSlots(owned, relay), times, metrics)
    }),
    repeat(SITES_MS, stopping.signal, log, () => exchange.exchange()),
    repeat(EXPIRE_MS, stopping.signal, log, async () => void (await claiming.expire())),
  ]

  return {
    async stop() {
      stopping.abort()
      deaf()
      bell.ring()
      void leases.retire() // not waited for: without a database it takes as long as the driver's patience lasts
      // While the database is away a round takes as long as the driver's patience lasts, and then another one.
      const late = abortableDelay(options.graceMs, hopeless.signal).then(() => hopeless.abort())
      await Promise.race([Promise.all(loops), late])
      sites.stop()
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

async function repeat(ms: number, signal: AbortSignal, log: Log, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await abortableDelay(ms, signal)
    if (!signal.aborted) await work().catch((error: unknown) => log.warn({ err: error }, 'upkeep of the queue failed'))
  }
}
