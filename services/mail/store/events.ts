/** The delivery log: one document per attempt, append-only, removed by its time. */
import { collectionOf, defineCollection, isDuplicateKey, type Mongo } from '../../platform/database/mongo.ts'
import { cellsOf } from './cells.ts'
import type { EventDoc } from './documents.ts'
import { cellOf } from './rules/cell.ts'

/** Events of a message are a range of `_id` (`<message>.<n>#<attempt>`), see {@link eventsOfMessage}. */
export const EVENTS = defineCollection<EventDoc>('events', [
  { key: { exp: 1 }, expireAfterSeconds: 0 },
  // The live tail of an account.
  { key: { user_id: 1, at: 1 } },
])

/** Filter on `_id` for everything of one message: ids are the message's id, a dot, and more (`/` is the next character). */
export function eventsOfMessage(messageId: string): { _id: { $gte: string; $lt: string } } {
  return { _id: { $gte: `${messageId}.`, $lt: `${messageId}/` } }
}

/**
 * Appends attempts durably. An attempt that is there already stays, except that a final result replaces a passing one:
 * a worker that died between this write and the next one repeats the attempt under the same number. "Delivered" replaces
 * any other, because that is a fact. Resolves with how many were new.
 */
export async function appendEvents(mongo: Mongo, given: readonly EventDoc[]): Promise<number> {
  if (given.length === 0) return 0
  const events = given.map(event => ({ ...event, cell: cellOf(event._id) }))
  const collection = collectionOf(mongo.db, EVENTS)
  const durable = { writeConcern: { w: 'majority', j: true } } as const
  try {
    return (await collection.insertMany(events, { ordered: false, ...durable })).insertedCount
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    const { insertedCount } = error as { insertedCount: number }
    const final = events.filter(({ type }) => type !== 'deferred')
    if (final.length === 0) return insertedCount
    const cells = cellsOf(mongo.db)
    // Complete documents: notes of the passing one, such as "the outcome is unknown", are replaced.
    const replace = final.map(({ _id, ...replacement }) => {
      const type = replacement.type === 'delivered' ? { $ne: replacement.type } : ('deferred' as const)
      return { replaceOne: { filter: { _id, ...cells.of([_id]), type }, replacement } }
    })
    await collection.bulkWrite(replace, { ordered: false, ...durable })
    return insertedCount
  }
}

/** The attempts of these ids that were written; for recovery. */
export async function findEvents(mongo: Mongo, ids: readonly string[]): Promise<Map<string, EventDoc>> {
  if (ids.length === 0) return new Map()
  const found = await collectionOf(mongo.db, EVENTS)
    .find({ _id: { $in: [...ids] }, ...cellsOf(mongo.db).of(ids) })
    .toArray()
  return new Map(found.map(event => [event._id, event]))
}

/** The `_id` of what reports say about a recipient: the first of each type counts. */
export function reportEventId(deliveryId: string, type: EventDoc['type']): string {
  return `${deliveryId}#report-${type}`
}

/** The `_id` of an attempt. */
export function eventId(deliveryId: string, attempt: number): string {
  return `${deliveryId}#${attempt}`
}
