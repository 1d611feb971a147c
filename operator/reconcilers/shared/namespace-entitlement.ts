/**
 * Whether a namespace may still act for the account of a record. Determined from the record, not from the spec: a
 * resource that loses its right may name another owner by the time it is deleted.
 */
import { findAccount } from '../../../services/accounts/find-account.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { bad, type ConditionState } from './conditions.ts'
import { OWNERS_ANNOTATION } from './namespace-owners.ts'
import { type OperatorContext, ownersOf } from './operator-context.ts'
import type { Outcome } from './reconcile.ts'

/** The account of a record, and whether resources of the namespace may act for it. */
export interface Entitlement {
  /** Name of the account; undefined when it does not exist. */
  username: string | undefined
  allowed: boolean
}

/** Reads the account, and the Namespace only where the account is not the namespace's own. */
export async function entitlementOf(
  context: Pick<OperatorContext, 'mongo' | 'writer'>,
  namespace: string,
  userId: string,
): Promise<Entitlement> {
  const user = await findAccount(context.mongo.db, userId)
  if (!user) return { username: undefined, allowed: false }
  const { username, managed_by: owner } = user
  const isOwn = owner?.kind === 'Namespace' && owner.name === namespace
  return { username, allowed: isOwn || (await ownersOf(context, namespace)()).includes(username) }
}

/**
 * The condition of a resource whose namespace may not act for the account any more; `effect` describes what happened to
 * the record.
 */
export function withdrawnCondition(namespace: string, { username }: Entitlement, effect: Sentence): ConditionState {
  const annotation = OWNERS_ANNOTATION
  const why =
    username === undefined
      ? sentence('resource.account_gone', { effect, annotation })
      : sentence('resource.account_withdrawn', { namespace, account: username, effect, annotation })
  return bad('Accepted', 'OwnerNotAllowed', why)
}

/** The event of a withdrawal. */
export function withdrawnEvent(note: string): EventInput {
  return { type: 'Warning', reason: 'AccessWithdrawn', action: 'Withdraw', note }
}

/** The outcome of a withdrawn login or token; the event is recorded once. */
export function withdrawnOutcome(condition: ConditionState, isNews: boolean): Outcome {
  return { conditions: [condition], events: isNews ? [withdrawnEvent(condition.message)] : [] }
}
