/** What workers tell each other of a destination site: that it asked for a pause. */
import { collectionOf, defineCollection, type Mongo } from '../../platform/mongo.ts'
import type { SiteDoc } from './documents.ts'

/** Sites that were suspended; a site without trouble has no document. */
export const SITES = defineCollection<SiteDoc>('sites', [{ key: { updated_at: 1 }, expireAfterSeconds: 86_400 }])

/** Notes a suspension; a longer one stays. */
export async function suspendSite(mongo: Mongo, site: string, until: Date, limit: number, now: Date): Promise<void> {
  await collectionOf(mongo.db, SITES).updateOne(
    { _id: site },
    { $max: { suspended_until: until }, $set: { limit, updated_at: now } },
    { upsert: true },
  )
}

/** Sites that are suspended at this time. */
export function suspendedSites(mongo: Mongo, now: Date): Promise<SiteDoc[]> {
  return collectionOf(mongo.db, SITES)
    .find({ suspended_until: { $gt: now } })
    .toArray()
}
