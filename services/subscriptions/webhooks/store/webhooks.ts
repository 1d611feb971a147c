/** Webhooks of apps, and the events on their way to them, in the collections of this half. */
import type { Session } from '../../../platform/database/mongo.ts'
import { type WebhookStore, withoutPerson } from '../../../platform/webhooks/event-queue.ts'
import { IDENTITIES } from '../../rules/end-user.ts'
import type { Collections } from '../../store/collections.ts'
import type { WebhookDoc, WebhookEventDoc } from '../../store/documents.ts'
import { EVENT_TYPES } from '../rules/webhook.ts'

/** The webhooks of apps; events forget by which identities an app knows a user. */
export function webhookStore(c: Collections): WebhookStore<WebhookDoc, WebhookEventDoc> {
  return { endpoints: c.webhooks, events: c.webhookEvents, owner: 'app_key', personal: IDENTITIES }
}

/** Stores a new webhook. */
export async function insertWebhook(c: Collections, webhook: WebhookDoc, session: Session): Promise<void> {
  await c.webhooks.insertOne(webhook, { session })
}

/** Stores a changed webhook. */
export async function replaceWebhook(c: Collections, webhook: WebhookDoc, session: Session): Promise<void> {
  await c.webhooks.replaceOne({ _id: webhook._id }, webhook, { session })
}

/** Takes the identities of a user out of the events that still wait. They are few: what is over holds none. */
export async function forgetUserInEvents(
  c: Collections,
  appKey: string,
  userId: number,
  session: Session,
): Promise<void> {
  const query = { state: 'waiting' as const, app_key: appKey, type: { $in: USER_EVENTS }, 'data.id': String(userId) }
  await c.webhookEvents.updateMany(query, { $unset: withoutPerson(IDENTITIES) }, { session })
}

const USER_EVENTS = EVENT_TYPES.filter(type => type.startsWith('user.'))
