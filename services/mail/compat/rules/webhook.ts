/** Webhooks between the formats. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { ownTypesOf, theirTypesOf } from '../../webhooks/rules/resend-format.ts'
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
