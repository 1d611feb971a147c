/**
 * Rates: a token bucket for each holder, kept as one time (GCRA, ITU-T I.371): `full_at`, when the bucket is full again.
 * Each part that is taken moves it by the interval between two parts. The server's own clock (`$$NOW`) decides, so that
 * the clocks of processes do not matter.
 */
import { collectionOf, defineCollection, isDuplicateKey, type Mongo } from '../../../platform/database/mongo.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import type { Rate } from '../rules/allowance.ts'

/** The bucket of one holder. `granted`, `rest` and `wait` are the answer to the last lease. */
interface RateDoc {
  _id: string
  /** Milliseconds since 1970. */
  full_at: number
  /** Milliseconds between two parts. */
  interval: number
  granted: number
  rest: number
  /** Milliseconds until the need that was refused fits. */
  wait: number
  exp: Date
}

/** Removed an hour after the bucket is full: a missing bucket is a full one. */
export const RATES = defineCollection<RateDoc>('rates', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** What was granted, what the bucket has left, and how long to wait when nothing was granted. */
export interface RateLease {
  granted: number
  rest: number
  waitMs: number
}

/**
 * Leases `need`, and up to `wanted` when the bucket has so much; nothing when it does not have `need`. A need above the
 * burst is granted by a full bucket, which then takes longer to fill.
 */
export async function leaseRate(
  mongo: Mongo,
  holder: string,
  rate: Rate,
  wish: { need: number; wanted: number },
): Promise<RateLease> {
  const lease = () =>
    collectionOf(mongo.db, RATES).findOneAndUpdate({ _id: holder }, leasePipeline(rate, wish), {
      upsert: true,
      returnDocument: 'after',
    })
  const after = await lease().catch((error: unknown) => {
    if (isDuplicateKey(error)) return lease() // two first leases of a holder: the other one made the document
    throw error
  })
  return { granted: after?.granted ?? 0, rest: after?.rest ?? 0, waitMs: after?.wait ?? 0 }
}

/** Gives back what a lease did not use. */
export async function returnRate(mongo: Mongo, holder: string, { limit }: Rate, unused: number): Promise<void> {
  await collectionOf(mongo.db, RATES).updateOne({ _id: holder }, { $inc: { full_at: -unused * intervalOf(limit) } })
}

/** How many parts each of these holders could take now; one that is not in the answer has its full burst. */
export async function readRates(
  mongo: Pick<Mongo, 'db'>,
  holders: ReadonlyMap<string, Rate>,
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const docs = await collectionOf(mongo.db, RATES)
    .find({ _id: { $in: [...holders.keys()] } })
    .toArray()
  return new Map(
    docs.flatMap(({ _id, full_at: fullAt, interval }) => {
      const rate = holders.get(_id)
      if (!rate) return []
      const missing = Math.max(0, fullAt - now.getTime()) / interval
      return [[_id, Math.max(0, Math.floor(rate.burst - missing + TOLERANCE))] as const]
    }),
  )
}

/** Times are floating point numbers of 53 bits: near 2026 they are exact to 0.0003 ms. */
const TOLERANCE = 0.001

function intervalOf(limit: number): number {
  return 1000 / limit
}

function leasePipeline({ limit, burst }: Rate, { need, wanted }: { need: number; wanted: number }) {
  const interval = intervalOf(limit)
  const needed = Math.min(need, burst)
  return [
    { $set: { now: { $toDouble: '$$NOW' }, full_at: { $ifNull: ['$full_at', 0] } } },
    // A changed rate keeps the number of missing parts.
    {
      $set: {
        missing: {
          $divide: [{ $max: [0, { $subtract: ['$full_at', '$now'] }] }, { $ifNull: ['$interval', interval] }],
        },
      },
    },
    { $set: { free: { $subtract: [burst, '$missing'] } } },
    {
      $set: {
        whole: { $max: [0, { $floor: { $add: ['$free', TOLERANCE] } }] },
        fits: { $gte: [{ $add: ['$free', TOLERANCE] }, needed] },
      },
    },
    { $set: { granted: { $cond: ['$fits', { $min: [wanted, { $max: [need, '$whole'] }] }, 0] } } },
    {
      $set: {
        interval,
        full_at: { $add: ['$now', { $multiply: [{ $add: ['$missing', '$granted'] }, interval] }] },
        rest: { $max: [0, { $subtract: ['$whole', '$granted'] }] },
        wait: { $cond: ['$fits', 0, { $ceil: { $multiply: [{ $subtract: [needed, '$free'] }, interval] } }] },
      },
    },
    { $set: { exp: { $toDate: { $add: ['$full_at', HOUR_MS] } } } },
    { $unset: ['now', 'missing', 'free', 'whole', 'fits'] },
  ]
}
