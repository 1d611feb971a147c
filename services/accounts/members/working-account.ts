/** The account in which a session works: that of its user, or one of another user in which this user is a member. */
import type { Db } from '../../platform/database/mongo.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { type Account, toAccount } from '../account-status.ts'
import type { OpenSession } from '../login-sessions.ts'
import { chooseAccount } from '../store/sessions.ts'
import { findUser, listUsersById } from '../store/users.ts'
import type { AccountRole } from './rules/member-role.ts'
import { findMembership, listMembershipsFor } from './store/memberships.ts'

/** An account and what the user of the session is in it. */
export interface WorkingAccount {
  account: Account
  role: AccountRole
}

/**
 * The account of a session, read at each request: whoever is removed is out with the next one. Throws 403 `not_a_member`
 * and `account_suspended`; it never falls back to the own account, in which a change would be made that was meant for
 * the other one.
 */
export async function workingAccountOf(db: Db, { account, accountId }: OpenSession): Promise<WorkingAccount> {
  if (accountId === undefined || accountId === account.id) return { account, role: 'owner' }
  return accountOfMember(db, accountId, account.id)
}

/** The account of another user for a member of it. Throws 403 `not_a_member` and `account_suspended`. */
async function accountOfMember(db: Db, accountId: string, userId: string): Promise<WorkingAccount> {
  const [membership, owner] = await Promise.all([findMembership(db, accountId, userId), findUser(db, accountId)])
  if (!membership || !owner) throw new ProblemError('not_a_member')
  if (owner.status !== 'active')
    throw new ProblemError('account_suspended', sentence('detail.account_of_suspended', { name: owner.username }))
  // An owner may be an admin of the installation, and the members are not.
  return { account: { ...toAccount(owner), role: 'user' }, role: membership.role }
}

/** An account that a user may choose. */
export interface ChoosableAccount {
  id: string
  name: string
  role: AccountRole
  suspended: boolean
}

/** The own account, and then those of others in the order of joining. */
export async function accountsOf(db: Db, user: Pick<Account, 'id' | 'username'>): Promise<ChoosableAccount[]> {
  const joined = await listMembershipsFor(db, user.id)
  const owners = await listUsersById(
    db,
    joined.map(({ account_id: id }) => id),
  )
  const others = joined.flatMap(({ account_id: id, role }) => {
    const owner = owners.get(id)
    return owner ? [{ id, name: owner.username, role, suspended: owner.status !== 'active' }] : []
  })
  return [{ id: user.id, name: user.username, role: 'owner', suspended: false }, ...others]
}

/** Lets a session work in an account. Throws 403 `not_a_member` and `account_suspended`. */
export async function switchAccount(db: Db, sessionId: string, userId: string, accountId: string): Promise<void> {
  if (accountId !== userId) await accountOfMember(db, accountId, userId)
  await chooseAccount(db, sessionId, accountId === userId ? undefined : accountId)
}
