/** Where the events of a WebhookEndpoint come from: an account, or an app. */
import type { DeclaredWebhook } from '../../../services/platform/webhooks/declared-webhook.ts'
import type { WebhookEndpoint as StoredWebhook } from '../../../services/platform/webhooks/event-queue.ts'
import type { WebhookRequests } from './webhook-requests.ts'

/** A webhook as either module stores it. */
export type Declared = DeclaredWebhook<StoredWebhook>

/** The source of events, which creates the webhook or makes it as declared. */
export interface WebhookTarget {
  /** Name of the account, or the app key. */
  owner: string
  declare(requests: WebhookRequests): Promise<Declared>
}
