/** What workers share of destination sites in trouble, so that a pause that one was asked for holds for all. */
import { collectionOf, type Db, defineCollection, isDuplicateKey, type Mongo } from '../../platform/database/mongo.ts'
import { DAY_SECONDS, MINUTE_MS } from '../../platform/durations.ts'
import type { SiteDoc } from './documents.ts'

/** Sites that are or lately were in trouble; a document goes a day after its last change. */
export const SITES = defineCollection<SiteDoc>('sites', [{ key: { updated_at: 1 }, expireAfterSeconds: DAY_SECONDS }])

/** Sites shown to people. */
const SHOWN = 500
/** A site that is down and was not probed for this time has no mail waiting: nothing is known of it any more. */
const STALE_MS = 30 * MINUTE_MS

/** Writes states of sites; the last one of a site counts. */
export async function writeSites(mongo: Mongo, sites: readonly SiteDoc[]): Promise<void> {
  if (sites.length === 0) return
  await collectionOf(mongo.db, SITES).bulkWrite(
    sites.map(({ _id, ...site }) => ({ replaceOne: { filter: { _id }, replacement: site, upsert: true } })),
    { ordered: false, writeConcern: { w: 1, j: false } },
  )
}

/** All sites whose state was written at or after `since`, the oldest change first: they may be many, at a worker's start. */
export function changedSites(mongo: Mongo, since: Date): AsyncIterable<SiteDoc> {
  return collectionOf(mongo.db, SITES)
    .find({ updated_at: { $gte: since } })
    .sort({ updated_at: 1 })
}

/**
 * The right to probe a site that is down: true for one worker in `probeMs`, so that a site whose mail is spread over
 * several workers is asked by one of them.
 */
export async function reserveProbe(mongo: Mongo, site: string, now: Date, probeMs: number): Promise<boolean> {
  try {
    await collectionOf(mongo.db, SITES).updateOne(
      { _id: site, suspended_until: { $not: { $gt: now } } },
      { $set: { suspended_until: new Date(now.getTime() + probeMs), updated_at: now }, $setOnInsert: { limit: 1 } },
      { upsert: true },
    )
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false // it is there, with a later time
    throw error
  }
}

/** Sites that are throttled or down now, those in trouble for the longest time first, at most 500. */
export function troubledSites(mongo: Mongo, now: Date): Promise<SiteDoc[]> {
  return collectionOf(mongo.db, SITES)
    .find({
      $or: [
        { suspended_until: { $gt: now } },
        { state: { $in: ['throttled', 'down'] }, updated_at: { $gt: new Date(now.getTime() - STALE_MS) } },
      ],
    })
    .sort({ since: 1 })
    .limit(SHOWN)
    .toArray()
}

/** States of these sites; one that was not in trouble lately is missing. */
export function findSites(db: Db, ids: readonly string[]): Promise<SiteDoc[]> {
  if (ids.length === 0) return Promise.resolve([])
  return collectionOf(db, SITES)
    .find({ _id: { $in: [...ids] } })
    .toArray()
}
