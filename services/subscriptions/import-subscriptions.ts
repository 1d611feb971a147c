/**
 * Grants periods from a CSV file: every row is checked first, against the rows before it too, and nothing is stored while
 * one is wrong.
 */
import { z } from 'zod'
import type { Actor, Subscriptions } from './context.ts'
import { parseCsv } from './rules/csv.ts'
import { type Fault, type FaultRule, fault, faultsOf, localise, type RawFault } from './rules/faults.ts'
import { id, integer, text } from './rules/fields.ts'
import type { Lang } from './rules/lang.ts'
import { STATUS } from './rules/period.ts'
import type { PlanDoc } from './store/documents.ts'
import { findPayment } from './store/payments.ts'
import { findPlan } from './store/plans.ts'
import { findCurrent } from './store/subscriptions.ts'
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

/** What is known by the rows before. */
interface Known {
  plans: Map<number, PlanDoc | undefined>
  /** Whom and what each reference is for. */
  refs: Map<string, string>
  /** Who holds which plan for ever. */
  ever: Set<string>
}

const METHOD = 'manual'
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
  const rows = parseCsv(file)?.flatMap((cells, index) => (isEmpty(cells) ? [] : [{ cells, row: index + 1 }]))
  const [heading, ...lines] = rows ?? []
  const columns = columnsOf(heading?.cells ?? [])
  if (!columns)
    return { total: 0, imported: 0, dry_run: dryRun, errors: [{ row: 1, field: '', rule: 'format', message: 'CSV' }] }
  const grants: Grant[] = []
  const errors: RowFault[] = []
  const known: Known = { plans: new Map(), refs: new Map(), ever: new Set() }
  for (const { cells, row } of lines) {
    const fields = Object.fromEntries(columns.map(({ name, place }) => [name, cells[place] ?? '']))
    const checked = await checkRow(s, appKey, fields, known)
    if ('faults' in checked) errors.push(...checked.faults.map(raw => ({ row, ...localise(raw, lang) })))
    else grants.push(checked)
    if (errors.length >= MAX_FAULTS) break
  }
  if (errors.length > 0 || dryRun) return { total: lines.length, imported: 0, dry_run: dryRun, errors }
  for (const grant of grants) await give(s, actor, appKey, grant)
  return { total: lines.length, imported: grants.length, dry_run: false, errors: [] }
}

const isEmpty = (cells: readonly string[]) => cells.length === 1 && cells[0] === ''

/** Where the columns stand: only what is asked for, a heading may be long. Undefined when one is missing that must be there. */
function columnsOf(heading: readonly string[]): { name: string; place: number }[] | undefined {
  if (!['user_id', 'plan_id', 'client_ref'].every(name => heading.includes(name))) return undefined
  return COLUMNS.map(name => ({ name, place: heading.indexOf(name) })).filter(({ place }) => place !== -1)
}

async function checkRow(
  s: Subscriptions,
  appKey: string,
  fields: Record<string, string>,
  known: Known,
): Promise<Grant | { faults: RawFault[] }> {
  const parsed = row.safeParse(fields)
  if (!parsed.success) return { faults: faultsOf(parsed.error, fields) }
  const { user_id, plan_id, days, client_ref } = parsed.data
  if (!known.plans.has(plan_id)) known.plans.set(plan_id, await findPlan(s.c, appKey, plan_id))
  const plan = known.plans.get(plan_id)
  const user = await findUser(s.c, appKey, user_id)
  const missing = [...(user ? [] : ['user_id']), ...(plan ? [] : ['plan_id'])]
  if (!plan || !user) return { faults: missing.map(field => fault(field, 'value')) }
  const grant = { userId: user_id, plan, days: days === '' ? undefined : days, clientRef: client_ref }
  const refused = await refusalOf(s, appKey, grant, known)
  return refused ? { faults: [fault(...refused)] } : grant
}

/** Why a period cannot be granted: its reference stands for something else, or the user holds the plan for ever. */
async function refusalOf(
  s: Subscriptions,
  appKey: string,
  { userId, plan, days, clientRef }: Grant,
  { refs, ever }: Known,
): Promise<[field: string, rule: FaultRule] | undefined> {
  const held = `${userId} ${plan._id}`
  const paid = await findPayment(s.c, { client_key: `${appKey}/${clientRef}` })
  const isGrant = paid?.method === METHOD && paid.payment_id === NO_PAYMENT_ID
  const before = paid ? (isGrant ? `${paid.user_id} ${paid.plan_id}` : '') : refs.get(clientRef)
  if (before !== undefined) return before === held ? undefined : ['client_ref', 'unique']
  const current = await findCurrent(s.c, userId, plan._id)
  if (ever.has(held) || (current?.status === STATUS.active && current.end === 0)) return ['user_id', 'permanent']
  refs.set(clientRef, held)
  if ((days ?? plan.duration) === 0) ever.add(held)
  return undefined
}

async function give(s: Subscriptions, actor: Actor, appKey: string, grant: Grant): Promise<void> {
  await subscribe(s, actor, {
    appKey,
    ...grant,
    method: METHOD,
    paymentId: NO_PAYMENT_ID,
    amountCents: 0,
    paidAt: s.clock.now(),
  })
}
