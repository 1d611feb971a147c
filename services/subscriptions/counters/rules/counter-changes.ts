/** Contribution of one subscription to the running counters of its app. */
import { STATUS, type Status } from '../../rules/subscription-lifecycle.ts'

/** The fields of a subscription that are counted. */
export interface Countable {
  status: Status
  end: number
  auto_renew: boolean
  plan_id: number
  plan: { duration: number }
  payment_method: string
  paid_cents: number
}

/** Increments by counter field, as `$inc` takes them. */
export type Tally = Record<string, number>

/** Contribution of a subscription in this state. */
function tally(subscription: Countable): Tally {
  const base: Tally = { subs_total: 1, [`by_status.${subscription.status}`]: 1 }
  if (subscription.status !== STATUS.active) return base
  return {
    ...base,
    subs_active: 1,
    subs_permanent: subscription.end === 0 ? 1 : 0,
    subs_auto_renew: subscription.auto_renew ? 1 : 0,
    mrr: monthly(subscription),
    [`by_plan.${subscription.plan_id}`]: 1,
    [`by_method.${subscription.payment_method}`]: 1,
  }
}

/** Revenue per 30 days in hundredths of a cent; 0 for permanent sales. */
function monthly({ end, plan, paid_cents }: Countable): number {
  return end === 0 || plan.duration === 0 ? 0 : Math.round((paid_cents * 30 * 100) / plan.duration)
}

/** Difference of the contributions of two states, without zeros. */
export function tallyChange(before: Countable | undefined, after: Countable | undefined): Tally {
  const sum = new Map(Object.entries(after ? tally(after) : {}))
  for (const [field, amount] of Object.entries(before ? tally(before) : {}))
    sum.set(field, (sum.get(field) ?? 0) - amount)
  return Object.fromEntries([...sum].filter(([, amount]) => amount !== 0))
}
