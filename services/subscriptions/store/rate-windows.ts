/** Requests of callers in a minute, summed over all processes. */
import { createHash } from 'node:crypto'
import type { Collections } from './collections.ts'

/** Requests of one caller in one minute that a process counted. */
export interface Counted {
  /** The limit, the minute, and the caller: an address, or a secret. */
  key: string
  requests: number
  /** Expiry of the window. */
  exp: Date
}

/** A count lost in a crash of the primary admits a few requests more; waiting for the journal is not worth it. */
const LOOSE = { writeConcern: { w: 1, journal: false } } as const

/** Adds the counts of a process and returns the sums over all processes in the same order. */
export async function addRequests(collections: Collections, counted: readonly Counted[]): Promise<number[]> {
  const ids = counted.map(({ key }) => createHash('sha256').update(key).digest('base64url'))
  const writes = counted.map(({ requests, exp }, index) => ({
    updateOne: {
      filter: { _id: ids[index] ?? '' },
      update: { $inc: { requests }, $setOnInsert: { exp } },
      upsert: true,
    },
  }))
  await collections.rateWindows.bulkWrite(writes, { ordered: false, ...LOOSE })
  const found = await collections.rateWindows.find({ _id: { $in: ids } }, { projection: { requests: 1 } }).toArray()
  const sums = new Map(found.map(({ _id, requests }) => [_id, requests]))
  return ids.map(id => sums.get(id) ?? 0)
}
