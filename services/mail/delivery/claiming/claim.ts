/**
 * Takes deliveries from the queue: as many as their sites have room for, in turns of the accounts (rules/fair-queue.ts).
 * What a site cannot take now stays in the database. Flows with ready mail are learned from hints, from timed deliveries
 * that this worker makes ready, and by looking at the index, which finds what hints have missed.
 */
import { randomBytes } from 'node:crypto'
import { split } from '../../../platform/partition.ts'
import { type Claimed, type ClaimScope, type DeliveryQueue, underClaim } from '../../store/deliveries.ts'
import type { DeliveryDoc } from '../../store/documents.ts'
import type { Outbox, Outgoing } from '../../store/outgoing.ts'
import { type Flow, parseFlow } from '../../store/rules/flow.ts'
import { type Draw, FairQueue } from '../rules/fair-queue.ts'
import type { Sites } from '../sites/sites.ts'
import { createExpiry } from './expiry.ts'
import type { Hand } from './in-flight.ts'
import { createLook } from './index-scan.ts'

/** What {@link createClaiming} depends on. */
export interface ClaimingOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'firstOfEach' | 'ready' | 'siblings' | 'makeReady' | 'forgetFlows' | 'claim'>
  outbox: Pick<Outbox, 'load'>
  hand: Hand
  sites: Pick<Sites, 'roomAt' | 'isPaused' | 'troubled'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that deliveries for a site may be in. */
  slotsOf(site: string): readonly number[]
  /** Most deliveries in hand. */
  inHand: number
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  world(): { now: Date }
  /** Gives deliveries back, to be tried at `due`. */
  postpone(deliveries: readonly Claimed[], due: Date): void
  /** Takes over what was claimed, with the messages that were found; when it rejects it took over nothing. */
  sort(claimed: readonly Claimed[], messages: ReadonlyMap<string, Outgoing>): Promise<void>
}

/** Takes deliveries from the queue. */
export interface Claiming {
  /** One round; answers how many were taken. Rejects when the database is away. */
  round(): Promise<{ taken: number; full: boolean }>
  /** These flows have new mail. */
  hint(flows: readonly string[]): void
  /** A site has room again, or its pause is over. */
  readmit(site: string): void
  /** When the oldest ready delivery was due, as the last whole look at the index saw it. */
  oldest(): Date | undefined
  /** Takes what has expired while its site was down, to be ended without an attempt; answers how many were taken. */
  expire(): Promise<number>
}

/** A claim without renewal ends after so long: the visibility timeout, in milliseconds. */
export const VISIBILITY_MS = 120_000
/** Deliveries taken at once. */
const AT_ONCE = 200
/**
 * In direct mode an account has in hand at most so many times what stays free: one alone three quarters, two three
 * sevenths each. So what waits for silent sites never fills the hand, and another account gets its places at once. All
 * mail for a relay waits for the same site, whose turns are shared already; there only the claims should not be tiny.
 */
const SHARE = 3
const RELAY_FREE = 1 / 20
/**
 * Memory of the bodies that are read with their claim, and of their signed copies. Beyond it bodies are read when their
 * session is open, like large ones.
 */
const BODY_BYTES = 128 * 1024 * 1024
const COPIES = 2
/** Timed deliveries made ready at once, and how often they are looked for. */
const READY_AT_ONCE = 1_000
const READY_MS = 200
/** Flows in memory; more are found as these end. */
const FLOWS_MOST = 20_000
/**
 * A flow is read from where the last read ended, so that what that one took is not passed over again in the index,
 * except once in this time: what turns up late (a slow accept, another clock) waits for that.
 */
const WHOLE_MS = 1_000
const OVERLAP_MS = 1_000
/** Flows that one command reads several deliveries of. */
const UNION = 50

interface Reading {
  from: Date | undefined
  wholeAt: number
  /** Named by a hint since it was read last. */
  hinted: boolean
}

/** Makes the claiming of one worker. */
export function createClaiming(options: ClaimingOptions): Claiming {
  const { queue, outbox, hand, sites, relay, world } = options
  const flows = new FairQueue()
  const readings = new Map<string, Reading>()
  const look = createLook(options, names => learn(names))
  let owned: ReadonlyMap<number, number> = new Map()
  let readyAt = Number.NEGATIVE_INFINITY
  let readyFrom: Date | undefined
  let readyWholeAt = Number.NEGATIVE_INFINITY
  let readying = false

  /** True when the account may have `more` deliveries if `all` more come into the hand. */
  const isWithinShare = (userId: string, more: number, all: number) =>
    relay || hand.heldFor(userId) + more <= SHARE * (options.inHand - hand.size - all)

  const isOurs = ({ slot, site }: Flow, epochs: ReadonlyMap<number, number>) =>
    (slot === undefined || epochs.has(slot)) && !sites.isPaused(site)

  /** How many more flows the look may add. Flows whose site pauses are found again afterwards. */
  const roomForFlows = () => {
    if (flows.size >= FLOWS_MOST) flows.retain(({ site }) => !sites.isPaused(site))
    return FLOWS_MOST - flows.size
  }

  /** Answers true when the flow was not known. */
  const learnOne = (name: string, epochs: ReadonlyMap<number, number>, hinted: boolean): boolean => {
    const flow = parseFlow(name, relay)
    if (!flow || !isOurs(flow, epochs)) return false
    const reading = readings.get(name)
    if (reading && hinted) reading.hinted = true
    if (flows.has(name)) return false
    flows.add(flow)
    return true
  }

  const learn = (names: Iterable<string>, hinted = false) => {
    const epochs = options.claimable()
    // Once for all of them: the look may bring a hundred thousand.
    let room = hinted ? Number.POSITIVE_INFINITY : roomForFlows()
    for (const name of names) {
      if (room <= 0) return
      if (learnOne(name, epochs, hinted)) room--
    }
  }

  const forget = (name: string) => {
    flows.remove(name)
    readings.delete(name)
  }

  /** Forgets what is of slots that went, and has those looked at that came: their mail was hinted to others. */
  const noticeOwnership = (epochs: ReadonlyMap<number, number>) => {
    const came = [...epochs].flatMap(([slot, epoch]) => (owned.get(slot) === epoch ? [] : [slot]))
    const gone = owned.size + came.length > epochs.size
    owned = epochs
    if (gone) {
      flows.retain(({ slot }) => slot === undefined || epochs.has(slot))
      for (const name of readings.keys()) if (!flows.has(name)) readings.delete(name)
    }
    if (came.length === 0) return
    readyFrom = undefined
    look.slots(came)
  }

  /** How many more deliveries one round may take. */
  const roomInHand = () => {
    const free = options.inHand - hand.size
    return free > (relay ? options.inHand * RELAY_FREE : 0) ? Math.min(AT_ONCE, free) : 0
  }

  /** Answers true when there may be more, which made progress. */
  const makeReadyOnce = async (): Promise<boolean> => {
    const asked = options.claimable()
    const slots = [...asked.keys()]
    if (slots.length === 0) return false
    const { now } = world()
    const whole = performance.now() - readyWholeAt >= WHOLE_MS * 5
    if (whole) readyWholeAt = performance.now()
    const from = whole || !readyFrom ? undefined : new Date(readyFrom.getTime() - OVERLAP_MS)
    const { flows: names, full } = await queue.makeReady(
      slots,
      { from, now },
      { limit: READY_AT_ONCE, relay, skip: id => hand.has(id) },
    )
    // Slots that came meanwhile were not asked for.
    readyFrom = full || [...owned].some(([slot, epoch]) => asked.get(slot) !== epoch) ? undefined : now
    learn(names, true)
    return full && names.size > 0
  }

  /**
   * The first part is waited for. The order is that of time, whosever mail it is, so the rest follows at once and beside
   * the claims: mail behind a campaign that was timed for the same moment does not wait for the campaign's delivery.
   */
  const makeReady = async () => {
    if (readying || performance.now() - readyAt < READY_MS) return
    readying = true
    const begun = performance.now()
    const done = () => {
      readying = false
      readyAt = begun
    }
    const rest = async () => {
      while (await makeReadyOnce());
    }
    const more = await makeReadyOnce().catch((error: unknown) => {
      done()
      throw error
    })
    if (!more) done()
    else void rest().then(done, done) // a failure meets the next round as well, and is told there
  }

  const read = async (draws: readonly Draw[], now: Date): Promise<DeliveryDoc[]> => {
    const started = performance.now()
    const [single, several] = relay ? [[], draws] : split(draws, ({ count }) => count === 1)
    const wanted = several.map(({ flow: { name }, count }) => ({
      flow: name,
      count,
      from: startOf(readings, name, started),
      ...(relay && { slots: [...options.claimable().keys()] }),
    }))
    for (const { flow } of draws) {
      const reading = readings.get(flow.name)
      if (reading) reading.hinted = false
      else readings.set(flow.name, { from: undefined, wholeAt: started, hinted: false })
    }
    const parts = await Promise.all([
      single.length > 0
        ? queue.firstOfEach(
            single.map(({ flow }) => flow.name),
            now,
          )
        : [],
      ...chunks(wanted, UNION).map(chunk => queue.ready(chunk, now)),
    ])
    const found = parts.flat()
    noteEnds(draws, found)
    return found
  }

  /** Flows that gave less than was asked have nothing more; the others go on behind what they gave. */
  const noteEnds = (draws: readonly Draw[], found: readonly DeliveryDoc[]) => {
    const byFlow = Map.groupBy(found, ({ flow }) => flow)
    for (const { flow, count } of draws) {
      const given = byFlow.get(flow.name) ?? []
      const reading = readings.get(flow.name)
      if (given.length >= count) {
        const last = given.at(-1)?.due
        if (reading && last) reading.from = new Date(last.getTime() - OVERLAP_MS)
      } else if (reading?.hinted) reading.from = undefined
      else forget(flow.name)
    }
  }

  /** Slots may have been given back since the round began: what is in hand keeps one, what is not yet must not go in. */
  const stillClaimable = <T extends { slot: number }>(all: readonly T[], epochs: ReadonlyMap<number, number>): T[] => {
    const claimable = options.claimable()
    return all.filter(({ slot }) => claimable.has(slot) && claimable.get(slot) === epochs.get(slot))
  }

  const claim = async (ready: readonly DeliveryDoc[], epochs: ReadonlyMap<number, number>, now: Date) => {
    const found = stillClaimable(ready, epochs)
    if (found.length === 0) return 0
    const tok = randomBytes(9).toString('base64url')
    const scope = { epochs, tok, now, until: new Date(now.getTime() + VISIBILITY_MS) }
    const wanted = underClaim(found, scope)
    /** What is in hand of this claim, for as long as nobody else is answerable for it. */
    let held: readonly Claimed[] = wanted
    hand.take(wanted)
    const asked = queue.claim(wanted, scope)
    try {
      const room = Math.max(0, BODY_BYTES - hand.bodyBytes) / COPIES
      const [ours, messages] = await Promise.all([asked, outbox.load([...new Set(found.map(({ m }) => m))], room)])
      held = keepOurs(wanted, ours)
      for (const { message, inMemory } of messages.values())
        if (inMemory) hand.addBody(message._id, message.size * COPIES)
      held = [...held, ...(await takeSiblings(held, messages, scope))]
      await options.sort(held, messages)
      return held.length
    } catch (error) {
      // The claim may have been written all the same, or be under way still: what is given back before it would stay.
      await asked.catch(() => undefined)
      // Giving back matches on the claim's token and hurts nobody else.
      options.postpone(held, now)
      throw error
    }
  }

  /** Of a claim what succeeded; the rest leaves the hand. */
  const keepOurs = (wanted: readonly Claimed[], ours: readonly Claimed[]): readonly Claimed[] => {
    const kept = new Set(ours)
    for (const delivery of wanted) if (!kept.has(delivery)) hand.drop(delivery)
    return ours
  }

  /** Recipients of one message share a transaction, so those that the limit cut off are taken as well. */
  const takeSiblings = async (
    claimed: readonly Claimed[],
    messages: ReadonlyMap<string, Outgoing>,
    scope: ClaimScope,
  ): Promise<readonly Claimed[]> => {
    const found = await siblingsOf(queue, claimed, messages, scope.now)
    const fresh = stillClaimable(underClaim(found, scope), scope.epochs).filter(({ _id }) => !hand.has(_id))
    const wanted: Claimed[] = []
    for (const group of Map.groupBy(fresh, ({ m }) => m).values()) {
      const ofAccount = wanted.filter(({ user_id }) => user_id === group[0]?.user_id).length
      if (isWithinShare(group[0]?.user_id ?? '', ofAccount + group.length, wanted.length + group.length))
        wanted.push(...group)
    }
    if (wanted.length === 0) return []
    hand.take(wanted)
    try {
      return keepOurs(wanted, await queue.claim(wanted, scope))
    } catch {
      options.postpone(wanted, scope.now)
      return []
    }
  }

  const expiry = createExpiry(options)

  return {
    async round() {
      const epochs = options.claimable()
      if (epochs.size === 0) return { taken: 0, full: false }
      noticeOwnership(epochs)
      const { now } = world()
      const slots = [...epochs.keys()]
      await Promise.all([makeReady(), look.next(slots)])
      const room = roomInHand()
      if (room === 0) return { taken: 0, full: false }
      // A draw that used up the room of a site put its flows aside although there was room when it was asked for.
      for (const site of [...flows.sitesAside()]) if (sites.roomAt(site) > 0) flows.readmit(site)
      const draws = flows.draw(room, site => sites.roomAt(site), isWithinShare)
      if (draws.length === 0) return { taken: 0, full: look.hasTaken() }
      const found = await read(draws, now)
      const fresh = found.filter(({ _id, slot }) => epochs.has(slot) && !hand.has(_id))
      // A failover can bring back what is in hand: it stays in its flow until its transaction ends, so there is no hurry.
      if (fresh.length === 0) return { taken: 0, full: false }
      const taken = await claim(fresh, epochs, now)
      return { taken, full: found.length >= room }
    },
    hint: names => learn(names, true),
    oldest: () => (options.claimable().size > 0 ? look.oldest() : undefined),
    readmit(site) {
      flows.readmit(site)
      look.at(site)
    },
    async expire() {
      const epochs = options.claimable()
      const { now } = world()
      const down = sites.troubled().filter(({ status }) => status === 'down')
      expiry.keep(new Set(down.map(({ site }) => site)))
      let taken = 0
      for (const { site } of down) {
        const expired = await expiry.at(site, epochs, now)
        if (expired.length > 0) taken += await claim(expired, epochs, now)
      }
      return taken
    },
  }
}

/** What is ready of the messages with several recipients among these, in the flows that these came from. */
async function siblingsOf(
  queue: ClaimingOptions['queue'],
  claimed: readonly Claimed[],
  messages: ReadonlyMap<string, Outgoing>,
  now: Date,
): Promise<DeliveryDoc[]> {
  const shared = claimed.filter(({ m }) => (messages.get(m)?.message.rcpts.length ?? 0) > 1)
  const flows = new Map(shared.map(({ m, flow = '' }) => [`${m} ${flow}`, { m, flow }]))
  return (await Promise.all([...flows.values()].map(({ m, flow }) => queue.siblings(m, flow, now)))).flat()
}

/** Where to begin to read a flow. */
function startOf(readings: ReadonlyMap<string, Reading>, name: string, now: number): Date | undefined {
  const reading = readings.get(name)
  if (!reading || now - reading.wholeAt < WHOLE_MS) return reading?.from
  reading.wholeAt = now
  return undefined
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))
}
