/** Events of an account that are in no log of messages: for a day, for those who follow the account live. */
import { collectionOf, type Db, defineCollection, type Session } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import type { MailEvent, MailEventType } from '../rules/mail-event.ts'

/** An event of a domain or of a suppression. `_id` is its key: queueing it again changes nothing. */
export interface AccountEventDoc {
  _id: string
  user_id: string
  type: MailEventType
  at: Date
  /** The domain that it is about. */
  domain_id?: string
  data: Record<string, unknown>
  exp: Date
}

export const ACCOUNT_EVENTS = defineCollection<AccountEventDoc>('account_events', [
  { key: { user_id: 1, at: 1 } },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** True for events that the log of messages does not have. */
export function isAccountEvent({ type }: Pick<MailEvent, 'type'>): boolean {
  return type.startsWith('domain.') || type.startsWith('suppression.')
}

/** Stores events, those that are there already once. */
export async function recordAccountEvents(db: Db, events: readonly MailEvent[], session?: Session): Promise<void> {
  if (events.length === 0) return
  const writes = events.map(({ key: _id, userId: user_id, domainId, type, at, data }) => ({
    updateOne: {
      filter: { _id },
      update: {
        $setOnInsert: {
          ...{ user_id, type, at, data: { ...data }, exp: new Date(at.getTime() + DAY_MS) },
          ...(domainId !== undefined && { domain_id: domainId }),
        },
      },
      upsert: true,
    },
  }))
  await collectionOf(db, ACCOUNT_EVENTS).bulkWrite(writes, { ordered: false, ...(session && { session }) })
}

/** Events of an account from a time on, oldest first. */
export function accountEventsSince(db: Db, userId: string, since: Date, limit: number): Promise<AccountEventDoc[]> {
  return collectionOf(db, ACCOUNT_EVENTS)
    .find({ user_id: userId, at: { $gte: since } })
    .sort({ at: 1 })
    .limit(limit)
    .toArray()
}
