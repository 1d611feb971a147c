/** The account that a resource acts for: that of its namespace, or one that it names and its Namespace lists. */
import { findAccountByName, type UserDoc } from '../../../services/accounts/find-account.ts'
import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { bad, type ConditionState } from './conditions.ts'
import { mayOwn, namespaceAccount, OWNERS_ANNOTATION } from './namespace-owners.ts'
import { type OperatorContext, ownersOf } from './operator-context.ts'

/** The account with this name, if resources of the namespace may act for it; the namespace's own is created when missing. */
export async function accountOf(
  context: OperatorContext,
  namespace: string,
  username: string,
): Promise<UserDoc | { condition: ConditionState }> {
  if (!(await mayOwn(namespace, username, ownersOf(context, namespace))))
    return refused(
      'OwnerNotAllowed',
      sentence('resource.account_not_allowed', { namespace, account: username, annotation: OWNERS_ANNOTATION }),
    )
  if (username === namespaceAccount(namespace)) {
    try {
      return await ensureNamespaceAccount(context, username, namespace)
    } catch (error) {
      if (error instanceof ProblemError) return refused('OwnerNotAllowed', error.sentence)
      throw error
    }
  }
  const account = await findAccountByName(context.mongo.db, username)
  return account ?? refused('OwnerNotFound', sentence('resource.account_unknown', { account: username }))
}

function refused(reason: string, message: Sentence): { condition: ConditionState } {
  return { condition: bad('Accepted', reason, message) }
}
