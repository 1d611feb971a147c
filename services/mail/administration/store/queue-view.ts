/** Looks at the delivery queue as a whole, at a bounded cost however long it is. */

import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { cellsOf } from '../../store/cells.ts'
import { DELIVERIES, NO_FLOW } from '../../store/deliveries.ts'
import { HELD_FLOWS } from '../../store/rules/flow.ts'

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

/** Tried before, not claimed, not held: what "retry now" makes due. */
const WAITS_FOR_ATTEMPT = {
  $and: [
    { $gt: ['$att', 0] },
    { $eq: [{ $type: '$tok' }, 'missing'] },
    { $not: [{ $and: [{ $gte: ['$flow', HELD_FLOWS.from] }, { $lt: ['$flow', HELD_FLOWS.to] }] }] },
  ],
}

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
              deferred: { $sum: { $cond: [WAITS_FOR_ATTEMPT, 1, 0] } },
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
