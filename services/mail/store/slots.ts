/**
 * Who owns which delivery slot. The document is the truth: taken only when free or expired, with a new epoch, and
 * evaluated by the database's clock, so that workers' clocks do not matter.
 */
import { collectionOf, defineCollection, isDuplicateKey, type Mongo } from '../../platform/database/mongo.ts'
import { split } from '../../platform/partition.ts'
import { cellsOf, ENGINE } from './cells.ts'
import type { SlotDoc } from './documents.ts'

/** Slots; `owner` is empty while no worker has it. */
export const SLOTS = defineCollection<SlotDoc>('slots')

/** A delivery worker that lives; the document goes some time after it stopped renewing. */
interface WorkerDoc {
  _id: string
  until: Date
}

/** Delivery workers. */
export const WORKERS = defineCollection<WorkerDoc>('workers', [{ key: { until: 1 }, expireAfterSeconds: 60 }])

/**
 * The number of slots of a cell of this database: the first process to ask fixes it, later settings are ignored, because
 * stored deliveries carry slot numbers. Also makes the slots.
 */
export async function fixSlotCount(mongo: Mongo, configured: number): Promise<number> {
  const engine = collectionOf(mongo.db, ENGINE)
  const fix = () =>
    engine.findOneAndUpdate(
      { _id: 'slots' },
      { $setOnInsert: { count: configured } },
      { upsert: true, returnDocument: 'after' },
    )
  const fixed = await fix().catch((error: unknown) => {
    if (isDuplicateKey(error)) return fix() // another process fixed it in this moment
    throw error
  })
  const count = fixed?.count ?? configured
  const cells = cellsOf(mongo.db)
  await cells.read()
  await makeSlots(mongo, count * cells.count)
  return count
}

/** Makes the first `count` slots, as far as they are not there. */
export async function makeSlots(mongo: Mongo, count: number): Promise<void> {
  const slots = collectionOf(mongo.db, SLOTS)
  if ((await slots.countDocuments()) >= count) return
  const all = Array.from({ length: count }, (_, _id) => ({ _id, owner: '', epoch: 0, until: new Date(0) }))
  await slots.insertMany(all, { ordered: false }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error
  })
}

/** A time of the database's clock from now. */
const inMs = (ms: number) => ({ $add: ['$$NOW', ms] })

/** Takes those of the slots that are free or expired; answers the ones that are ours now. */
export async function takeSlots(
  mongo: Mongo,
  owner: string,
  ids: readonly number[],
  ttlMs: number,
): Promise<SlotDoc[]> {
  const slots = collectionOf(mongo.db, SLOTS)
  await slots.updateMany(
    { _id: { $in: [...ids] }, $expr: { $or: [{ $eq: ['$owner', ''] }, { $lt: ['$until', '$$NOW'] }] } },
    [{ $set: { owner, epoch: { $add: ['$epoch', 1] }, until: inMs(ttlMs) } }],
  )
  return slots.find({ _id: { $in: [...ids] }, owner }).toArray()
}

/** Extends all slots of an owner in one write; answers those that are still its. */
export async function renewSlots(mongo: Mongo, owner: string, ttlMs: number): Promise<SlotDoc[]> {
  const slots = collectionOf(mongo.db, SLOTS)
  await slots.updateMany({ owner }, [{ $set: { until: inMs(ttlMs) } }])
  return slots.find({ owner }).toArray()
}

/** Gives slots back; a slot that has a new owner stays with it. */
export async function releaseSlots(mongo: Mongo, owner: string, ids: readonly number[]): Promise<void> {
  await collectionOf(mongo.db, SLOTS).updateMany(
    { _id: { $in: [...ids] }, owner },
    { $set: { owner: '', until: new Date(0) } },
  )
}

/** Slots that no worker works on: `expired` ones whose owner stopped renewing them, and `free` ones that were given back. */
export async function unownedSlots(mongo: Mongo): Promise<{ expired: number[]; free: number[] }> {
  const found = await collectionOf(mongo.db, SLOTS)
    .find({ $or: [{ owner: '' }, { $expr: { $lt: ['$until', '$$NOW'] } }] })
    .project<{ _id: number; owner: string }>({ owner: 1 })
    .toArray()
  const [free, expired] = split(found, ({ owner }) => owner === '')
  return { expired: expired.map(({ _id }) => _id), free: free.map(({ _id }) => _id) }
}

/** Records that a worker lives. */
export async function beat(mongo: Mongo, owner: string, ttlMs: number): Promise<void> {
  await collectionOf(mongo.db, WORKERS).updateOne({ _id: owner }, [{ $set: { until: inMs(ttlMs) } }], { upsert: true })
}

/** How many delivery workers live, by the database's clock. */
export function livingWorkers(mongo: Mongo): Promise<number> {
  return collectionOf(mongo.db, WORKERS).countDocuments({ $expr: { $gt: ['$until', '$$NOW'] } })
}

/** Forgets a worker that stops. */
export async function leave(mongo: Mongo, owner: string): Promise<void> {
  await collectionOf(mongo.db, WORKERS).deleteOne({ _id: owner })
}
