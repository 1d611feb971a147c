/** Counters of allowances: blocks of them are leased to processes by one atomic update each. */
import {
  collectionOf,
  type Db,
  defineCollection,
  isDuplicateKey,
  type Mongo,
} from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'

/** What processes have leased of one allowance. `_id` is `<holder>@<periods since the epoch>`. */
interface QuotaDoc {
  _id: string
  leased: number
  exp: Date
}

/** Removed two periods after theirs began. */
export const QUOTAS = defineCollection<QuotaDoc>('quotas', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** One clock period (UTC) of one holder: a login or an account. */
export interface Period {
  holder: string
  ms: number
  /** Periods since the epoch. */
  index: number
}

/** What a lease gave, and what the counter still has for others. */
export interface Lease {
  granted: number
  rest: number
}

/** Leases `need`, and up to `wanted` when there is so much; nothing when the limit does not leave `need`. */
export async function leaseQuota(
  mongo: Mongo,
  period: Period,
  { limit, need, wanted }: { limit: number; need: number; wanted: number },
): Promise<Lease> {
  const leased = { $ifNull: ['$leased', 0] }
  const fits = { $lte: [{ $add: [leased, need] }, limit] }
  const next = { $cond: [fits, { $min: [limit, { $add: [leased, wanted] }] }, leased] } // never back: limits may shrink
  const exp = new Date((period.index + 2) * period.ms)
  const lease = () =>
    collectionOf(mongo.db, QUOTAS).findOneAndUpdate({ _id: idOf(period) }, [{ $set: { leased: next, exp } }], {
      upsert: true,
      returnDocument: 'before',
    })
  const before = await lease().catch((error: unknown) => {
    if (isDuplicateKey(error)) return lease() // two first leases of a period: the other one made the document
    throw error
  })
  const taken = before?.leased ?? 0
  const granted = taken + need <= limit ? Math.min(limit - taken, wanted) : 0
  return { granted, rest: Math.max(0, limit - taken - granted) }
}

/** Gives back what a lease did not use. */
export async function returnQuota(mongo: Mongo, period: Period, unused: number): Promise<void> {
  await collectionOf(mongo.db, QUOTAS).updateOne({ _id: idOf(period) }, { $inc: { leased: -unused } })
}

/** What each of these accounts has used of the day at this time; a moment's leases of busy processes count as used. */
export function recipientsToday(db: Db, userIds: readonly string[], now: Date): Promise<ReadonlyMap<string, number>> {
  return usedOfPeriods(db, userIds, DAY_MS, now)
}

/** The same of the current period of any length. */
export async function usedOfPeriods(
  db: Db,
  holders: readonly string[],
  periodMs: number,
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  if (holders.length === 0) return new Map()
  const index = Math.floor(now.getTime() / periodMs)
  const byId = new Map(holders.map(holder => [idOf({ holder, index }), holder]))
  const docs = await collectionOf(db, QUOTAS)
    .find({ _id: { $in: [...byId.keys()] } })
    .toArray()
  return new Map(docs.map(({ _id, leased }) => [byId.get(_id) ?? _id, leased]))
}

function idOf({ holder, index }: Pick<Period, 'holder' | 'index'>): string {
  return `${holder}@${index}`
}
