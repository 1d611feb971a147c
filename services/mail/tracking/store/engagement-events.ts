/** Opens and clicks in the delivery log. */
import { collectionOf, type Db, type Session } from '../../../platform/database/mongo.ts'
import type { EventDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { engagementsOf } from '../rules/engagement.ts'

/** How many events of a kind a recipient has; counted up to `most`. */
export function countEngagements(
  db: Db,
  deliveryId: string,
  kind: 'opened' | 'clicked',
  most: number,
): Promise<number> {
  return collectionOf(db, EVENTS).countDocuments({ _id: engagementsOf(deliveryId, kind) }, { limit: most })
}

/** Adds an event; false when it is there already. */
export async function addEngagement(db: Db, { _id, ...event }: EventDoc, session: Session): Promise<boolean> {
  const change = { $setOnInsert: event }
  const { upsertedCount } = await collectionOf(db, EVENTS).updateOne({ _id }, change, { upsert: true, session })
  return upsertedCount === 1
}
