import type { CurrentState } from '../history/revision-changes.ts'
import { featuresOf } from './plan-features.ts'
import type { Plan } from './plan-fields.ts'

/** The current state of a plan in the form in which its revisions are stored. */
export function currentPlanState(plan: Plan): CurrentState {
  return {
    name: plan.name,
    description: plan.description,
    price_cents: cents(plan.price),
    original_price_cents: cents(plan.original_price),
    duration: Number(plan.duration),
    features: featuresOf(plan.features),
    sort_order: Number(plan.sort_order),
    status: plan.status,
    trial_days: Number(plan.trial_days),
    grace_days: Number(plan.grace_days),
    auto_renew_allowed: plan.auto_renew_allowed === '1',
  }
}

function cents(yuan: string): number {
  return Math.round(Number(yuan) * 100)
}
