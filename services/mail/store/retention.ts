/** Removes bodies in time: those of messages that are final, and those whose message was never accepted. */
import { collectionOf, defineCollection, type Mongo } from '../../platform/mongo.ts'
import { BODIES, bodyId } from './bodies.ts'
import { firstIdAt, MESSAGES } from './messages.ts'

/** How far the sweeps have come. */
interface ProgressDoc {
  _id: 'final-bodies' | 'orphan-bodies'
  upTo: Date
}

const PROGRESS = defineCollection<ProgressDoc>('sweeps')
const DAY_MS = 86_400_000
const BATCH = 1_000
/** Bodies of large messages are stored while they come in, which may take a whole session of 4 hours. */
const ORPHAN_AGE_MS = 6 * 3_600_000

/** The days that things are kept. */
export interface Retention {
  bodyDays: number
  logDays: number
}

/**
 * Removes the bodies of messages whose last recipient became final `bodyDays` ago; answers how many messages. The
 * removal time of a message tells when it became final, so no index and no write per message is needed for this. What
 * a sweep misses (a changed setting) is removed by the bodies' own time.
 */
export async function sweepFinalBodies(mongo: Mongo, { bodyDays, logDays }: Retention, now: Date): Promise<number> {
  const limit = new Date(now.getTime() + (logDays - bodyDays) * DAY_MS)
  const from = await progressOf(mongo, 'final-bodies', new Date(limit.getTime() - DAY_MS))
  const cursor = collectionOf(mongo.db, MESSAGES)
    .find({ exp: { $gt: from, $lte: limit }, left: 0 })
    .project<{ _id: string; parts: number }>({ parts: 1 })
    .batchSize(BATCH)
  let swept = 0
  let ids: string[] = []
  for await (const { _id, parts } of cursor) {
    for (let part = 0; part < parts; part++) ids.push(bodyId(_id, part))
    swept++
    if (ids.length < BATCH) continue
    await removeBodies(mongo, ids)
    ids = []
  }
  await removeBodies(mongo, ids)
  await saveProgress(mongo, 'final-bodies', limit)
  return swept
}

/** Removes bodies whose message was never accepted; answers how many parts. Looks only at those since the last sweep. */
export async function sweepOrphanBodies(mongo: Mongo, now: Date): Promise<number> {
  const limit = new Date(now.getTime() - ORPHAN_AGE_MS)
  const from = await progressOf(mongo, 'orphan-bodies', new Date(limit.getTime() - DAY_MS))
  const orphans = collectionOf(mongo.db, BODIES).aggregate<{ _id: string }>([
    { $match: { _id: { $gte: firstIdAt(from), $lt: firstIdAt(limit) } } },
    { $project: { m: 1 } },
    {
      $lookup: {
        from: MESSAGES.name,
        localField: 'm',
        foreignField: '_id',
        as: 'found',
        pipeline: [{ $project: { _id: 1 } }],
      },
    },
    { $match: { found: { $size: 0 } } },
    { $project: { _id: 1 } },
  ])
  let removed = 0
  let ids: string[] = []
  for await (const { _id } of orphans) {
    ids.push(_id)
    removed++
    if (ids.length < BATCH) continue
    await removeBodies(mongo, ids)
    ids = []
  }
  await removeBodies(mongo, ids)
  await saveProgress(mongo, 'orphan-bodies', limit)
  return removed
}

async function removeBodies(mongo: Mongo, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await collectionOf(mongo.db, BODIES).deleteMany({ _id: { $in: [...ids] } })
}

async function progressOf(mongo: Mongo, sweep: ProgressDoc['_id'], fallback: Date): Promise<Date> {
  return (await collectionOf(mongo.db, PROGRESS).findOne({ _id: sweep }))?.upTo ?? fallback
}

async function saveProgress(mongo: Mongo, sweep: ProgressDoc['_id'], upTo: Date): Promise<void> {
  await collectionOf(mongo.db, PROGRESS).updateOne({ _id: sweep }, { $set: { upTo } }, { upsert: true })
}
