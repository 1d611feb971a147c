/**
 * The delivery queue: one small document per recipient that is not final yet. It is in one of two states:
 *
 * - ready: `flow` names the flow that it waits in (rules/flow.ts), until a worker with room for it claims it;
 * - timed: no `flow`; at `due` it becomes ready. `due` is the next time to try or, while a worker holds the delivery, the
 *   time at which that worker's claim ends. `tok` names the claim; every later write of the worker is matched on it.
 */
import {
  type Collection,
  collectionOf,
  defineCollection,
  type IndexDefinition,
  type Mongo,
} from '../../platform/database/mongo.ts'
import { type Cells, cellsOf, type InCells } from './cells.ts'
import {
  type ClaimedDelivery,
  type ClaimRef,
  type Delivery,
  type NextAttempt,
  toDelivery,
  toStoredFields,
} from './delivery.ts'
import type { DeliveryDoc } from './documents.ts'
import { type FlowRange, flowOf, heldFlow } from './rules/flow.ts'

/**
 * One index besides `_id`: every index is written on insert, claim and removal. It holds two structures: each flow's
 * ready deliveries, oldest first, and, under the missing flow, the timed ones in the order of their times. So a claim
 * reads the first few keys of a flow, whatever waits in that flow or in others. Deliveries of a message are a range of
 * `_id` (`<message>.<n>`). Databases of release 0.1.0 also have `lane_1_due_1_slot_1`, which nothing here reads.
 */
export const DELIVERIES = defineCollection<DeliveryDoc>('deliveries', [{ key: { flow: 1, due: 1, slot: 1 } }])

/** Its counterpart where commands name cells. */
export const BY_CELL: IndexDefinition = { key: { cell: 1, flow: 1, due: 1, slot: 1 } }

/** Filter for the deliveries of one message: ids are the message's id, a dot, and a number (`/` is the next character). */
export function deliveriesOfMessage(messageId: string): { _id: { $gte: string; $lt: string } } {
  return { _id: { $gte: `${messageId}.`, $lt: `${messageId}/` } }
}

/** Which claim: the worker's slots with their epochs. */
export interface ClaimScope {
  epochs: ReadonlyMap<number, number>
  /** Names this claim and no other. */
  claimToken: string
  now: Date
  /** Until when the claim holds without renewal. */
  until: Date
}

/** Writes of the worker that a failover may undo: the worst outcome is a repeated claim, which the token notices. */
const FAST = { writeConcern: { w: 1, j: false } } as const
/** Filter for timed deliveries: the index keeps them together under null. */
export const NO_FLOW = { $exists: false } as const
const FLOW_FIELDS = { slot: 1, site: 1, user_id: 1, lane: 1 } as const
/** In one answer: the server's first batch is 101 documents. */
const ALL_AT_ONCE = { batchSize: 100_000 } as const
/** Recipients of one transaction (RFC 5321 section 4.5.3.1.8). */
const SIBLINGS = 100
/** Counting stops here: a gauge need not be exact when the queue is this long. */
const COUNT_MOST = 100_000

/** How many deliveries of a flow are wanted. */
export interface Wanted {
  flow: string
  count: number
  from?: Date | undefined
  /** Only of these slots: for flows that span slots of several workers. */
  slots?: readonly number[] | undefined
}

/** Reads and writes of the queue for its workers. */
export class DeliveryQueue {
  readonly #deliveries: Collection<DeliveryDoc>
  readonly #cells: Cells

  constructor(mongo: Mongo) {
    this.#deliveries = collectionOf(mongo.db, DELIVERIES)
    this.#cells = cellsOf(mongo.db)
  }

  /**
   * The flows in a range that have ready deliveries, each with its earliest `due`: one step of the index for each flow,
   * however long the flows are. Where cells are named, a flow of relay mode comes once for each cell.
   */
  async heads({ from, to }: FlowRange): Promise<{ _id: string; due: Date }[]> {
    const inCell = (cell: InCells) =>
      this.#deliveries
        .aggregate<{ _id: string; due: Date }>(
          [
            { $match: { ...cell, flow: { $gte: from, $lt: to } } },
            { $sort: { flow: 1, due: 1 } },
            { $group: { _id: '$flow', due: { $first: '$due' } } },
          ],
          ALL_AT_ONCE,
        )
        .toArray()
    return (await Promise.all(this.#cells.partsOfRange({ from, to }).map(inCell))).flat()
  }

  /** The first delivery that is due of each of these flows, if any; the cost does not depend on their lengths. */
  async firstOfEach(flows: readonly string[], now: Date): Promise<Delivery[]> {
    const inCell = (cell: InCells, names: readonly string[]) =>
      this.#deliveries
        .aggregate<{ first: DeliveryDoc }>(
          [
            { $match: { ...cell, flow: { $in: [...names] }, due: { $lte: now } } },
            { $sort: { flow: 1, due: 1 } },
            { $group: { _id: '$flow', first: { $first: '$$ROOT' } } },
          ],
          ALL_AT_ONCE,
        )
        .map(({ first }) => toDelivery(first))
        .toArray()
    const parts = byCell(flows, name => this.#cells.partsOfFlow(name, undefined))
    return (await Promise.all(parts.map(({ cell, asked }) => inCell(cell, asked)))).flat()
  }

  /**
   * The first `count` due deliveries of each flow, in one command; where cells are named, in one for each cell. `from`:
   * earlier ones are known to be taken, so that the keys that their claims left in the index are not passed over again.
   */
  async ready(wanted: readonly Wanted[], now: Date): Promise<Delivery[]> {
    const parts = byCell(wanted, ({ flow, slots }) => this.#cells.partsOfFlow(flow, slots))
    const found = await Promise.all(parts.map(({ cell, asked }) => this.#readyIn(cell, asked, now)))
    return parts.length > 1 ? firstOf(found.flat(), wanted) : found.flat()
  }

  async #readyIn(cell: InCells, wanted: readonly Wanted[], now: Date): Promise<Delivery[]> {
    const [first, ...others] = wanted.map(({ flow, count, from, slots }) => [
      {
        $match: {
          ...cell,
          flow,
          due: from ? { $gte: from, $lte: now } : { $lte: now },
          ...(slots && { slot: { $in: [...slots] } }),
        },
      },
      { $sort: { due: 1 } },
      { $limit: count },
    ])
    if (!first) return []
    const unions = others.map(pipeline => ({ $unionWith: { coll: DELIVERIES.name, pipeline } }))
    return this.#deliveries
      .aggregate<DeliveryDoc>([...first, ...unions], ALL_AT_ONCE)
      .map(toDelivery)
      .toArray()
  }

  /** Ready deliveries of one flow for recipients of one message: those that one transaction can carry. */
  siblings(messageId: string, flow: string, now: Date): Promise<Delivery[]> {
    return this.#deliveries
      .find({ ...deliveriesOfMessage(messageId), ...this.#cells.of([messageId]), flow, due: { $lte: now } })
      .limit(SIBLINGS)
      .map(toDelivery)
      .toArray()
  }

  /**
   * Makes timed deliveries of these slots ready whose time has come, the earliest first; answers them as far as they
   * were found, with their flows. Those that `skip` names are in flight: their worker is here and late.
   */
  async makeReady(
    slots: readonly number[],
    { from, now }: { from?: Date | undefined; now: Date },
    { limit, relay, skip }: { limit: number; relay: boolean; skip(id: string): boolean },
  ): Promise<{ flows: ReadonlySet<string>; full: boolean }> {
    const found = await this.#deliveries
      .find({
        ...this.#cells.ofSlots(slots),
        flow: NO_FLOW,
        due: from ? { $gte: from, $lte: now } : { $lte: now },
        slot: { $in: [...slots] },
      })
      .sort({ due: 1 })
      .limit(limit)
      .batchSize(limit + 1)
      .project<Pick<DeliveryDoc, '_id' | 'slot' | 'site' | 'user_id' | 'lane'>>(FLOW_FIELDS)
      .toArray()
    const flows = Map.groupBy(
      found.filter(({ _id }) => !skip(_id)),
      doc => flowOf(doc, relay),
    )
    if (flows.size > 0)
      await this.#deliveries.bulkWrite(
        [...flows].map(([flow, docs]) => ({
          updateMany: {
            // Still timed, and still due: a claim or a cancellation may have come between.
            filter: { ...this.#byId(docs.map(({ _id }) => _id)), flow: NO_FLOW, due: { $lte: now } },
            update: { $set: { flow } },
          },
        })),
        { ordered: false, ...FAST },
      )
    return { flows: new Set(flows.keys()), full: found.length === limit }
  }

  /** Turns ready deliveries of a range into timed ones that are due, so that they become ready under another name. */
  async forgetFlows({ from, to }: FlowRange, limit: number): Promise<number> {
    const found = await this.#deliveries
      .find({ ...this.#cells.all(), flow: { $gte: from, $lt: to } })
      .limit(limit)
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    if (found.length === 0) return 0
    await this.#deliveries.updateMany(
      { ...this.#byId(found.map(({ _id }) => _id)), flow: { $gte: from, $lt: to } },
      { $unset: { flow: '' } },
      FAST,
    )
    return found.length
  }

  /** Takes them; answers those that are ours. Only the owner of a slot claims in it, so normally that is all of them. */
  async claim(wanted: readonly ClaimedDelivery[], scope: ClaimScope): Promise<readonly ClaimedDelivery[]> {
    const ids = wanted.map(({ id }) => id)
    const { matchedCount } = await this.#deliveries.updateMany(
      { ...this.#byId(ids), due: { $lte: scope.now } },
      { $set: { tok: scope.claimToken, due: scope.until }, $unset: { flow: '' } },
      FAST,
    )
    if (matchedCount === wanted.length) return wanted
    const ours = await this.#heldIds(ids, [scope.claimToken])
    return wanted.filter(({ id }) => ours.has(id))
  }

  /** Notes durably that the final dot may go out now; answers the ids for which it may. */
  async markDot(held: readonly ClaimRef[]): Promise<ReadonlySet<string>> {
    const ids = held.map(({ id }) => id)
    const { matchedCount } = await this.#deliveries.updateMany(
      this.#heldBy(held),
      { $set: { ph: 'dot' } },
      { writeConcern: { w: 'majority', j: true } },
    )
    return matchedCount === ids.length ? new Set(ids) : this.#heldIds(ids, tokensOf(held))
  }

  /** Extends claims of deliveries that are still in flight. */
  async keep(held: readonly ClaimRef[], until: Date): Promise<void> {
    await this.#update(held, { $set: { due: until } })
  }

  /** Gives claims back, to be tried at `due`; an attempt does not count. A marked delivery stays marked. */
  async release(held: readonly ClaimRef[], due: Date): Promise<void> {
    await this.#update(held, { $set: { due }, $unset: { tok: '' } })
  }

  /** Gives claims back to wait for the end of a hold, at the latest for the end of their lifetimes. */
  async hold(held: readonly ClaimRef[], holdId: string): Promise<void> {
    await this.#update(held, [{ $set: { flow: heldFlow(holdId), due: '$expires_at' } }, { $unset: 'tok' }])
  }

  /** Gives claims back to another site, and so perhaps to another slot; they are ready there immediately. */
  async move(held: readonly ClaimRef[], to: Pick<DeliveryDoc, 'site' | 'slot' | 'flow' | 'due'>) {
    await this.#update(held, { $set: to, $unset: { tok: '' } })
  }

  /** Removes deliveries that are final; answers how many were still held under these tokens. */
  async remove(held: readonly ClaimRef[]): Promise<number> {
    if (held.length === 0) return 0
    const { deletedCount } = await this.#deliveries.deleteMany(this.#heldBy(held), {
      writeConcern: { w: 'majority', j: true },
    })
    return deletedCount
  }

  /** Removes deliveries that got a 250 under an old claim, unless the new holder is past its own mark. */
  async removeDelivered(ids: readonly string[]): Promise<void> {
    await this.#deliveries.deleteMany(
      { ...this.#byId(ids), ph: { $exists: false } },
      { writeConcern: { w: 'majority', j: true } },
    )
  }

  /** Sets the next attempt of each; answers how many were still held. */
  async reschedule(steps: readonly { held: ClaimRef; next: NextAttempt }[]): Promise<number> {
    if (steps.length === 0) return 0
    const { matchedCount } = await this.#deliveries.bulkWrite(
      steps.map(({ held, next }) => ({
        updateOne: {
          filter: { _id: held.id, ...this.#cells.of([held.id]), tok: held.claimToken },
          update: { $set: toStoredFields(next), $unset: { tok: '' as const, ph: '' as const } },
        },
      })),
      { ordered: false, writeConcern: { w: 'majority', j: true } },
    )
    return matchedCount
  }

  /** Makes what a gone worker held in these slots due immediately; the slots are ours, so it cannot send any more. */
  async recover(slots: readonly number[], now: Date, visibilityMs: number): Promise<void> {
    await this.#deliveries.updateMany(
      {
        ...this.#cells.ofSlots(slots),
        flow: NO_FLOW,
        due: { $gt: now, $lte: new Date(now.getTime() + visibilityMs) },
        slot: { $in: [...slots] },
        tok: { $exists: true },
      },
      { $set: { due: now } },
      FAST,
    )
  }

  /**
   * Counts what waits in these slots, up to {@link COUNT_MOST} of each kind: what is ready or due, and what has to wait
   * for its time or is in flight.
   */
  async measure(
    slots: readonly number[],
    ranges: readonly FlowRange[],
    now: Date,
  ): Promise<{ due: number; later: number }> {
    const where = { ...this.#cells.ofSlots(slots), slot: { $in: [...slots] } }
    const hint = (this.#cells.isNamed ? BY_CELL : DELIVERIES.indexes[0])?.key ?? {}
    const options = { limit: COUNT_MOST, hint }
    const [ready, due, later] = await Promise.all([
      Promise.all(
        ranges.map(({ from, to }) =>
          this.#deliveries.countDocuments({ ...where, flow: { $gte: from, $lt: to } }, options),
        ),
      ),
      this.#deliveries.countDocuments({ ...where, flow: NO_FLOW, due: { $lte: now } }, options),
      this.#deliveries.countDocuments({ ...where, flow: NO_FLOW, due: { $gt: now } }, options),
    ])
    return {
      due: Math.min(
        COUNT_MOST,
        ready.reduce((sum, one) => sum + one, due),
      ),
      later,
    }
  }

  async #update(held: readonly ClaimRef[], change: object | object[]): Promise<void> {
    if (held.length === 0) return
    await this.#deliveries.updateMany(this.#heldBy(held), change, FAST)
  }

  async #heldIds(ids: readonly string[], tokens: readonly string[]): Promise<ReadonlySet<string>> {
    const held = await this.#deliveries
      .find({ ...this.#byId(ids), tok: { $in: [...tokens] } })
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    return new Set(held.map(({ _id }) => _id))
  }

  #byId(ids: readonly string[]) {
    return { _id: { $in: [...ids] }, ...this.#cells.of(ids) }
  }

  /** Filter for deliveries as far as they are held under these claims. */
  #heldBy(held: readonly ClaimRef[]) {
    return { ...this.#byId(held.map(({ id }) => id)), tok: { $in: tokensOf(held) } }
  }
}

/** What is asked of each cell; of several cells, what lies in several is asked of each. */
function byCell<T>(
  asked: readonly T[],
  partsOf: (one: T) => readonly InCells[],
): { cell: InCells; asked: readonly T[] }[] {
  const parts = new Map<InCells['cell'], T[]>()
  for (const one of asked)
    for (const { cell } of partsOf(one)) {
      const part = parts.get(cell)
      if (part) part.push(one)
      else parts.set(cell, [one])
    }
  return [...parts].map(([cell, some]) => ({ cell: cell === undefined ? {} : { cell }, asked: some }))
}

/** The earliest of each flow, as many as are wanted: each cell has given as many. */
function firstOf(found: readonly Delivery[], wanted: readonly Wanted[]): Delivery[] {
  const byFlow = Map.groupBy(found, ({ flow }) => flow)
  return wanted.flatMap(({ flow, count }) =>
    (byFlow.get(flow) ?? []).toSorted((a, b) => a.due.getTime() - b.due.getTime()).slice(0, count),
  )
}

/** These deliveries as they are once the claim succeeded: known beforehand, so that a claim of unknown outcome can be undone. */
export function underClaim(found: readonly Delivery[], { claimToken, epochs }: ClaimScope): ClaimedDelivery[] {
  return found.map(delivery => ({ ...delivery, claimToken, epoch: epochs.get(delivery.slot) ?? 0 }))
}

function tokensOf(held: readonly ClaimRef[]): string[] {
  return [...new Set(held.map(({ claimToken }) => claimToken))]
}
