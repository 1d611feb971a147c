/**
 * The delivery queue: one small document per recipient that is not final yet. `due` is the next time to try and, while
 * a worker holds the delivery, the time at which anybody may assume that the worker is gone. `tok` names the claim;
 * every later write of the worker is matched on it.
 */
import { type Collection, collectionOf, defineCollection, type Mongo } from '../../platform/mongo.ts'
import type { DeliveryDoc } from './documents.ts'

/**
 * One index besides `_id`: every index is written on insert, claim and removal. Deliveries of a message are a range
 * of `_id` (`<message>.<n>`). The slot comes last: a claim reads one range for each lane and passes over the slots of
 * others, where an index that begins with the slot makes one range for each slot (2 ms for 64 of them, found or not).
 */
export const DELIVERIES = defineCollection<DeliveryDoc>('deliveries', [{ key: { lane: 1, due: 1, slot: 1 } }])

/** Filter for the deliveries of one message: ids are the message's id, a dot, and a number (`/` is the next character). */
export function deliveriesOfMessage(messageId: string): { _id: { $gte: string; $lt: string } } {
  return { _id: { $gte: `${messageId}.`, $lt: `${messageId}/` } }
}

/** Which recipient of its message a delivery is for: the index in `rcpts`, which ends the id. */
export function recipientOf(deliveryId: string): number {
  return Number(deliveryId.slice(deliveryId.lastIndexOf('.') + 1))
}

/** A delivery that is ours, with the epoch of its slot under which it was claimed. */
export type Claimed = DeliveryDoc & { tok: string; epoch: number }

/** Which claim: the worker's slots with their epochs. */
export interface ClaimScope {
  epochs: ReadonlyMap<number, number>
  /** Names this claim and no other. */
  tok: string
  now: Date
  /** Until when the claim holds without renewal. */
  until: Date
}

/** Writes of the worker that a failover may undo: the worst outcome is a repeated claim, which the token notices. */
const FAST = { writeConcern: { w: 1, j: false } } as const
const LANES = { first: ['system', 'transactional'], second: ['bulk'] } as const
/** Counting stops here: a gauge need not be exact when the queue is this long. */
const COUNT_MOST = 200_000

/** Reads of the queue for its workers. */
export class DeliveryQueue {
  readonly #deliveries: Collection<DeliveryDoc>

  constructor(mongo: Mongo) {
    this.#deliveries = collectionOf(mongo.db, DELIVERIES)
  }

  /**
   * Deliveries that are due in these slots, oldest first, bulk mail last; while there is bulk mail, a fifth of the
   * room is its, so that it does not starve. `from`: earlier ones are known to be taken, so that the keys that their
   * claims left behind in the index are not passed over again. `skip`: ids that are in hand.
   */
  async findDue(
    slots: readonly number[],
    { from, now }: { from?: Date | undefined; now: Date },
    limit: number,
    skip: (id: string) => boolean,
  ): Promise<DeliveryDoc[]> {
    const due = from ? { $gte: from, $lte: now } : { $lte: now }
    const find = (lanes: readonly DeliveryDoc['lane'][]) =>
      this.#deliveries
        .find({ slot: { $in: [...slots] }, lane: { $in: [...lanes] }, due })
        .sort({ due: 1 })
        .limit(limit)
        .batchSize(limit + 1) // all in one answer: the server's first batch is 101
        .toArray()
    const [first, bulk] = await Promise.all([find(LANES.first), find(LANES.second)])
    const bulkRoom = Math.max(limit - first.length, Math.min(bulk.length, Math.ceil(limit / 5)))
    return [...first.slice(0, limit - bulkRoom), ...bulk.slice(0, bulkRoom)].filter(({ _id }) => !skip(_id))
  }

  /** Takes them; answers those that are ours. Only the owner of a slot claims in it, so normally that is all of them. */
  async claim(wanted: readonly Claimed[], scope: ClaimScope): Promise<readonly Claimed[]> {
    const ids = wanted.map(({ _id }) => _id)
    const { matchedCount } = await this.#deliveries.updateMany(
      { _id: { $in: ids }, due: { $lte: scope.now } },
      { $set: { tok: scope.tok, due: scope.until } },
      FAST,
    )
    if (matchedCount === wanted.length) return wanted
    const ours = await this.#heldIds(ids, [scope.tok])
    return wanted.filter(({ _id }) => ours.has(_id))
  }

  /** Notes durably that the final dot may go out now; answers the ids for which it may. */
  async markDot(held: readonly Pick<Claimed, '_id' | 'tok'>[]): Promise<ReadonlySet<string>> {
    const ids = held.map(({ _id }) => _id)
    const toks = [...new Set(held.map(({ tok }) => tok))]
    const { matchedCount } = await this.#deliveries.updateMany(
      { _id: { $in: ids }, tok: { $in: toks } },
      { $set: { ph: 'dot' } },
      { writeConcern: { w: 'majority', j: true } },
    )
    return matchedCount === ids.length ? new Set(ids) : this.#heldIds(ids, toks)
  }

  /** Extends claims of deliveries that are still in hand. */
  async keep(held: readonly Pick<Claimed, '_id' | 'tok'>[], until: Date): Promise<void> {
    await this.#update(held, { $set: { due: until } })
  }

  /** Gives claims back, to be tried at `due`; an attempt does not count. A marked delivery stays marked. */
  async release(held: readonly Pick<Claimed, '_id' | 'tok'>[], due: Date): Promise<void> {
    await this.#update(held, { $set: { due }, $unset: { tok: '' } })
  }

  /** Gives claims back to another slot and site. */
  async move(held: readonly Pick<Claimed, '_id' | 'tok'>[], site: string, slot: number, due: Date): Promise<void> {
    await this.#update(held, { $set: { site, slot, due }, $unset: { tok: '' } })
  }

  /** Removes deliveries that are final; answers how many were still held under these tokens. */
  async remove(held: readonly Pick<Claimed, '_id' | 'tok'>[]): Promise<number> {
    if (held.length === 0) return 0
    const { deletedCount } = await this.#deliveries.deleteMany(
      { _id: { $in: held.map(({ _id }) => _id) }, tok: { $in: [...new Set(held.map(({ tok }) => tok))] } },
      { writeConcern: { w: 'majority', j: true } },
    )
    return deletedCount
  }

  /** Removes deliveries that got a 250 under an old claim, unless the new holder is past its own mark. */
  async removeDelivered(ids: readonly string[]): Promise<void> {
    await this.#deliveries.deleteMany(
      { _id: { $in: [...ids] }, ph: { $exists: false } },
      { writeConcern: { w: 'majority', j: true } },
    )
  }

  /** Sets the next attempt of each; answers how many were still held. */
  async reschedule(
    steps: readonly { held: Pick<Claimed, '_id' | 'tok'>; set: Partial<DeliveryDoc> }[],
  ): Promise<number> {
    if (steps.length === 0) return 0
    const { matchedCount } = await this.#deliveries.bulkWrite(
      steps.map(({ held, set }) => ({
        updateOne: {
          filter: { _id: held._id, tok: held.tok },
          update: { $set: set, $unset: { tok: '' as const, ph: '' as const } },
        },
      })),
      { ordered: false, writeConcern: { w: 'majority', j: true } },
    )
    return matchedCount
  }

  /** Makes what a gone worker held in these slots due at once; the slots are ours, so it cannot send any more. */
  async recover(slots: readonly number[], now: Date, visibilityMs: number): Promise<void> {
    const lanes = [...LANES.first, ...LANES.second]
    await this.#deliveries.updateMany(
      {
        slot: { $in: [...slots] },
        lane: { $in: lanes },
        due: { $gt: now, $lte: new Date(now.getTime() + visibilityMs) },
        tok: { $exists: true },
      },
      { $set: { due: now } },
      FAST,
    )
  }

  /** Counts what waits in these slots, up to {@link COUNT_MOST} of each kind, and finds the oldest due time. */
  async measure(
    slots: readonly number[],
    now: Date,
  ): Promise<{ due: number; later: number; oldest: Date | undefined }> {
    const lanes = { slot: { $in: [...slots] }, lane: { $in: [...LANES.first, ...LANES.second] } }
    const options = { limit: COUNT_MOST, hint: DELIVERIES.indexes[0]?.key ?? {} }
    const [due, later, oldest] = await Promise.all([
      this.#deliveries.countDocuments({ ...lanes, due: { $lte: now } }, options),
      this.#deliveries.countDocuments({ ...lanes, due: { $gt: now } }, options),
      this.#deliveries.findOne({ ...lanes, due: { $lte: now } }, { sort: { due: 1 }, projection: { due: 1 } }),
    ])
    return { due, later, oldest: oldest?.due }
  }

  async #update(held: readonly Pick<Claimed, '_id' | 'tok'>[], change: object): Promise<void> {
    if (held.length === 0) return
    await this.#deliveries.updateMany(
      { _id: { $in: held.map(({ _id }) => _id) }, tok: { $in: [...new Set(held.map(({ tok }) => tok))] } },
      change,
      FAST,
    )
  }

  async #heldIds(ids: readonly string[], toks: readonly string[]): Promise<ReadonlySet<string>> {
    const held = await this.#deliveries
      .find({ _id: { $in: [...ids] }, tok: { $in: [...new Set(toks)] } })
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    return new Set(held.map(({ _id }) => _id))
  }
}

/** These deliveries as they are once the claim succeeded: known beforehand, so that a claim of unknown outcome can be undone. */
export function underClaim(found: readonly DeliveryDoc[], scope: ClaimScope): Claimed[] {
  return found.map(doc => ({ ...doc, tok: scope.tok, epoch: scope.epochs.get(doc.slot) ?? 0 }))
}
