/** Takes what is due from the queue. */
import { randomBytes } from 'node:crypto'
import { type Claimed, type DeliveryQueue, underClaim } from '../store/deliveries.ts'
import type { Outbox, Outgoing } from '../store/outgoing.ts'
import type { Hand } from './hand.ts'

/** What claiming needs. */
export interface ClaimingOptions {
  queue: DeliveryQueue
  outbox: Outbox
  hand: Hand
  /** Deliveries in hand at most. */
  inHand: number
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  world(): { now: Date }
  /** Gives deliveries back, to be tried at `due`. */
  postpone(deliveries: readonly Claimed[], due: Date): void
  /** Takes over what was claimed, with the messages that were found. */
  sort(claimed: readonly Claimed[], messages: ReadonlyMap<string, Outgoing>): Promise<void>
}

/** A claim without renewal ends after so long: the visibility timeout. */
export const VISIBILITY_MS = 120_000
/** Deliveries taken at once. */
const AT_ONCE = 200
/**
 * A round looks no further back than this before a round that left nothing behind, except once in {@link WHOLE_MS}:
 * what turns up late (a slow accept, another clock) waits for that one.
 */
const OVERLAP_MS = 1_000
const WHOLE_MS = 1_000

/** How a round of claiming went: how many were taken, and whether there may be more at once. */
export interface Round {
  taken: number
  full: boolean
}

/** Makes the function that does one round. Rejects when the database is away. */
export function createClaiming(options: ClaimingOptions): () => Promise<Round> {
  const { queue, outbox, hand, world } = options
  /** When a round last left nothing behind, and when one last looked at everything. */
  let emptied: Date | undefined
  let wholeAt = Number.NEGATIVE_INFINITY
  let slots = ''

  const start = (now: Date, epochs: ReadonlyMap<number, number>): Date | undefined => {
    const owned = [...epochs].join()
    if (!emptied || owned !== slots || performance.now() - wholeAt >= WHOLE_MS) {
      slots = owned
      wholeAt = performance.now()
      return undefined
    }
    return new Date(Math.min(emptied.getTime(), now.getTime()) - OVERLAP_MS)
  }

  return async () => {
    const epochs = options.claimable()
    const room = Math.min(AT_ONCE, options.inHand - hand.size)
    if (epochs.size === 0 || room <= options.inHand / 20) return { taken: 0, full: false }
    const { now } = world()
    const found = await queue.findDue([...epochs.keys()], { from: start(now, epochs), now }, room, id => hand.has(id))
    emptied = found.length < room ? now : undefined
    if (found.length === 0) return { taken: 0, full: false }
    const tok = randomBytes(9).toString('base64url')
    const until = new Date(now.getTime() + VISIBILITY_MS)
    const scope = { epochs, tok, now, until }
    const wanted = underClaim(found, scope)
    hand.take(wanted)
    try {
      const [claimed, messages] = await Promise.all([
        queue.claim(wanted, scope),
        outbox.load([...new Set(found.map(({ m }) => m))]),
      ])
      const ours = new Set(claimed)
      for (const delivery of wanted) if (!ours.has(delivery)) hand.drop(delivery)
      await options.sort(claimed, messages)
    } catch (error) {
      // The claim may have been written all the same; giving back matches on its token and hurts nobody else.
      options.postpone(wanted, now)
      throw error
    }
    return { taken: wanted.length, full: found.length >= room }
  }
}
