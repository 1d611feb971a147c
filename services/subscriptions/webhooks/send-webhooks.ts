/** Delivers events to the webhooks of apps. */
import type { GuardedPost } from '../../platform/network/guarded-fetch.ts'
import type { Running } from '../../platform/running.ts'
import { type Sending, sendEvents, startSending } from '../../platform/webhooks/deliver-events.ts'
import type { Subscriptions } from '../context.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import type { WebhookEventDoc } from '../store/documents.ts'
import type { WebhookDoc } from '../store/models.ts'
import { webhookPlace } from './manage-webhooks.ts'

/** Content of a request: events of all apps have the same form. */
export const dataOfEvent = ({ app_key, data }: WebhookEventDoc) => ({ app_key, ...data })

/** How events of apps are sent. */
export function webhookSending(context: Subscriptions, post = context.post): Sending<WebhookDoc, WebhookEventDoc> {
  const { clock, log, secrets, memory } = context
  return {
    ...{ store: webhookStore(context.collections), clock, log, post, random: Math.random },
    open: ({ _id }, sealed) => secrets.open('app-secret', webhookPlace(_id), sealed),
    dataOf: dataOfEvent,
    onDisabled: ({ app_key }) => memory.webhooks.delete(app_key),
  }
}

/** Sends all due events; resolves to the number of those that were attempted or ended. */
export function sendWebhooks(context: Subscriptions, post: GuardedPost, signal: AbortSignal): Promise<number> {
  return sendEvents(webhookSending(context, post), signal)
}

/** Sends events as they become due, until it is stopped. */
export function startWebhooks(context: Subscriptions): Running {
  return startSending(webhookSending(context))
}
