/** Hourly counters of logins: blocks of the allowance are leased to processes by one atomic update each. */
import { collectionOf, defineCollection, isDuplicateKey, type Mongo } from '../../platform/mongo.ts'

/** Messages that processes have leased for one login in one hour. `_id` is `<login>@<hour since the epoch>`. */
interface QuotaDoc {
  _id: string
  leased: number
  exp: Date
}

/** Removed two hours after the hour began. */
export const QUOTAS = defineCollection<QuotaDoc>('quotas', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000
/** Longest wait for the counter; it lies in the path of every answer to a client. */
const WAIT_MS = 5_000

/** Leases up to `wanted` messages of a login's hour (hours since the epoch); 0 when `limit` is used up. */
export async function leaseQuota(
  mongo: Mongo,
  login: string,
  hour: number,
  limit: number,
  wanted: number,
): Promise<number> {
  const leased = { $ifNull: ['$leased', 0] }
  const next = { $max: [leased, { $min: [limit, { $add: [leased, wanted] }] }] } // never back, should the limit shrink
  const lease = () =>
    collectionOf(mongo.db, QUOTAS).findOneAndUpdate(
      { _id: `${login}@${hour}` },
      [{ $set: { leased: next, exp: new Date((hour + 2) * HOUR_MS) } }],
      { upsert: true, returnDocument: 'before', timeoutMS: WAIT_MS },
    )
  const before = await lease().catch((error: unknown) => {
    if (isDuplicateKey(error)) return lease() // two first leases of an hour: the other one made the document
    throw error
  })
  const taken = before?.leased ?? 0
  return Math.max(0, Math.min(limit, taken + wanted) - taken)
}

/** Gives back what a lease did not use. */
export async function returnQuota(mongo: Mongo, login: string, hour: number, unused: number): Promise<void> {
  await collectionOf(mongo.db, QUOTAS).updateOne(
    { _id: `${login}@${hour}` },
    { $inc: { leased: -unused } },
    { timeoutMS: WAIT_MS },
  )
}
