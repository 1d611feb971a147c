/** The account that a Kubernetes namespace acts for. It has no login: its password is random and not stored. */

import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/database/mongo.ts'
import type { ManagedBy } from '../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import { createUser } from './manage-accounts.ts'
import { findNamespaceUsers, findUserByName, type UserDoc } from './store/users.ts'

/**
 * The account with this name that belongs to the namespace; created when missing. 409 `conflict` when a person has an
 * account with the name: a namespace must not act for it.
 */
export async function ensureNamespaceAccount(
  deps: { mongo: Mongo; clock: Clock },
  username: string,
  namespace: string,
): Promise<UserDoc> {
  const known = (await findUserByName(deps.mongo.db, username)) ?? (await create(deps, username, namespace))
  if (known.managed_by?.kind === 'Namespace' && known.managed_by.name === namespace) return known
  throw new ProblemError('conflict', sentence('detail.foreign_account', { name: username, namespace }))
}

/** The accounts of all namespaces that ever had one, with the name of the namespace. */
export async function listNamespaceAccounts({ mongo }: { mongo: Mongo }): Promise<{ id: string; namespace: string }[]> {
  const accounts = await findNamespaceUsers(mongo.db)
  return accounts.flatMap(({ _id, managed_by }) => (managed_by ? [{ id: _id, namespace: managed_by.name }] : []))
}

async function create(deps: { mongo: Mongo; clock: Clock }, username: string, namespace: string): Promise<UserDoc> {
  const managedBy: ManagedBy = { kind: 'Namespace', namespace, name: namespace, uid: '' }
  try {
    return (await createUser(deps, { username, role: 'user', lang: 'en', tz: 'UTC', managedBy })).user
  } catch (error) {
    const known = await findUserByName(deps.mongo.db, username)
    if (known) return known // another process was faster
    throw error
  }
}
