/** Reconciles SubscriptionPlans: the plan of their App. */

import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { listPlansOfResource } from '../../../services/subscriptions/catalogue/find-records.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import {
  type DeclaredPlan,
  declarePlan,
  withdrawPlans,
} from '../../../services/subscriptions/kubernetes/declare-plan.ts'
import { mirrorSubscriptionState } from '../../../services/subscriptions/kubernetes/managed-records.ts'
import { SubscriptionPlan } from '../../resources/subscription-plan.ts'
import { driftOf } from '../shared/drift.ts'
import { wantsToAdopt } from '../shared/namespace-owners.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { appKeyOf, statusFlag, withdrawalOf } from './app-ref.ts'

type Spec = SubscriptionPlan['spec']
type Status = NonNullable<SubscriptionPlan['status']>

/** The reconciler of SubscriptionPlans. */
export function subscriptionPlanReconciler(
  context: OperatorContext,
  subscriptions: Subscriptions,
): Reconciler<Spec, Status> {
  return {
    kind: SubscriptionPlan,
    ensure: resource => ensure(context, subscriptions, resource),
    async remove(resource, retain) {
      const records = await listPlansOfResource(subscriptions, resource.metadata.uid)
      const policy = retain ? 'Retain' : resource.spec.deletionPolicy
      await withdrawPlans(
        subscriptions,
        managedBy(resource),
        await withdrawalOf(context, subscriptions, resource.metadata, records, policy),
      )
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorSubscriptionState(subscriptions, 'SubscriptionPlan', uid, Number(id), state),
  }
}

async function ensure(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: SubscriptionPlan,
): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const app = await appKeyOf(context, subscriptions, metadata, spec.appRef.name)
  if ('outcome' in app) return app.outcome
  try {
    const { plan, outcome } = await declarePlan(subscriptions, managedBy(resource), app.appKey, planSpec(spec), {
      adopt: wantsToAdopt(metadata),
    })
    const message = sentence('resource.plan_ready', { name: spec.name, app: app.appKey })
    return {
      conditions: [accepted(message)],
      message,
      status: { planId: String(plan._id) },
      events: driftOf(context, resource, outcome, status?.planId !== undefined),
      recordId: String(plan._id),
    }
  } catch (error) {
    return refusalOf(error)
  }
}

/** The declared plan for the use case; prices in cents, undefined for what the resource leaves out. */
export function planSpec(spec: Spec): DeclaredPlan {
  return {
    name: spec.name,
    description: spec.description,
    price_cents: cents(spec.price),
    original_price_cents: spec.originalPrice === undefined ? undefined : cents(spec.originalPrice),
    duration: spec.durationDays,
    features: spec.features,
    sort_order: spec.sortOrder,
    status: statusFlag(spec.status),
    trial_days: spec.trialDays,
    grace_days: spec.graceDays,
    auto_renew_allowed: spec.autoRenewAllowed,
  }
}

/** `19.9` is 1990: computed from the digits, because 19.9 * 100 is not an integer. */
function cents(amount: string): number {
  const [units = '0', fraction = ''] = amount.split('.')
  return Number(units) * 100 + Number(fraction.padEnd(2, '0'))
}
