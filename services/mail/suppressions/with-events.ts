/** Changes of suppressions together with the events that webhooks of the account get of them. */
import type { Clock } from '../../platform/clock.ts'
import { type Db, isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { type MailEvent, mailWebhooksOf, queueMailEvents, webhooksOf } from '../webhooks/queue-mail-events.ts'
import { ALL_STREAMS } from './rules/suppression.ts'
import type { NewSuppression, SuppressionDoc } from './store/suppressions.ts'

/** Dependencies of the use cases. */
export interface SuppressionDeps {
  db: Db
  clock: Clock
}

/** What a change did, and the events that tell of it. */
interface Changed<T> {
  result: T
  events: readonly MailEvent[]
}

/** Another process added the same address at the same time: the next try finds it. */
const TRIES = 5

/**
 * Runs a change; its events are queued in the same transaction. Accounts without webhooks need none: then `session` is
 * undefined, the change is durable by itself, and its events are for the live stream alone. Repeated on conflicts, so it has to set its result anew each time.
 */
export async function changeWithEvents<T>(
  { db, clock }: SuppressionDeps,
  userIds: readonly string[],
  change: (session: Session | undefined) => Promise<Changed<T>>,
): Promise<T> {
  const webhooks = mailWebhooksOf({ mongo: { db }, clock })
  if ((await webhooksOf(webhooks, userIds)).size === 0) {
    const { result, events } = await change(undefined)
    await queueMailEvents(webhooks, events)
    return result
  }
  const run = (session: Session) =>
    session.withTransaction(
      async () => {
        const { result, events } = await change(session)
        await queueMailEvents(webhooks, events, session)
        return result
      },
      { writeConcern: { w: 'majority', j: true } },
    )
  for (let left = TRIES; ; left--) {
    try {
      return await db.client.withSession(run)
    } catch (error) {
      if (!isDuplicateKey(error) || left <= 1) throw error
    }
  }
}

/** Of entries that were not listed before. */
export function addedEvents(
  entries: readonly NewSuppression[],
  added: readonly { index: number; id: string }[],
): MailEvent[] {
  return added.flatMap(({ index, id }) => {
    const entry = entries[index]
    return entry ? [eventOf('suppression.added', { _id: id, ...entry }, entry.created_at)] : []
  })
}

/** Of entries that were taken off the list. */
export function removedEvents(entries: readonly SuppressionDoc[], now: Date): MailEvent[] {
  return entries.map(entry => eventOf('suppression.removed', entry, now))
}

function eventOf(type: 'suppression.added' | 'suppression.removed', entry: SuppressionDoc, at: Date): MailEvent {
  const { _id: id, user_id: userId, email, reason, stream, email_id } = entry
  return {
    ...{ type, userId, at, key: `${id}:${type}` },
    data: {
      ...{ suppression_id: id, email, reason },
      ...(stream !== ALL_STREAMS && { stream }),
      ...(email_id !== undefined && { email_id }),
    },
  }
}
