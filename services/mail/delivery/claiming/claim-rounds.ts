/**
 * Takes deliveries from the queue: as many as their sites have room for, in turns of the accounts (rules/fair-queue.ts).
 * What a site cannot take now stays in the database.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { Outbox } from '../../store/outgoing.ts'
import type { Sites } from '../sites/sites.ts'
import { type Claim, type ClaimedBatch, createClaim } from './claim-deliveries.ts'
import type { DestinationLimits } from './destination-limits.ts'
import { ExpirySearch } from './expiry.ts'
import type { GiveBack } from './give-back.ts'
import type { InFlight } from './in-flight.ts'
import { IndexScan } from './index-scan.ts'
import { ReadyFlows } from './ready-flows.ts'
import { TimedDeliveries } from './timed-deliveries.ts'
import type { WakeUps } from './wake-ups.ts'

/** Dependencies of {@link ClaimRounds}. */
export interface ClaimRoundsOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'firstOfEach' | 'ready' | 'siblings' | 'makeReady' | 'forgetFlows' | 'claim'>
  outbox: Pick<Outbox, 'load'>
  inFlight: InFlight
  sites: Pick<Sites, 'roomAt' | 'isPaused' | 'troubled'>
  destinationLimits: Pick<DestinationLimits, 'take' | 'putBack' | 'isWaiting'>
  wakeUps: WakeUps
  giveBack: Pick<GiveBack, 'postpone'>
  clock: Clock
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that deliveries for a site may be in. */
  slotsOf(site: string): readonly number[]
  /** Most deliveries in flight. */
  mostInFlight: number
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
}

/** What one round took. `full`: there may be more, so that the next round should follow immediately. */
export interface Round {
  batch?: ClaimedBatch | undefined
  full: boolean
}

const NOTHING: Round = { full: false }
/** Deliveries of one round. */
const AT_ONCE = 200
/**
 * In direct mode an account has at most this many times as much in flight as stays free: one alone three quarters, two
 * three sevenths each. So what waits for silent sites never takes all the room, and another account gets its places at
 * once. All mail for a relay waits for the same site, whose turns are shared already; there only the claims should not be
 * tiny.
 */
const SHARE = 3
const RELAY_FREE = 1 / 20

/** The claims of one worker. */
export class ClaimRounds {
  readonly #options: ClaimRoundsOptions
  readonly #flows: ReadyFlows
  readonly #timed: TimedDeliveries
  readonly #scan: IndexScan
  readonly #expiry: ExpirySearch
  readonly #claim: Claim
  /** The slots of the last round, with their epochs. */
  #owned: ReadonlyMap<number, number> = new Map()

  constructor(options: ClaimRoundsOptions) {
    this.#options = options
    this.#flows = new ReadyFlows(options)
    this.#timed = new TimedDeliveries({ ...options, now: () => options.clock.now() })
    this.#scan = new IndexScan({ ...options, flows: this.#flows })
    this.#expiry = new ExpirySearch(options)
    this.#claim = createClaim({ ...options, isWithinShare: this.#isWithinShare })
  }

  /** One round: takes from flows that are known. Rejects when the database is away. */
  async next(): Promise<Round> {
    const { clock, inFlight, wakeUps } = this.#options
    const epochs = this.#options.claimable()
    if (epochs.size === 0) return NOTHING // hints wait: the renewal of the leases may only be late
    this.#flows.hint(wakeUps.takeFlows())
    this.#noticeOwnership(epochs)
    const now = clock.now()
    const room = this.#room()
    if (room === 0) return NOTHING
    const draws = this.#flows.draw(room, this.#isWithinShare)
    if (draws.length === 0) return NOTHING
    const found = await this.#flows.read(draws, now)
    const fresh = found.filter(({ id, slot }) => epochs.has(slot) && !inFlight.has(id))
    // A failover can bring back what is in flight: it stays in its flow until its transaction ends, so there is no hurry.
    if (fresh.length === 0) return NOTHING
    return { batch: await this.#claim(fresh, epochs, now), full: found.length >= room }
  }

  /**
   * Searches for flows with ready mail that no hint named, when it is time; the next round takes from them. Resolves to true
   * while slots that were taken over are not searched completely, and rejects when the database is away.
   */
  async search(): Promise<boolean> {
    const { wakeUps, claimable } = this.#options
    const epochs = claimable()
    if (epochs.size === 0) return false
    this.#noticeOwnership(epochs)
    const known = this.#flows.size
    const sites = wakeUps.takeSites()
    for (const site of sites) this.#flows.readmit(site)
    await Promise.all([this.#timed.makeReady(), this.#scan.next([...epochs.keys()], sites)])
    this.#flows.hint(wakeUps.takeFlows()) // of timed deliveries, and what came in since
    if (sites.length > 0 || this.#flows.size > known) wakeUps.notify()
    return this.#scan.hasTaken()
  }

  /** Takes what has expired while its site was down, to be ended without an attempt. */
  async *expired(): AsyncGenerator<ClaimedBatch> {
    const epochs = this.#options.claimable()
    const now = this.#options.clock.now()
    const down = this.#options.sites.troubled().filter(({ status }) => status === 'down')
    this.#expiry.retain(new Set(down.map(({ site }) => site)))
    for (const { site } of down) {
      const found = await this.#expiry.findAt(site, epochs, now)
      const batch = found.length > 0 ? await this.#claim(found, epochs, now) : undefined
      if (batch) yield batch
    }
  }

  /** When the oldest ready delivery was due, according to the last complete index scan. */
  oldest(): Date | undefined {
    return this.#options.claimable().size > 0 ? this.#scan.oldest() : undefined
  }

  /** Forgets what is of slots that went, and scans those that came: their mail was hinted to other workers. */
  #noticeOwnership(epochs: ReadonlyMap<number, number>): void {
    const came = [...epochs].flatMap(([slot, epoch]) => (this.#owned.get(slot) === epoch ? [] : [slot]))
    const hasGone = this.#owned.size + came.length > epochs.size
    this.#owned = epochs
    if (hasGone) this.#flows.retainSlots(epochs)
    if (came.length === 0) return
    this.#timed.restart()
    this.#scan.addTaken(came)
  }

  /** How many more deliveries one round may take. */
  #room(): number {
    const { mostInFlight, inFlight, relay } = this.#options
    const free = mostInFlight - inFlight.size
    return free > (relay ? mostInFlight * RELAY_FREE : 0) ? Math.min(AT_ONCE, free) : 0
  }

  readonly #isWithinShare = (userId: string, more: number, all: number): boolean => {
    const { mostInFlight, inFlight, relay } = this.#options
    return relay || inFlight.countOf(userId) + more <= SHARE * (mostInFlight - inFlight.size - all)
  }
}
