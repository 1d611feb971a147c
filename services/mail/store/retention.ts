/** Removes bodies in time: those of messages that are final, and those whose message was never accepted. */
import { collectionOf, defineCollection, type Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { BODIES, bodyId } from './bodies.ts'
import { cellsOf } from './cells.ts'
import { firstIdAt, MESSAGES } from './messages.ts'

/** How far the sweeps have come. */
interface ProgressDoc {
  _id: 'final-bodies' | 'orphan-bodies'
  upTo: Date
}

/** A body without a message, and when a sweep first found it (database's clock). */
interface OrphanDoc {
  _id: string
  m: string
  seen_at: Date
}

const PROGRESS = defineCollection<ProgressDoc>('sweeps')
const ORPHANS = defineCollection<OrphanDoc>('orphan_bodies')
const BATCH = 1_000
/** Bodies of large messages are stored while they arrive, which may take a complete session of 4 hours. */
const ORPHAN_AGE_MS = 6 * HOUR_MS

/** The days that things are kept. */
export interface Retention {
  bodyDays: number
  logDays: number
}

/**
 * Removes the bodies of messages whose last recipient became final `bodyDays` ago; answers how many messages. The
 * removal time of a message shows when it became final, so no index and no write per message is needed for this. What
 * a sweep misses (a changed setting) is removed by the bodies' own time. `now` is the database's time.
 */
export async function sweepFinalBodies(mongo: Mongo, { bodyDays, logDays }: Retention, now: Date): Promise<number> {
  const limit = new Date(now.getTime() + (logDays - bodyDays) * DAY_MS)
  const from = await progressOf(mongo, 'final-bodies', new Date(limit.getTime() - DAY_MS))
  const messages = collectionOf(mongo.db, MESSAGES)
    .find({ exp: { $gt: from, $lte: limit }, left: 0 })
    .project<{ _id: string; parts: number }>({ parts: 1 })
    .batchSize(BATCH)
  let swept = 0
  await inBatches(messages, async batch => {
    await removeBodies(
      mongo,
      batch.flatMap(({ _id, parts }) => Array.from({ length: parts }, (_, part) => bodyId(_id, part))),
    )
    swept += batch.length
  })
  await saveProgress(mongo, 'final-bodies', limit)
  return swept
}

/**
 * Removes bodies whose message was never accepted; answers how many parts. A body goes when two sweeps, six hours or more
 * apart by the database's clock, found no message for it: the time in its id was given by the process that accepted
 * it, and no clock of a process may decide what is lost. `now` is the database's time; it only says how far this sweep looks.
 */
export async function sweepOrphanBodies(mongo: Mongo, now: Date): Promise<number> {
  const removed = await removeOrphans(mongo)
  await noteOrphans(mongo, now)
  return removed
}

/** Removes what an earlier sweep noted, unless its message has come. */
async function removeOrphans(mongo: Mongo): Promise<number> {
  const orphans = collectionOf(mongo.db, ORPHANS)
  const noted = orphans.find({ $expr: { $lt: ['$seen_at', { $subtract: ['$$NOW', ORPHAN_AGE_MS] }] } })
  let removed = 0
  await inBatches(noted, async batch => {
    const ids = (await withoutMessage(mongo, batch)).map(({ _id }) => _id)
    await removeBodies(mongo, ids)
    await orphans.deleteMany({ _id: { $in: batch.map(({ _id }) => _id) } })
    removed += ids.length
  })
  return removed
}

/** Notes the bodies without a message. Looks only at those since the last sweep. */
async function noteOrphans(mongo: Mongo, now: Date): Promise<void> {
  const limit = new Date(now.getTime() - ORPHAN_AGE_MS)
  const from = await progressOf(mongo, 'orphan-bodies', new Date(limit.getTime() - DAY_MS))
  const bodies = collectionOf(mongo.db, BODIES)
    .find({ _id: { $gte: firstIdAt(from), $lt: firstIdAt(limit) } })
    .project<{ _id: string; m: string }>({ m: 1 })
    .batchSize(BATCH)
  await inBatches(bodies, async batch => {
    const found = await withoutMessage(mongo, batch)
    if (found.length === 0) return
    await collectionOf(mongo.db, ORPHANS).bulkWrite(
      found.map(({ _id, m }) => ({
        updateOne: {
          filter: { _id },
          update: [{ $set: { m, seen_at: { $ifNull: ['$seen_at', '$$NOW'] } } }],
          upsert: true,
        },
      })),
      { ordered: false },
    )
  })
  await saveProgress(mongo, 'orphan-bodies', limit)
}

/** Those bodies whose message is not there. A question for a batch and not a `$lookup`, which would ask every shard for each. */
async function withoutMessage<T extends { m: string }>(mongo: Mongo, bodies: readonly T[]): Promise<T[]> {
  const ids = [...new Set(bodies.map(({ m }) => m))]
  const found = await collectionOf(mongo.db, MESSAGES)
    .find({ _id: { $in: ids }, ...cellsOf(mongo.db).of(ids) })
    .project<{ _id: string }>({ _id: 1 })
    .batchSize(ids.length + 1)
    .toArray()
  const there = new Set(found.map(({ _id }) => _id))
  return bodies.filter(({ m }) => !there.has(m))
}

async function inBatches<T>(all: AsyncIterable<T>, work: (batch: readonly T[]) => Promise<void>): Promise<void> {
  let batch: T[] = []
  for await (const one of all) {
    batch.push(one)
    if (batch.length < BATCH) continue
    await work(batch)
    batch = []
  }
  if (batch.length > 0) await work(batch)
}

async function removeBodies(mongo: Mongo, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await collectionOf(mongo.db, BODIES).deleteMany({ _id: { $in: [...ids] }, ...cellsOf(mongo.db).of(ids) })
}

async function progressOf(mongo: Mongo, sweep: ProgressDoc['_id'], fallback: Date): Promise<Date> {
  return (await collectionOf(mongo.db, PROGRESS).findOne({ _id: sweep }))?.upTo ?? fallback
}

async function saveProgress(mongo: Mongo, sweep: ProgressDoc['_id'], upTo: Date): Promise<void> {
  await collectionOf(mongo.db, PROGRESS).updateOne({ _id: sweep }, { $set: { upTo } }, { upsert: true })
}
