/** Events of an app that its webhooks hear of: which change is which event, when it is tried, how it is signed. */
import { createHmac } from 'node:crypto'
import { STATUS, type Status } from '../../rules/period.ts'

/** Every event. */
export const EVENT_TYPES = [
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
] as const

/** One kind of event. */
export type EventType = (typeof EVENT_TYPES)[number]

/** The part of a subscription that decides what happened to it. */
export interface Life {
  status: Status
  end: number
  auto_renew: boolean
}

/** What a step in the life of a subscription is for those outside; undefined when it is nothing to them. */
export function subscriptionEvent(before: Life | undefined, after: Life): EventType | undefined {
  if (after.status !== STATUS.active) return before?.status === after.status ? undefined : ending(before, after)
  if (before?.status !== STATUS.active)
    return before?.status === STATUS.expired ? 'subscription.renewed' : 'subscription.created'
  if (reaches(after) > reaches(before)) return 'subscription.renewed'
  return before.auto_renew && !after.auto_renew ? 'subscription.canceled' : undefined
}

function ending(before: Life | undefined, after: Life): EventType | undefined {
  if (after.status === STATUS.expired) return 'subscription.expired'
  if (after.status === STATUS.refunded) return 'subscription.refunded'
  // An order that nobody paid was never a subscription.
  const wasOne = before !== undefined && before.status !== STATUS.pending
  return after.status === STATUS.cancelled && wasOne ? 'subscription.canceled' : undefined
}

const reaches = ({ end }: Life) => (end === 0 ? Number.POSITIVE_INFINITY : end)

/** What a change of another record is. */
export function recordEvent(kind: string, action: string): EventType | undefined {
  if (kind === 'switch') return 'switch.updated'
  if (kind === 'plan') return action === 'plan.create' ? undefined : 'plan.updated'
  if (kind === 'user') return action === 'user.erase' ? 'user.deleted' : 'user.updated'
  return undefined
}

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
/** Waits between tries, as Standard Webhooks recommends. */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]

/** How long to wait after so many tries in vain; undefined: give up. */
export function waitAfter(attempts: number): number | undefined {
  return WAITS_MS[attempts - 1]
}

/** What marks a secret of Standard Webhooks; base64 follows. */
export const SECRET_PREFIX = 'whsec_'

/** The headers of Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`. */
export function signedHeaders(secret: string, id: string, timestamp: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}
