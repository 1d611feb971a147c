import type { Input, Output } from '../../api/client.ts'

export type Webhook = Output<'listMailWebhooksOperation'>['data'][number]
export type Delivery = Output<'listWebhookDeliveriesOperation'>['data'][number]
export type DeliveryDetail = Output<'getWebhookDeliveryOperation'>
export type EventType = NonNullable<Input<'createMailWebhookOperation'>['body']['events']>[number]

/** Types that a webhook can choose, as in the contract; a test compares them. */
export const EVENT_TYPES: readonly EventType[] = [
  'email.accepted',
  'email.delivered',
  'email.deferred',
  'email.bounced',
  'email.complained',
  'email.suppressed',
  'email.failed',
  'email.canceled',
  'email.unsubscribed',
  'email.opened',
  'email.clicked',
  'domain.verified',
  'domain.failing',
  'domain.lost',
  'domain.failed',
  'domain.recovered',
  'suppression.added',
  'suppression.removed',
]

/** State of a webhook for people. */
export function webhookState({
  enabled,
  disabled,
  failing_since,
}: {
  enabled: boolean
  disabled: object | null
  failing_since: string | null
}): 'on' | 'off' | 'disabled' | 'failing' {
  if (!enabled) return disabled ? 'disabled' : 'off'
  return failing_since ? 'failing' : 'on'
}
