/** What owner and admins of an account do with its members, and how a member leaves. */
import type { Session } from '../../platform/database/models.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { findUser, listUsersById, type UserDoc } from '../store/users.ts'
import { type AccountRole, includesRole, type MemberRole, mayAssign } from './rules/member-role.ts'
import { deleteMemberInvitationsBy } from './store/member-invitations.ts'
import {
  deleteMembership,
  findMembership,
  listMembershipsOf,
  lockMembers,
  type MembershipDoc,
  updateMembership,
} from './store/memberships.ts'

/** Dependencies of the use cases. */
export interface MemberDeps {
  mongo: Mongo
}

/** An account, and the user who acts in it. */
export interface Acting {
  accountId: string
  userId: string
}

/** A user of an account; without membership its owner. */
export interface Member {
  user: UserDoc
  role: AccountRole
  membership?: MembershipDoc
}

/** The owner and then the members of an account, in the order of joining. */
export async function listMembers({ mongo: { db } }: MemberDeps, accountId: string): Promise<Member[]> {
  const rows = await listMembershipsOf(db, accountId)
  const users = await listUsersById(db, [accountId, ...rows.map(({ user_id: id }) => id)])
  const owner = users.get(accountId)
  const members = rows.flatMap(membership => {
    const user = users.get(membership.user_id)
    return user ? [{ user, role: membership.role, membership }] : []
  })
  return owner ? [{ user: owner, role: 'owner' }, ...members] : members
}

/**
 * Changes the role of a member. Throws 404, 409 `conflict` for the owner, and 403 `forbidden` where the acting user may
 * assign the former or the new role not.
 */
export function changeRole(
  { mongo }: MemberDeps,
  by: Acting,
  memberId: string,
  role: MemberRole,
): Promise<Required<Member>> {
  return mongo.transaction(async session => {
    const { membership, user, rank } = await memberToChange(mongo, by, memberId, session)
    requireAssignable(rank, membership.role)
    requireAssignable(rank, role)
    const changed = found(await updateMembership(mongo.db, membership._id, role, session))
    if (!includesRole(role, 'admin')) await deleteMemberInvitationsBy(mongo.db, by.accountId, memberId, session)
    return { user, role, membership: changed }
  })
}

/**
 * Removes a member with the invitations that it has made, in which it could have named an address of its own. Throws as
 * {@link changeRole} does.
 */
export function removeMember({ mongo }: MemberDeps, by: Acting, memberId: string): Promise<UserDoc> {
  return mongo.transaction(async session => {
    const { membership, user, rank } = await memberToChange(mongo, by, memberId, session)
    requireAssignable(rank, membership.role)
    await remove(mongo, membership, session)
    return user
  })
}

/** Ends the membership of the acting user. Throws 404, and 409 `conflict` for the owner. */
export function leaveAccount({ mongo }: MemberDeps, { accountId, userId }: Acting): Promise<void> {
  refuseOwner(accountId, userId)
  return mongo.transaction(async session => {
    await lockMembers(mongo.db, accountId, session)
    await remove(mongo, found(await findMembership(mongo.db, accountId, userId, session)), session)
  })
}

/** The role that a user has in an account now. Throws 403 `not_a_member`. */
export async function currentRole(
  { db }: Mongo,
  { accountId, userId }: Acting,
  session: Session,
): Promise<AccountRole> {
  if (userId === accountId) return 'owner'
  const membership = await findMembership(db, accountId, userId, session)
  if (!membership) throw new ProblemError('not_a_member')
  return membership.role
}

/** Throws 403 `forbidden` unless a role may be assigned by another. */
export function requireAssignable(rank: AccountRole, role: MemberRole): void {
  if (!mayAssign(rank, role)) throw new ProblemError('forbidden', sentence('detail.role_not_assignable', { role }))
}

/** The role of the acting user is read under the lock: it may have been withdrawn since the request was authorised. */
async function memberToChange(mongo: Mongo, by: Acting, memberId: string, session: Session) {
  refuseOwner(by.accountId, memberId)
  await lockMembers(mongo.db, by.accountId, session)
  const rank = await currentRole(mongo, by, session)
  const membership = found(await findMembership(mongo.db, by.accountId, memberId, session))
  return { rank, membership, user: found(await findUser(mongo.db, memberId, session)) }
}

async function remove({ db }: Mongo, { _id, account_id, user_id }: MembershipDoc, session: Session): Promise<void> {
  await deleteMembership(db, _id, session)
  await deleteMemberInvitationsBy(db, account_id, user_id, session)
}

function refuseOwner(accountId: string, userId: string): void {
  if (accountId === userId) throw new ProblemError('conflict', sentence('detail.owner_stays'))
}

function found<T>(record: T | undefined): T {
  if (!record) throw new ProblemError('not_found', sentence('detail.no_member'))
  return record
}
