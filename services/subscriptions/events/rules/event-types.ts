/** Webhook events of an app: which change produces which event. */
import { STATUS, type Status } from '../../rules/subscription-lifecycle.ts'

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

/** Fields of a subscription that determine its event. */
export interface Life {
  status: Status
  end: number
  auto_renew: boolean
}

/** The event of a step in the lifecycle of a subscription; undefined when there is none. */
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
  // An unpaid order was never a subscription.
  const wasOne = before !== undefined && before.status !== STATUS.pending
  return after.status === STATUS.cancelled && wasOne ? 'subscription.canceled' : undefined
}

const reaches = ({ end }: Life) => (end === 0 ? Number.POSITIVE_INFINITY : end)

/** The event of a change of another record. */
export function recordEvent(kind: string, action: string): EventType | undefined {
  if (kind === 'switch') return 'switch.updated'
  if (kind === 'plan') return action === 'plan.create' ? undefined : 'plan.updated'
  if (kind === 'user') return action === 'user.erase' ? 'user.deleted' : 'user.updated'
  return undefined
}
