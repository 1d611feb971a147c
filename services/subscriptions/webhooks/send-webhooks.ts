/** Brings events to the webhooks of apps. */
import type { GuardedPost } from '../../platform/network/guarded-fetch.ts'
import { sendEvents } from '../../platform/webhooks/send-events.ts'
import type { Subscriptions } from '../context.ts'
import { webhookPlace } from './manage-webhooks.ts'
import { webhookStore } from './store/webhooks.ts'

/** Sends every event that is due; gives the number of tries. */
export function sendWebhooks(s: Subscriptions, post: GuardedPost, signal: AbortSignal): Promise<number> {
  return sendEvents(
    {
      ...{ store: webhookStore(s.c), clock: s.clock, post },
      secretOf: ({ _id, sealed }) => s.secrets.open('app-secret', webhookPlace(_id), sealed),
      dataOf: ({ app_key, data }) => ({ app_key, ...data }),
    },
    signal,
  )
}
