/** Webhooks between the formats. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ownTypesOf, theirTypeOf, theirTypesOf } from '../../webhooks/rules/resend-format.ts'
import { notServed } from './foreign-error.ts'
import { defined, given } from './loose-input.ts'

/** A webhook as the own API shows it. */
export interface OwnWebhook {
  id: string
  url: string
  events: readonly string[]
  enabled: boolean
  created_at: string
}

/** The settings of a webhook; `status` is that of a change. Throws `not_implemented` for events that there are none of. */
export function toOwnWebhook(body: unknown): object {
  const { endpoint, events, status } = given(body, ['endpoint', 'events', 'status'])
  const enabled = status === 'enabled' ? true : status === 'disabled' ? false : status
  return defined({ url: endpoint, events: toOwnEvents(events), enabled })
}

function toOwnEvents(events: unknown): unknown {
  if (!Array.isArray(events)) return events
  return events.flatMap((type: unknown) => {
    const own = typeof type === 'string' ? ownTypesOf(type) : undefined
    if (!own)
      throw notServed(
        sentence('compat.value_not_served', { field: 'events', value: JSON.stringify(type).slice(0, 64) }),
      )
    return own
  })
}

/** A webhook in a list. */
export function toListedWebhook({ id, url, events, enabled, created_at }: OwnWebhook) {
  const status = enabled ? ('enabled' as const) : ('disabled' as const)
  return { id, created_at, status, endpoint: url, events: theirTypesOf(events) }
}

/** A delivery as the own API lists it. */
export interface OwnDelivery {
  id: string
  type: string
  state: string
  created_at: string
  next_attempt_at: string | null
}

/** A delivery with what was sent and answered. */
export interface OwnDeliveryDetail extends OwnDelivery {
  request_body: string
  log: readonly { at: string; result: string | null; answer: { status: number; body: string } | null }[]
}

const STATES: Readonly<Record<string, string>> = { waiting: 'pending', delivered: 'success', failed: 'failed' }

/** An event in a list. */
export function toListedEvent({ id, type, state, created_at }: OwnDelivery) {
  return { id, type: theirTypeOf(type), created_at, status: STATES[state] ?? state }
}

/** One event; its type and payload are those that were sent. */
export function toShownEvent(delivery: OwnDeliveryDetail) {
  const payload = JSON.parse(delivery.request_body) as { type: string }
  return {
    object: 'webhook_event' as const,
    ...{ ...toListedEvent(delivery), type: payload.type, next_attempt_at: delivery.next_attempt_at, payload },
  }
}

/** The attempts, the latest first; 0 is the status of one without an answer. */
export function toAttempts({ id, log }: OwnDeliveryDetail) {
  return log
    .map(({ at, result, answer }, index) => ({
      ...{ id: `${id}.${index}`, http_status_code: answer?.status ?? 0 },
      ...{ response: answer?.body ?? result ?? '', sent_at: at },
    }))
    .toReversed()
}
