/** Webhooks of an app in the form that the shared components know: flags as booleans, times as ISO 8601. */
import { instantOf } from '../../ui/values/time-zone.ts'
import type { SubInput, SubOutput } from '../shared/subscriptions-api.ts'

export type AppWebhook = SubOutput<'listWebhooksOperation'>['webhooks'][number]
export type AppDelivery = SubOutput<'listDeliveriesOperation'>['deliveries'][number]
export type AppDeliveryDetail = SubOutput<'getDeliveryOperation'>
export type AppEventType = NonNullable<SubInput<'createWebhookOperation'>['body']['events']>[number]

/** Types that a webhook can choose, as in the contract; a test compares them. */
export const APP_EVENT_TYPES: readonly AppEventType[] = [
  'user.created',
  'user.updated',
  'user.deleted',
  'subscription.created',
  'subscription.renewed',
  'subscription.expiring_soon',
  'subscription.expired',
  'subscription.canceled',
  'subscription.refunded',
  'plan.updated',
  'switch.updated',
]

/** Types of the delivery log: a test is sent on request and cannot be chosen for a webhook. */
export const APP_DELIVERY_TYPES: readonly string[] = [...APP_EVENT_TYPES, 'webhook.test']

export const APP_DELIVERY_STATES = ['waiting', 'done', 'failed'] as const satisfies readonly AppDelivery['state'][]

/** The state of a webhook for its badge. */
export function stateOf({ enabled, disabled_at, failing_since }: AppWebhook) {
  return {
    enabled: enabled === '1',
    disabled: disabled_at === undefined ? null : { at: disabled_at },
    failing_since: failing_since ?? null,
  }
}

/** Times of the API are in the business time zone. */
export function logOf({ log, request_body }: Pick<AppDeliveryDetail, 'log' | 'request_body'>, zone: string) {
  return {
    request_body,
    log: log.map(attempt => ({ ...attempt, at: instantOf(attempt.at, zone)?.toISOString() ?? attempt.at })),
  }
}

/** Name of a delivery state in the catalogue of webhooks. */
export function stateName(state: AppDelivery['state']): 'waiting' | 'delivered' | 'failed' {
  return state === 'done' ? 'delivered' : state
}
