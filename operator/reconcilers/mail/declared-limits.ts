/** The limits of sending that a resource declares for its domain or login. */
import { findAccount } from '../../../services/accounts/find-account.ts'
import { noteDeclaredLimits } from '../../../services/mail/declared-limits.ts'
import { declareLimit } from '../../../services/mail/limits/declare-limit.ts'
import { defaultLimits } from '../../../services/mail/limits/find-limits.ts'
import type { SendingLimits } from '../../resources/sending-limits.ts'
import type { ConditionState } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'

/** Fields of the resource by the names of the API. */
const FIELDS = {
  recipients_per_second: 'recipientsPerSecond',
  burst: 'burst',
  recipients_per_hour: 'recipientsPerHour',
  recipients_per_day: 'recipientsPerDay',
} as const

/** What is limited, and whether its record says already that a resource declares its limits. */
interface Limited {
  scope: 'credential' | 'domain'
  id: string
  name: string
  isDeclared: boolean
}

/** `changed`: they were not as declared. `refused`: the account may not have them, with the condition Accepted. */
export interface AppliedLimits {
  changed: boolean
  refused?: { condition: ConditionState; requeueAfterMs: number | undefined }
}

/**
 * Sets the limits as their owner, so that those of the account bound them. None are declared without the field: then people
 * may set them.
 */
export async function applyLimits(
  context: OperatorContext,
  userId: string,
  { scope, id, name, isDeclared }: Limited,
  limits: SendingLimits,
): Promise<AppliedLimits> {
  const { db } = context.mongo
  if (isDeclared !== (limits !== undefined)) await noteDeclaredLimits(db, scope, id, limits !== undefined)
  const account = limits && (await findAccount(db, userId))
  if (!limits || !account) return { changed: false }
  const amounts = {
    recipients_per_second: limits.recipientsPerSecond === undefined ? undefined : Number(limits.recipientsPerSecond),
    burst: limits.burst,
    recipients_per_hour: limits.recipientsPerHour,
    recipients_per_day: limits.recipientsPerDay,
  }
  const deps = { mongo: context.mongo, clock: context.clock, defaultLimits: defaultLimits(context.config) }
  const owner = { id: account._id, username: account.username, recipientsPerDay: account.recipients_per_day ?? 0 }
  try {
    return { changed: await declareLimit(deps, owner, { id, name }, { scope, ...amounts }) }
  } catch (error) {
    return refusedBy(refusalOf(error, fieldOf))
  }
}

function refusedBy({ conditions: [condition], requeueAfterMs }: Outcome): AppliedLimits {
  return condition ? { changed: false, refused: { condition, requeueAfterMs } } : { changed: false }
}

function fieldOf(pointer: string): string {
  const name = pointer.slice(1)
  return `spec.sendingLimits.${name in FIELDS ? FIELDS[name as keyof typeof FIELDS] : name}`
}
