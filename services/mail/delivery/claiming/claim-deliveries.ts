/** Claims ready deliveries and reads their messages: the batch that the next step takes over. */
import { randomBytes } from 'node:crypto'
import { type ClaimScope, type DeliveryQueue, underClaim } from '../../store/deliveries.ts'
import type { ClaimedDelivery, Delivery } from '../../store/delivery.ts'
import type { Outbox, Outgoing } from '../../store/outgoing.ts'
import { parseFlow } from '../../store/rules/flow.ts'
import type { DestinationLimits } from './destination-limits.ts'
import type { GiveBack } from './give-back.ts'
import type { InFlight } from './in-flight.ts'

/** Claimed deliveries, in flight, with their messages by id; a message that was never committed is missing. */
export interface ClaimedBatch {
  deliveries: readonly ClaimedDelivery[]
  messages: ReadonlyMap<string, Outgoing>
}

/** Dependencies of {@link createClaim}. */
export interface ClaimOptions {
  queue: Pick<DeliveryQueue, 'siblings' | 'claim'>
  outbox: Pick<Outbox, 'load'>
  inFlight: InFlight
  giveBack: Pick<GiveBack, 'postpone'>
  destinationLimits: Pick<DestinationLimits, 'take'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  /** True when the account may have `more` deliveries in flight if `all` more are added. */
  isWithinShare(userId: string, more: number, all: number): boolean
}

/** Claims those of `ready` that are still claimable under `epochs`; undefined when none is. Rejects with nothing in flight. */
export type Claim = (
  ready: readonly Delivery[],
  epochs: ReadonlyMap<number, number>,
  now: Date,
) => Promise<ClaimedBatch | undefined>

/** A claim without renewal ends after this time: the visibility timeout, in milliseconds. */
export const VISIBILITY_MS = 120_000
/**
 * Memory of the bodies that are read with their claim, and of their signed copies. Beyond it bodies are read when their
 * session is open, like large ones.
 */
const BODY_BYTES = 128 * 1024 * 1024
const COPIES = 2

/** Makes the claim function of one worker. */
export function createClaim(options: ClaimOptions): Claim {
  const { queue, outbox, inFlight, giveBack } = options

  /** Keeps what the claim got in flight; the rest is another worker's. */
  const keepOurs = (wanted: readonly ClaimedDelivery[], ours: readonly ClaimedDelivery[]) => {
    const kept = new Set(ours)
    for (const delivery of wanted) if (!kept.has(delivery)) inFlight.remove(delivery)
    return ours
  }

  /** Recipients of one message share a transaction, so those that the limit cut off are taken as well. */
  const claimSiblings = async ({ deliveries, messages }: ClaimedBatch, scope: ClaimScope) => {
    const found = await findSiblings(queue, deliveries, messages, scope.now)
    const fresh = stillClaimable(options, underClaim(found, scope), scope.epochs).filter(({ id }) => !inFlight.has(id))
    const wanted = withinLimits(withinShares(fresh, options), options)
    if (wanted.length === 0) return []
    inFlight.add(wanted)
    try {
      return keepOurs(wanted, await queue.claim(wanted, scope))
    } catch {
      giveBack.postpone(wanted, scope.now)
      return []
    }
  }

  return async (ready, epochs, now) => {
    const found = stillClaimable(options, ready, epochs)
    if (found.length === 0) return undefined
    const claimToken = randomBytes(9).toString('base64url')
    const scope = { epochs, claimToken, now, until: new Date(now.getTime() + VISIBILITY_MS) }
    const wanted = underClaim(found, scope)
    let held: readonly ClaimedDelivery[] = wanted
    inFlight.add(wanted)
    const claimed = queue.claim(wanted, scope)
    try {
      const room = Math.max(0, BODY_BYTES - inFlight.bodyBytes) / COPIES
      const ids = [...new Set(found.map(({ messageId }) => messageId))]
      const [ours, messages] = await Promise.all([claimed, outbox.load(ids, room)])
      held = keepOurs(wanted, ours)
      for (const { message, inMemory } of messages.values())
        if (inMemory) inFlight.addBody(message._id, message.size * COPIES)
      const siblings = await claimSiblings({ deliveries: held, messages }, scope)
      return { deliveries: [...held, ...siblings], messages }
    } catch (error) {
      // The claim may have been written all the same, or be under way still: what is given back before it would stay.
      await claimed.catch(() => undefined)
      // Giving back is matched on the claim's token, so it changes no delivery of another worker.
      giveBack.postpone(held, now)
      throw error
    }
  }
}

/** Slots may have been given back since the round began: what is in flight keeps one, what is not yet must not go in. */
function stillClaimable<T extends { slot: number }>(
  { claimable }: ClaimOptions,
  all: readonly T[],
  epochs: ReadonlyMap<number, number>,
): T[] {
  const now = claimable()
  return all.filter(({ slot }) => now.has(slot) && now.get(slot) === epochs.get(slot))
}

/** What is ready of the messages with several recipients among these, in the flows that these came from. */
async function findSiblings(
  queue: ClaimOptions['queue'],
  claimed: readonly ClaimedDelivery[],
  messages: ReadonlyMap<string, Outgoing>,
  now: Date,
): Promise<Delivery[]> {
  const shared = claimed.filter(({ messageId }) => (messages.get(messageId)?.message.rcpts.length ?? 0) > 1)
  const flows = new Map(
    shared.map(({ messageId, flow = '' }) => [`${messageId} ${flow}`, () => queue.siblings(messageId, flow, now)]),
  )
  return (await Promise.all([...flows.values()].map(find => find()))).flat()
}

/** Of each message all of its deliveries or none, as far as their account may have more. */
function withinShares(fresh: readonly ClaimedDelivery[], { isWithinShare }: ClaimOptions): ClaimedDelivery[] {
  const wanted: ClaimedDelivery[] = []
  for (const group of Map.groupBy(fresh, ({ messageId }) => messageId).values()) {
    const account = group[0]?.userId ?? ''
    const ofAccount = wanted.filter(({ userId }) => userId === account).length
    if (isWithinShare(account, ofAccount + group.length, wanted.length + group.length)) wanted.push(...group)
  }
  return wanted
}

/** As many as the limits of their destinations allow; the others wait in their flows. */
function withinLimits(
  fresh: readonly ClaimedDelivery[],
  { destinationLimits, relay }: ClaimOptions,
): readonly ClaimedDelivery[] {
  return fresh.filter(({ flow }) => {
    const parsed = flow === undefined ? undefined : parseFlow(flow, relay)
    return !parsed || destinationLimits.take(parsed)
  })
}
