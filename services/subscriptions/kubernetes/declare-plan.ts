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

type Declared = 'name' | 'price_cents' | 'duration'

/** A plan as its resource declares it: what the resource leaves out keeps its value, or has the default of a new plan. */
export type DeclaredPlan = Pick<PlanSpec, Declared> & {
  [Field in Exclude<keyof PlanSpec, Declared>]?: PlanSpec[Field] | undefined
}

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
  const { name, price_cents, duration } = declared
  // A permanent plan is never renewed; a period makes a plan renewable, as a new one is.
  const wasPermanent = before === undefined || before.duration === 0
  return {
    ...{ name, price_cents, duration },
    description: declared.description ?? before?.description ?? '',
    original_price_cents: declared.original_price_cents ?? originalPriceOf(price_cents, before),
    features: declared.features ?? before?.features ?? [],
    sort_order: declared.sort_order ?? before?.sort_order ?? 0,
    // Deleting a plan disabled it.
    status: declared.status ?? (before?.deleted_at ? undefined : before?.status) ?? '1',
    trial_days: declared.trial_days ?? before?.trial_days ?? 0,
    grace_days: declared.grace_days ?? before?.grace_days ?? 0,
    auto_renew_allowed: duration > 0 && (declared.auto_renew_allowed ?? (wasPermanent || before.auto_renew_allowed)),
  }
}

/** A discount that the plan has stays as long as it is one; without a discount the original price is the price. */
function originalPriceOf(price: number, before: PlanDoc | undefined): number {
  if (before === undefined || before.original_price_cents <= before.price_cents) return price
  return Math.max(price, before.original_price_cents)
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
