/** Looks at the delivery queue as a whole, at a bounded cost however long it is. */

import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { cellsOf } from '../../store/cells.ts'
import { DELIVERIES, NO_FLOW } from '../../store/deliveries.ts'

/** A destination with waiting mail. */
export interface WaitingSite {
  site: string
  waiting: number
  due: number
  /** What waits for another attempt: neither scheduled nor held. */
  deferred: number
  oldest: Date | null
}

/** The queue. */
export interface QueueView {
  depth: number
  /** When the delivery that has waited longest became due; a time ahead when nothing is due. */
  oldestDue: Date | null
  sites: WaitingSite[]
  /** The sites are those of the first {@link SAMPLE} deliveries only. */
  sampled: boolean
}

const SAMPLE = 100_000
const SITES = 50
const MAX_MS = 10_000

/** Tried before, waiting for its time, neither claimed nor held: what "retry now" of a destination makes due. */
const waitsForAttempt = (now: Date) => ({
  $and: [
    { $gt: ['$att', 0] },
    { $gt: ['$due', now] },
    { $eq: [{ $type: '$tok' }, 'missing'] },
    { $eq: [{ $type: '$flow' }, 'missing'] },
  ],
})

/** The queue now. Depth is the count of the collection's metadata; sites are counted over a bounded sample. */
export async function viewQueue(mongo: Mongo, now: Date): Promise<QueueView> {
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  const [depth, oldestDue, sites] = await Promise.all([
    deliveries.estimatedDocumentCount(),
    oldestDueOf(mongo),
    deliveries
      .aggregate<WaitingSite>(
        [
          { $limit: SAMPLE },
          {
            $group: {
              _id: '$site',
              waiting: { $sum: 1 },
              due: { $sum: { $cond: [{ $lte: ['$due', now] }, 1, 0] } },
              deferred: { $sum: { $cond: [waitsForAttempt(now), 1, 0] } },
              oldest: { $min: '$due' },
            },
          },
          { $sort: { waiting: -1, _id: 1 } },
          { $limit: SITES },
          { $project: { _id: 0, site: '$_id', waiting: 1, due: 1, deferred: 1, oldest: 1 } },
        ],
        { maxTimeMS: MAX_MS },
      )
      .toArray(),
  ])
  return { depth, oldestDue, sites, sampled: depth > SAMPLE }
}

/** The earliest due time: one step into the index for each flow with ready mail, and one for what waits for its time. */
export async function oldestDueOf(mongo: Mongo): Promise<Date | null> {
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  const [[ready], timed] = await Promise.all([
    deliveries
      .aggregate<{ due: Date }>(
        [
          { $match: { ...cellsOf(mongo.db).all(), flow: { $gte: '' } } },
          { $sort: { flow: 1, due: 1 } },
          { $group: { _id: '$flow', due: { $first: '$due' } } },
          { $group: { _id: null, due: { $min: '$due' } } },
        ],
        { maxTimeMS: MAX_MS },
      )
      .toArray(),
    deliveries.findOne({ ...cellsOf(mongo.db).all(), flow: NO_FLOW }, { sort: { due: 1 }, projection: { due: 1 } }),
  ])
  const times = [ready, timed].flatMap(found => (found ? [found.due.getTime()] : []))
  return times.length > 0 ? new Date(Math.min(...times)) : null
}
