/** Webhooks of apps and their queued events, in the collections of this module. */
import type { Session } from '../../../platform/database/mongo.ts'
import { type WebhookStore, withoutPerson } from '../../../platform/webhooks/event-queue.ts'
import { IDENTITIES } from '../../rules/end-user.ts'
import type { Collections } from '../../store/collections.ts'
import type { WebhookEventDoc } from '../../store/documents.ts'
import type { WebhookDoc } from '../../store/models.ts'
import { EVENT_TYPES } from '../rules/event-types.ts'

/** The webhooks of apps. Identities of users are removed from delivered events. */
export function webhookStore(collections: Collections): WebhookStore<WebhookDoc, WebhookEventDoc> {
  return { endpoints: collections.webhooks, events: collections.webhookEvents, owner: 'app_key', personal: IDENTITIES }
}

/** Takes the identities of a user out of the events that still wait. They are few: what is over holds none. */
export async function forgetUserInEvents(
  collections: Collections,
  appKey: string,
  userId: number,
  session: Session,
): Promise<void> {
  const query = { state: 'waiting' as const, app_key: appKey, type: { $in: USER_EVENTS }, 'data.id': String(userId) }
  await collections.webhookEvents.updateMany(query, { $unset: withoutPerson(IDENTITIES) }, { session })
}

const USER_EVENTS = EVENT_TYPES.filter(type => type.startsWith('user.'))
