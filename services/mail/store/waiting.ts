/** Mail of a domain that is accepted and not final yet. */
import { collectionOf, type Db, isMaxTimeExpired, isUnavailable } from '../../platform/database/mongo.ts'
import { MESSAGES } from './messages.ts'

/** More than this are not counted. */
const ENOUGH = 1_000
const TIMEOUT_MS = 2_000

/** How many messages of the domain wait, at most 1,000; undefined when the count takes too long. */
export async function countWaiting(db: Db, { _id, user_id }: { _id: string; user_id: string }) {
  try {
    const filter = { user_id, domain_id: _id, left: { $gt: 0 } }
    return await collectionOf(db, MESSAGES).countDocuments(filter, { limit: ENOUGH, maxTimeMS: TIMEOUT_MS })
  } catch (error) {
    if (isUnavailable(error) || isMaxTimeExpired(error)) return undefined
    throw error
  }
}
