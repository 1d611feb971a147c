/** Plans declared by custom resources. */
import { listManagedBy } from '../../platform/managed/managed-records.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { assertUnmanaged, createPlan, putPlan } from '../catalogue/manage-plans.ts'
import type { PlanSpec } from '../catalogue/rules/plan.ts'
import { findPlanByName } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import type { PlanDoc } from '../store/models.ts'
import { haveEqualFields, type Outcome, operatorActor, requireApp, type Withdrawal } from './declared-record.ts'

/**
 * Creates or updates the plan with this name to match its resource. An unmanaged plan is adopted, a deleted one
 * restored.
 */
export async function declarePlan(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  spec: PlanSpec,
): Promise<{ plan: PlanDoc; outcome: Outcome }> {
  await requireApp(context, appKey)
  const before = await findPlanByName(context.collections, appKey, spec.name)
  if (!before) return { plan: await createPlan(context, operatorActor(by), appKey, spec, by), outcome: 'created' }
  assertUnmanaged(before, by)
  const { deleted_at: _, ...rest } = before
  const changed: PlanDoc = { ...rest, ...spec, managed_by: by }
  if (haveEqualFields(before, changed)) return { plan: before, outcome: 'unchanged' }
  return { plan: await putPlan(context, operatorActor(by), before, changed, 'plan.update'), outcome: 'updated' }
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
  await putPlan(context, operatorActor(by), plan, rest, 'plan.update')
}
