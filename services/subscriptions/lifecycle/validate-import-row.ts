/** Validates one row of an import against the database and the rows before it. */
import { z } from 'zod'
import { validate } from '../../platform/json/bounded-validation.ts'
import type { FieldError } from '../../platform/problems.ts'
import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import { findUser } from '../people/store/end-users.ts'
import { type FieldRule, fieldError, fieldErrorsOf } from '../rules/field-errors.ts'
import { id, integer, text } from '../rules/field-schemas.ts'
import { STATUS } from '../rules/subscription-lifecycle.ts'
import type { PlanDoc } from '../store/models.ts'
import { NO_PAYMENT_ID } from './start-or-renew.ts'
import { findPayment } from './store/payments.ts'
import { findCurrent } from './store/subscriptions.ts'

/** The payment method of granted periods. */
export const GRANT_METHOD = 'manual'

const row = z.object({
  user_id: id,
  plan_id: id,
  days: z.union([z.literal(''), integer(0, 36_500)]).optional(),
  client_ref: text(1, 64),
})

/** A period to grant. */
export interface Grant {
  userId: number
  plan: PlanDoc
  /** Undefined: the plan's duration. */
  days: number | undefined
  clientRef: string
}

/** What a reference was used for. */
interface Granted {
  userId: number
  planId: number
  /** Null: the plan's duration. Undefined: unknown. */
  days: number | null | undefined
}

/** Known from earlier rows; starts empty. */
export interface KnownGrants {
  plans: Map<number, PlanDoc | undefined>
  refs: Map<string, Granted>
  /** Permanent holders of plans. */
  ever: Set<string>
}

/** The columns of a row. */
export const GRANT_COLUMNS = Object.keys(row.shape)

/** A row as a grant, `repeated` when it was granted before with the same values, or its errors. */
export async function checkGrant(
  context: Subscriptions,
  appKey: string,
  fields: Record<string, string>,
  known: KnownGrants,
): Promise<Grant | 'repeated' | { errors: FieldError[] }> {
  const parsed = validate(row, fields)
  if (!parsed.ok) return { errors: fieldErrorsOf(parsed.issues) }
  const { user_id, plan_id, days, client_ref } = parsed.data
  if (!known.plans.has(plan_id)) known.plans.set(plan_id, await findPlan(context.collections, appKey, plan_id))
  const plan = known.plans.get(plan_id)
  const user = await findUser(context.collections, appKey, user_id)
  const missing = [...(user ? [] : ['user_id']), ...(plan ? [] : ['plan_id'])]
  if (!plan || !user) return { errors: missing.map(field => fieldError(field, 'value')) }
  const grant = { userId: user_id, plan, days: days === '' ? undefined : days, clientRef: client_ref }
  const found = await findGrantError(context, appKey, grant, known)
  if (found === 'repeated') return found
  return found ? { errors: [fieldError(...found)] } : grant
}

/**
 * Why a row cannot be granted: its reference is used by another grant or by the same one, or the user holds the plan
 * permanently.
 */
async function findGrantError(
  context: Subscriptions,
  appKey: string,
  { userId, plan, days, clientRef }: Grant,
  { refs, ever }: KnownGrants,
): Promise<GrantError | 'repeated' | undefined> {
  const paid = await findPayment(context.collections, { client_key: `${appKey}/${clientRef}` })
  if (paid && !(paid.method === GRANT_METHOD && paid.payment_id === NO_PAYMENT_ID)) return ['client_ref', 'unique']
  const wanted: Granted = { userId, planId: plan._id, days: days ?? null }
  const before = paid ? { userId: paid.user_id, planId: paid.plan_id, days: paid.days } : refs.get(clientRef)
  if (before) return compare(before, wanted)
  const held = `${userId} ${plan._id}`
  const current = await findCurrent(context.collections, userId, plan._id)
  if (ever.has(held) || (current?.status === STATUS.active && current.end === 0)) return ['user_id', 'permanent']
  refs.set(clientRef, wanted)
  if ((days ?? plan.duration) === 0) ever.add(held)
  return undefined
}

type GrantError = [field: string, rule: FieldRule]

/** The same grant again, or another one under a used reference. */
function compare(before: Granted, wanted: Granted): GrantError | 'repeated' {
  if (before.userId !== wanted.userId || before.planId !== wanted.planId) return ['client_ref', 'unique']
  return before.days === undefined || before.days === wanted.days ? 'repeated' : ['client_ref', 'other_days']
}
