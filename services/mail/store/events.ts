/** The delivery log: one document per attempt, append-only, removed by its time. */
import { defineCollection } from '../../platform/mongo.ts'
import type { EventDoc } from './documents.ts'

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
