/** Checks one row of an import against the database and the rows before it. */
import { z } from 'zod'
import { findPlan } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import { findPayment } from '../payments/store/payments-and-orders.ts'
import { findUser } from '../people/store/end-users.ts'
import { type FaultRule, fault, faultsOf, type RawFault } from '../rules/field-errors.ts'
import { id, integer, text } from '../rules/field-schemas.ts'
import { STATUS } from '../rules/period.ts'
import type { PlanDoc } from '../store/documents.ts'
import { NO_PAYMENT_ID } from './start-or-renew.ts'
import { findCurrent } from './store/subscriptions.ts'

/** The payment method of periods that are granted. */
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
  /** Undefined: those of the plan. */
  days: number | undefined
  clientRef: string
}

/** What a reference is for. */
interface Granted {
  userId: number
  planId: number
  /** Null: those of the plan. Undefined: not known. */
  days: number | null | undefined
}

/** What is known by the rows before; begins empty. */
export interface KnownGrants {
  plans: Map<number, PlanDoc | undefined>
  refs: Map<string, Granted>
  /** Who holds which plan for ever. */
  ever: Set<string>
}

/** The columns that a row may have. */
export const GRANT_COLUMNS = Object.keys(row.shape)

/** A row as a grant, or why it is none: it was granted before with the same values, or its fields are wrong. */
export async function checkGrant(
  s: Subscriptions,
  appKey: string,
  fields: Record<string, string>,
  known: KnownGrants,
): Promise<Grant | 'repeated' | { faults: RawFault[] }> {
  const parsed = row.safeParse(fields)
  if (!parsed.success) return { faults: faultsOf(parsed.error, fields) }
  const { user_id, plan_id, days, client_ref } = parsed.data
  if (!known.plans.has(plan_id)) known.plans.set(plan_id, await findPlan(s.c, appKey, plan_id))
  const plan = known.plans.get(plan_id)
  const user = await findUser(s.c, appKey, user_id)
  const missing = [...(user ? [] : ['user_id']), ...(plan ? [] : ['plan_id'])]
  if (!plan || !user) return { faults: missing.map(field => fault(field, 'value')) }
  const grant = { userId: user_id, plan, days: days === '' ? undefined : days, clientRef: client_ref }
  const verdict = await verdictOf(s, appKey, grant, known)
  if (verdict === 'repeated') return verdict
  return verdict ? { faults: [fault(...verdict)] } : grant
}

/** What hinders a grant: its reference stands for something else, or for the same already, or the user holds the plan for ever. */
async function verdictOf(
  s: Subscriptions,
  appKey: string,
  { userId, plan, days, clientRef }: Grant,
  { refs, ever }: KnownGrants,
): Promise<Hindrance | 'repeated' | undefined> {
  const paid = await findPayment(s.c, { client_key: `${appKey}/${clientRef}` })
  if (paid && !(paid.method === GRANT_METHOD && paid.payment_id === NO_PAYMENT_ID)) return ['client_ref', 'unique']
  const wanted: Granted = { userId, planId: plan._id, days: days ?? null }
  const before = paid ? { userId: paid.user_id, planId: paid.plan_id, days: paid.days } : refs.get(clientRef)
  if (before) return compare(before, wanted)
  const held = `${userId} ${plan._id}`
  const current = await findCurrent(s.c, userId, plan._id)
  if (ever.has(held) || (current?.status === STATUS.active && current.end === 0)) return ['user_id', 'permanent']
  refs.set(clientRef, wanted)
  if ((days ?? plan.duration) === 0) ever.add(held)
  return undefined
}

type Hindrance = [field: string, rule: FaultRule]

/** The same again, or another grant under a reference that was used. */
function compare(before: Granted, wanted: Granted): Hindrance | 'repeated' {
  if (before.userId !== wanted.userId || before.planId !== wanted.planId) return ['client_ref', 'unique']
  return before.days === undefined || before.days === wanted.days ? 'repeated' : ['client_ref', 'other_days']
}
