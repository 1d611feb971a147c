/** What a user may use right now: the union of all subscriptions that give access. */
import type { Subscriptions } from './context.ts'
import { givesAccess } from './rules/period.ts'
import { secondsOf } from './rules/zone.ts'
import type { EndUserDoc } from './store/documents.ts'
import { findActive } from './store/subscriptions.ts'

/** The answer to an app's back end. */
export interface Entitlement {
  active: boolean
  features: string[]
  plans: { plan_id: string; plan_name: string; subscription_id: string; end_date: string }[]
  /** Unix seconds as text of the last end; "0" = permanent, "" = no access. */
  expires_at: string
}

/** Nobody without access, disabled users included. */
const NONE: Entitlement = { active: false, features: [], plans: [], expires_at: '' }

/** What the user may use. */
export async function entitlementOf(s: Subscriptions, user: EndUserDoc): Promise<Entitlement> {
  if (user.status !== '1') return NONE
  const now = secondsOf(s.clock.now())
  const subscriptions = (await findActive(s.c, user.app_key, user._id)).filter(known => givesAccess(known, now))
  if (subscriptions.length === 0) return NONE
  const permanent = subscriptions.some(({ end }) => end === 0)
  return {
    active: true,
    features: [...new Set(subscriptions.flatMap(({ plan }) => plan.features))].toSorted(),
    plans: subscriptions.map(({ _id, plan, end }) => ({
      plan_id: String(plan.plan_id),
      plan_name: plan.name,
      subscription_id: String(_id),
      end_date: String(end),
    })),
    expires_at: permanent ? '0' : String(Math.max(...subscriptions.map(({ lapse_at }) => lapse_at))),
  }
}
