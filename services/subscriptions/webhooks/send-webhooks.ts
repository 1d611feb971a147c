/** Delivers events to the webhooks of apps. */
import type { GuardedPost } from '../../platform/network/guarded-fetch.ts'
import { sendEvents } from '../../platform/webhooks/deliver-events.ts'
import type { Subscriptions } from '../context.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import { webhookPlace } from './manage-webhooks.ts'

/** Sends all due events; returns the number of attempts. */
export function sendWebhooks(context: Subscriptions, post: GuardedPost, signal: AbortSignal): Promise<number> {
  return sendEvents(
    {
      ...{ store: webhookStore(context.collections), clock: context.clock, post },
      secretOf: ({ _id, sealed }) => context.secrets.open('app-secret', webhookPlace(_id), sealed),
      dataOf: ({ app_key, data }) => ({ app_key, ...data }),
    },
    signal,
  )
}
