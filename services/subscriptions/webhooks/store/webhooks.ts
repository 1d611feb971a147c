/** Webhooks of apps, and the events on their way to them. */
import { isDuplicateKey, type Session } from '../../../platform/database/mongo.ts'
import { IDENTITIES } from '../../rules/end-user.ts'
import type { Collections } from '../../store/collections.ts'
import type { WebhookDoc, WebhookEventDoc } from '../../store/documents.ts'
import { EVENT_TYPES } from '../rules/webhook.ts'

/** Webhooks of an app, oldest first. */
export function listWebhooks(c: Collections, appKey: string): Promise<WebhookDoc[]> {
  return c.webhooks.find({ app_key: appKey }).sort({ created_at: 1, _id: 1 }).toArray()
}

/** The webhook with this id. */
export async function findWebhook(c: Collections, id: string, session?: Session): Promise<WebhookDoc | undefined> {
  return (await c.webhooks.findOne({ _id: id }, session ? { session } : {})) ?? undefined
}

/** Stores a new webhook. */
export async function insertWebhook(c: Collections, webhook: WebhookDoc, session: Session): Promise<void> {
  await c.webhooks.insertOne(webhook, { session })
}

/** Stores a changed webhook. */
export async function replaceWebhook(c: Collections, webhook: WebhookDoc, session: Session): Promise<void> {
  await c.webhooks.replaceOne({ _id: webhook._id }, webhook, { session })
}

/** Removes a webhook with what waits for it. */
export async function removeWebhook(c: Collections, id: string, session: Session): Promise<void> {
  await c.webhooks.deleteOne({ _id: id }, { session })
  await c.webhookEvents.deleteMany({ webhook_id: id, state: 'waiting' }, { session })
}

/** Puts events on their way; one that was stored before stays as it is. */
export async function insertWebhookEvents(
  c: Collections,
  events: readonly WebhookEventDoc[],
  session?: Session,
): Promise<void> {
  if (events.length === 0) return
  try {
    await c.webhookEvents.insertMany([...events], { ordered: false, ...(session ? { session } : {}) })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}

/**
 * Takes the next event that is due, of other apps than `except`; it comes back at `retryAt` unless it is settled before.
 */
export async function claimWebhookEvent(
  c: Collections,
  now: Date,
  retryAt: Date,
  except: readonly string[] = [],
): Promise<WebhookEventDoc | undefined> {
  const claimed = await c.webhookEvents.findOneAndUpdate(
    { state: 'waiting', due: { $lte: now }, ...(except.length > 0 && { app_key: { $nin: [...except] } }) },
    { $set: { due: retryAt }, $inc: { attempts: 1 } },
    { sort: { due: 1 }, returnDocument: 'after' },
  )
  return claimed ?? undefined
}

/**
 * Writes what a try came to; one that somebody else has taken over meanwhile is left to him. An event that is over
 * forgets whom it was about: nobody reads that again.
 */
export async function settleWebhookEvent(
  c: Collections,
  { _id, attempts }: WebhookEventDoc,
  change: Pick<WebhookEventDoc, 'state' | 'result'> & { due?: Date },
): Promise<void> {
  const over = change.state === 'waiting' ? {} : { $unset: WHOM }
  await c.webhookEvents.updateOne({ _id, attempts, state: 'waiting' }, { $set: change, ...over })
}

/** Takes the identities of a user out of the events that still wait. They are few: what is over holds none. */
export async function forgetUserInEvents(
  c: Collections,
  appKey: string,
  userId: number,
  session: Session,
): Promise<void> {
  const query = { state: 'waiting' as const, app_key: appKey, type: { $in: USER_EVENTS }, 'data.id': String(userId) }
  await c.webhookEvents.updateMany(query, { $unset: WHOM }, { session })
}

const USER_EVENTS = EVENT_TYPES.filter(type => type.startsWith('user.'))
const WHOM = Object.fromEntries(IDENTITIES.map(name => [`data.${name}`, '' as const]))

/** The last events of a webhook, newest first. */
export function recentWebhookEvents(c: Collections, webhookId: string, limit: number): Promise<WebhookEventDoc[]> {
  return c.webhookEvents.find({ webhook_id: webhookId }).sort({ at: -1 }).limit(limit).toArray()
}
