/** Counting for lists: exact while it is cheap, remembered for a moment where it is not, capped in the worst case. */
import type { Collection } from '../../platform/mongo.ts'
import type { Found } from '../rules/paging.ts'

/** Up to here counting is exact in a few milliseconds. */
export const CHEAP_COUNT = 10_000
/** Longest exact count, in milliseconds; behind it the capped form is answered. */
const MAX_COUNT_MS = 1_500
/** A large total may be so old, in milliseconds: nobody sees the difference in the eleventh thousand. */
const REMEMBER_MS = 15_000
const MAX_REMEMBERED = 1_000

/** A counting function with a memory for large totals. */
export type Count = <T extends object>(
  collection: Collection<T>,
  filter: Parameters<Collection<T>['countDocuments']>[0] & object,
  now: Date,
) => Promise<Omit<Found<T>, 'items'>>

/** Makes one; a process needs one. */
export function createCount(): Count {
  const remembered = new Map<string, { at: number; total: Promise<number | undefined> }>()
  return async (collection, filter, now) => {
    const cheap = await collection.countDocuments(filter, { limit: CHEAP_COUNT + 1 })
    if (cheap <= CHEAP_COUNT) return { total: cheap }
    const key = `${collection.collectionName} ${JSON.stringify(filter, (_, value) => (value instanceof RegExp ? String(value) : value))}`
    const known = remembered.get(key)
    if (known && now.getTime() - known.at < REMEMBER_MS) return capped(await known.total)
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    const total = collection.countDocuments(filter, { maxTimeMS: MAX_COUNT_MS }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 50) return undefined // MaxTimeMSExpired
      throw error
    })
    remembered.set(key, { at: now.getTime(), total })
    total.catch(() => remembered.delete(key))
    return capped(await total)
  }
}

function capped(total: number | undefined): { total: number; capped?: boolean } {
  return total === undefined ? { total: CHEAP_COUNT + 1, capped: true } : { total }
}
