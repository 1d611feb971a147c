/** Plans declared by custom resources. */
import { listManagedBy } from '../../platform/managed/managed-records.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { assertUnmanaged, createPlan, putPlan } from '../catalogue/manage-plans.ts'
import type { PlanSpec } from '../catalogue/rules/plan.ts'
import { findPlanByName } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import type { PlanDoc } from '../store/models.ts'
import {
  ADOPT_ANNOTATION,
  haveEqualFields,
  type Outcome,
  operatorActor,
  requireApp,
  type Takeover,
  type Withdrawal,
  wasReleasedBy,
} from './declared-record.ts'

/** A plan as its resource declares it; what the resource leaves out keeps its value. */
export type DeclaredPlan = Omit<PlanSpec, 'trial_days' | 'grace_days' | 'auto_renew_allowed'> &
  Partial<Pick<PlanSpec, 'trial_days' | 'grace_days'>>

/**
 * Creates or updates the plan with this name to match its resource, and restores a deleted one. 409 `conflict` for a plan
 * that no resource manages, unless a resource of this namespace released it or `adopt` is true.
 */
export async function declarePlan(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  declared: DeclaredPlan,
  { adopt }: Takeover,
): Promise<{ plan: PlanDoc; outcome: Outcome }> {
  await requireApp(context, appKey)
  const before = await findPlanByName(context.collections, appKey, declared.name)
  const spec = complete(declared, before)
  if (!before) return { plan: await createPlan(context, operatorActor(by), appKey, spec, by), outcome: 'created' }
  assertUnmanaged(before, by)
  if (!before.managed_by && !before.deleted_at && !adopt && !wasReleasedBy(before, by))
    throw new ProblemError(
      'conflict',
      sentence('detail.plan_unmanaged', { name: spec.name, annotation: ADOPT_ANNOTATION }),
    )
  const { deleted_at: _, released_by: __, ...rest } = before
  const changed: PlanDoc = { ...rest, ...spec, managed_by: by }
  if (haveEqualFields(before, changed)) return { plan: before, outcome: 'unchanged' }
  return { plan: await putPlan(context, operatorActor(by), before, changed, 'plan.update'), outcome: 'updated' }
}

function complete(declared: DeclaredPlan, before: PlanDoc | undefined): PlanSpec {
  const { trial_days = before?.trial_days ?? 0, grace_days = before?.grace_days ?? 0, ...rest } = declared
  // A permanent plan is never renewed; a period makes a plan renewable, as a new one is.
  const wasPermanent = before === undefined || before.duration === 0
  const auto_renew_allowed = declared.duration > 0 && (wasPermanent || before.auto_renew_allowed)
  return { ...rest, trial_days, grace_days, auto_renew_allowed }
}

/**
 * Withdraws the plans of a resource. Deleted plans stay valid for their holders but are neither shown nor sold. They
 * are found by the owner's uid, because the App may be deleted before or replaced by another one.
 */
export async function withdrawPlans(context: Subscriptions, by: ManagedBy, how: Withdrawal): Promise<void> {
  for (const plan of await listManagedBy(context.collections.plans, by.uid)) {
    const { managed_by: _, ...rest } = plan
    const deleted: PlanDoc = { ...rest, status: '0', deleted_at: context.clock.now() }
    if (how === 'Retain') await retainPlan(context, by, plan)
    else await putPlan(context, operatorActor(by), plan, deleted, 'plan.delete')
  }
}

export async function retainPlan(context: Subscriptions, by: ManagedBy, plan: PlanDoc): Promise<void> {
  const { managed_by: _, ...rest } = plan
  await putPlan(context, operatorActor(by), plan, { ...rest, released_by: by }, 'plan.update')
}
