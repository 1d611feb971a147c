/** Opens and clicks in the delivery log. */

import { collectionOf, type Db, type Session } from '../../../platform/database/mongo.ts'
import { cellsOf } from '../../store/cells.ts'
import type { EventDoc } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { cellOf } from '../../store/rules/cell.ts'
import { engagementsOf } from '../rules/engagement.ts'

/** How many events of a kind a recipient has; counted up to `most`. */
export function countEngagements(
  db: Db,
  deliveryId: string,
  kind: 'opened' | 'clicked',
  most: number,
): Promise<number> {
  return collectionOf(db, EVENTS).countDocuments(
    { _id: engagementsOf(deliveryId, kind), ...cellsOf(db).of([deliveryId]) },
    { limit: most },
  )
}

/** Adds an event; false when it is there already. */
export async function addEngagement(db: Db, { _id, ...event }: EventDoc, session: Session): Promise<boolean> {
  const change = { $setOnInsert: { ...event, cell: cellOf(_id) } }
  const { upsertedCount } = await collectionOf(db, EVENTS).updateOne({ _id, ...cellsOf(db).of([_id]) }, change, {
    upsert: true,
    session,
  })
  return upsertedCount === 1
}
