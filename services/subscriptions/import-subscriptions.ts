/** Grants periods from a CSV file: every row is checked first, and nothing is stored while one is wrong. */
import { z } from 'zod'
import type { Actor, Subscriptions } from './context.ts'
import { parseCsv } from './rules/csv.ts'
import { type Fault, faultsOf, localise } from './rules/faults.ts'
import { id, integer, text } from './rules/fields.ts'
import type { Lang } from './rules/lang.ts'
import type { PlanDoc } from './store/documents.ts'
import { findPlan } from './store/plans.ts'
import { findUser } from './store/users.ts'
import { NO_PAYMENT_ID, subscribe } from './subscribe.ts'

/** A fault with the line of the file that it stands on; the heading is line 1. */
export type RowFault = Fault & { row: number }

/** What an import did, or would have done. */
export interface Imported {
  total: number
  imported: number
  dry_run: boolean
  errors: RowFault[]
}

const row = z.object({
  user_id: id,
  plan_id: id,
  days: z.union([z.literal(''), integer(0, 36_500)]).optional(),
  client_ref: text(1, 64),
})

interface Grant {
  userId: number
  plan: PlanDoc
  days: number | undefined
  clientRef: string
}

const COLUMNS = Object.keys(row.shape)
/** Most faults that are told at once. */
const MAX_FAULTS = 100

/**
 * Imports the file. Its heading names user_id, plan_id, days (empty: that of the plan) and client_ref, by which a
 * second import of the same file changes nothing.
 */
export async function importSubscriptions(
  s: Subscriptions,
  actor: Actor,
  { appKey, file, dryRun, lang }: { appKey: string; file: string; dryRun: boolean; lang: Lang },
): Promise<Imported> {
  const rows = parseCsv(file)
  const [heading, ...lines] = rows ?? []
  if (!rows || !heading?.includes('user_id') || !heading.includes('plan_id') || !heading.includes('client_ref'))
    return { total: 0, imported: 0, dry_run: dryRun, errors: [{ row: 1, field: '', rule: 'format', message: 'CSV' }] }
  // Only what is asked for: a heading may be long, and there is one look at it for each line.
  const columns = COLUMNS.map(name => ({ name, place: heading.indexOf(name) })).filter(({ place }) => place !== -1)
  const grants: Grant[] = []
  const errors: RowFault[] = []
  const plans = new Map<number, PlanDoc | undefined>()
  for (const [index, cells] of lines.entries()) {
    const checked = await checkRow(
      s,
      appKey,
      Object.fromEntries(columns.map(({ name, place }) => [name, cells[place] ?? ''])),
      plans,
    )
    if ('faults' in checked) errors.push(...checked.faults.map(raw => ({ row: index + 2, ...localise(raw, lang) })))
    else grants.push(checked)
    if (errors.length >= MAX_FAULTS) break
  }
  if (errors.length > 0 || dryRun) return { total: lines.length, imported: 0, dry_run: dryRun, errors }
  for (const grant of grants) await give(s, actor, appKey, grant)
  return { total: lines.length, imported: grants.length, dry_run: false, errors: [] }
}

async function checkRow(
  s: Subscriptions,
  appKey: string,
  fields: Record<string, string>,
  plans: Map<number, PlanDoc | undefined>,
): Promise<Grant | { faults: ReturnType<typeof faultsOf> }> {
  const parsed = row.safeParse(fields)
  if (!parsed.success) return { faults: faultsOf(parsed.error, fields) }
  const { user_id, plan_id, days, client_ref } = parsed.data
  if (!plans.has(plan_id)) plans.set(plan_id, await findPlan(s.c, appKey, plan_id))
  const plan = plans.get(plan_id)
  const user = await findUser(s.c, appKey, user_id)
  const faults = [...(user ? [] : ['user_id']), ...(plan ? [] : ['plan_id'])]
  if (!plan || !user) return { faults: faults.map(field => ({ pointer: `/${field}`, code: 'value', message: '' })) }
  return { userId: user_id, plan, days: days === '' ? undefined : days, clientRef: client_ref }
}

async function give(s: Subscriptions, actor: Actor, appKey: string, grant: Grant): Promise<void> {
  await subscribe(s, actor, {
    appKey,
    ...grant,
    method: 'manual',
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: s.clock.now(),
  })
}
