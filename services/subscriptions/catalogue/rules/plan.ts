/** Plans: request fields, and their representation in the API. */
import { z } from 'zod'
import { managedText } from '../../../platform/managed/rules/managed-by.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { flag, formatCents, integer, money, text } from '../../rules/field-schemas.ts'
import type { PlanSnapshot } from '../../rules/subscription-lifecycle.ts'
import type { Zone } from '../../rules/time-zone.ts'
import type { PlanDoc } from '../../store/models.ts'

const featureList = z.object({ features: z.array(text(0, 200)).max(50) })

/** Text of a JSON object whose `features` is an array of strings; parsed into that array. */
const featuresText = z
  .string()
  .max(16_384)
  .meta({
    format: 'plan-features',
    contentMediaType: 'application/json',
    description: 'A JSON object with an array of at most 50 strings named features.',
    examples: ['{"features":["sync","themes"]}'],
  })
  .transform((value, context) => {
    const parsed = featureList.safeParse(parseJson(value))
    if (parsed.success) return parsed.data.features
    context.addIssue({ code: 'custom', message: reason('field.features') })
    return z.NEVER
  })

/** Fields that creation and update share, all optional. */
export const planFields = {
  name: text(1, 64).optional(),
  description: text(0, 1000).optional(),
  price: money.optional(),
  original_price: money.optional(),
  duration: integer(0, 36_500).optional(),
  features: featuresText.optional(),
  sort_order: integer(0, 9999).optional(),
  status: flag.optional(),
  trial_days: integer(0, 365).optional(),
  grace_days: integer(0, 90).optional(),
  auto_renew_allowed: flag.optional(),
}

/** The fields of a request, parsed. */
export type PlanFields = z.output<z.ZodObject<typeof planFields>>

/** The offer of a plan: everything that an administrator sets. */
export type PlanSpec = Omit<
  PlanDoc,
  | '_id'
  | 'app_key'
  | 'version'
  | 'edits'
  | 'managed_by'
  | 'released_by'
  | 'k8s'
  | 'created_at'
  | 'updated_at'
  | 'deleted_at'
>

/** A new plan from its required fields, or a changed one: absent fields keep their value. */
export function mergePlan(base: PlanSpec | undefined, given: PlanFields): PlanSpec {
  const price = given.price ?? base?.price_cents ?? 0
  return {
    name: given.name ?? base?.name ?? '',
    description: given.description ?? base?.description ?? '',
    price_cents: price,
    original_price_cents: given.original_price ?? base?.original_price_cents ?? price,
    duration: given.duration ?? base?.duration ?? 0,
    features: given.features ?? base?.features ?? [],
    sort_order: given.sort_order ?? base?.sort_order ?? 0,
    status: given.status ?? base?.status ?? '1',
    trial_days: given.trial_days ?? base?.trial_days ?? 0,
    grace_days: given.grace_days ?? base?.grace_days ?? 0,
    auto_renew_allowed: given.auto_renew_allowed
      ? given.auto_renew_allowed === '1'
      : (base?.auto_renew_allowed ?? true),
  }
}

/** True when the change affects what buyers get: the version is raised, and holders keep what they bought. */
export function changesOffer(before: PlanSpec, after: PlanSpec): boolean {
  return (
    before.price_cents !== after.price_cents ||
    before.duration !== after.duration ||
    JSON.stringify(before.features) !== JSON.stringify(after.features)
  )
}

/** What a buyer gets now; stored with the subscription. */
export function snapshotOf(plan: PlanDoc): PlanSnapshot {
  const { _id, version, name, price_cents, duration, grace_days, features } = plan
  return { plan_id: _id, version, name, price_cents, duration, grace_days, features }
}

/** A plan as the API shows it. */
export function viewPlan(plan: PlanDoc, activeSubscriptions: number, zone: Zone) {
  return {
    id: String(plan._id),
    app_key: plan.app_key,
    name: plan.name,
    description: plan.description,
    price: formatCents(plan.price_cents),
    original_price: formatCents(plan.original_price_cents),
    duration: String(plan.duration),
    features: JSON.stringify({ features: plan.features }),
    sort_order: String(plan.sort_order),
    status: plan.status,
    created_at: zone.format(plan.created_at),
    updated_at: zone.format(plan.updated_at),
    version: String(plan.version),
    trial_days: String(plan.trial_days),
    grace_days: String(plan.grace_days),
    auto_renew_allowed: plan.auto_renew_allowed ? ('1' as const) : ('0' as const),
    active_subscriptions: String(activeSubscriptions),
    is_permanent: plan.duration === 0,
    ...(plan.managed_by ? { managed_by: managedText(plan.managed_by) } : {}),
  }
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
