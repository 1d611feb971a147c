/** The current access of a user: the union of all subscriptions that give access. */
import { ProblemError } from '../../platform/problems.ts'
import type { Subscriptions } from '../context.ts'
import { pickUser } from '../people/manage-end-users.ts'
import type { Identities } from '../rules/end-user.ts'
import { givesAccess } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'

/** The response to an app's back end. */
export interface Entitlement {
  active: boolean
  features: string[]
  plans: { plan_id: string; plan_name: string; subscription_id: string; end_date: string }[]
  /** Unix seconds as text of the last end; "0" = permanent, "" = no access. */
  expires_at: string
}

/** Users without access, including disabled ones. */
const NONE: Entitlement = { active: false, features: [], plans: [], expires_at: '' }

/** The access of the user that the app names. Throws `end_user_not_found` and `identities_conflict`. */
export async function entitlementOf(
  context: Subscriptions,
  appKey: string,
  given: Identities & { user_id?: number | undefined },
): Promise<Entitlement & { user_id: string }> {
  const holder = pickUser(await context.findHolders(appKey, given), given)
  if (!holder) throw new ProblemError('end_user_not_found')
  const user_id = String(holder._id)
  const now = secondsOf(context.clock.now())
  const held = holder.status === '1' ? holder.held.filter(known => givesAccess(known, now)) : []
  if (held.length === 0) return { user_id, ...NONE }
  const permanent = held.some(({ end }) => end === 0)
  return {
    user_id,
    active: true,
    features: [...new Set(held.flatMap(({ plan }) => plan.features))].toSorted(),
    plans: held.map(({ _id, plan, end }) => ({
      plan_id: String(plan.plan_id),
      plan_name: plan.name,
      subscription_id: String(_id),
      end_date: String(end),
    })),
    expires_at: permanent ? '0' : String(Math.max(...held.map(({ lapse_at }) => lapse_at))),
  }
}
