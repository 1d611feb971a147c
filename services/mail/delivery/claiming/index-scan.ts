/** Looks at the index for flows with ready mail, at a bounded share of the time: it finds what hints have missed. */

import type { DeliveryQueue } from '../../store/deliveries.ts'
import { type FlowRange, rangeOfOtherMode, rangesOfSite, rangesOfSlots } from '../../store/rules/flow.ts'

/** What {@link createLook} depends on. */
export interface LookOptions {
  queue: Pick<DeliveryQueue, 'heads' | 'forgetFlows'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  /** Slots that deliveries for a site may be in. */
  slotsOf(site: string): readonly number[]
}

/** Looks at the index. */
export interface Look {
  /** These slots, which this worker took over, are looked at in the next rounds, without the pauses of the regular look. */
  slots(taken: readonly number[]): void
  /** True while some of them have not been looked at. */
  hasTaken(): boolean
  /** A site is looked at in the next round. */
  at(site: string): void
  /** The earliest due time of ready mail that the last whole look found. */
  oldest(): Date | undefined
  /** Looks at a part of these slots, or at nothing while it is too early. */
  next(slots: readonly number[]): Promise<void>
}

/** The index is looked at so often, or more rarely: no more than a fiftieth of the time is spent on it. */
const LOOK_MS = 500
const LOOK_SHARE = 50
/** Slots that were taken over are looked at for so long in one round, so that claims go on between them. */
const TAKEN_MS = 50
/** Above this many flows one look covers a single range of slots. */
const WHOLE_LOOK = 2_000
/** Deliveries of the other mode that one look makes timed. */
const FORGET_AT_ONCE = 1_000

/** Makes the look of one worker; `learn` is told the names of the flows that are found. */
export function createLook(options: LookOptions, learn: (names: Iterable<string>) => void): Look {
  const { queue, relay, claimable, slotsOf } = options
  let dueAt = Number.NEGATIVE_INFINITY
  let pending: FlowRange[] = []
  let seen = 0
  let inParts = false
  let least: Date | undefined
  let oldest: Date | undefined
  let urgent = new Set<string>()
  let taken: FlowRange[] = []

  const heads = async (ranges: readonly FlowRange[]) => {
    const found = (await Promise.all(ranges.map(range => queue.heads(range)))).flat()
    learn(found.map(({ _id }) => _id))
    return found
  }

  const urgentRanges = () => {
    const epochs = claimable()
    const slots = (site: string) => slotsOf(site).filter(slot => epochs.has(slot))
    const all = [...urgent].flatMap(site => rangesOfSite(site, slots(site), relay))
    urgent = new Set()
    return all
  }

  const lookAtTaken = async () => {
    const end = performance.now() + TAKEN_MS
    while (taken.length > 0 && performance.now() < end) {
      // A range that could not be read is read again.
      await heads(taken.slice(0, 1))
      taken.shift()
    }
  }

  const begin = async (slots: readonly number[]) => {
    inParts = seen > WHOLE_LOOK
    seen = 0
    least = undefined
    pending = inParts ? slotBySlot(slots, relay) : rangesOfSlots(slots, relay)
    // Mail that was accepted before DELIVERY_MODE changed waits under names of the other mode.
    await queue.forgetFlows(rangeOfOtherMode(relay), FORGET_AT_ONCE)
  }

  const goOn = async () => {
    const found = await heads(inParts ? pending.splice(0, 1) : pending.splice(0))
    seen += found.length
    for (const { due } of found) if (!least || due < least) least = due
    if (pending.length === 0) oldest = least
  }

  return {
    slots(ids) {
      taken = [...taken, ...slotBySlot(ids, relay)]
    },
    hasTaken: () => taken.length > 0,
    at: site => void urgent.add(site),
    oldest: () => oldest,
    async next(slots) {
      if (urgent.size > 0) await heads(urgentRanges())
      await lookAtTaken()
      if (performance.now() < dueAt) return
      const started = performance.now()
      if (pending.length === 0) await begin(slots)
      await goOn()
      const pause = (performance.now() - started) * LOOK_SHARE
      dueAt = performance.now() + (pending.length === 0 ? Math.max(LOOK_MS, pause) : pause)
    },
  }
}

/** In relay mode a flow is in no slot, and there is one range. */
function slotBySlot(slots: readonly number[], relay: boolean): FlowRange[] {
  return relay ? rangesOfSlots(slots, relay) : slots.flatMap(slot => rangesOfSlots([slot], relay))
}
