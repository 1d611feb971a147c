/** Events of an app that its webhooks get: which change is which event. */
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
