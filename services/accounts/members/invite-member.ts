/** Invitations to an account: a user who has one accepts with a login, another person chooses user name and password. */
import type { Session } from '../../platform/database/models.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { Account } from '../account-status.ts'
import { hashesOfLinkToken } from '../link-tokens.ts'
import type { UserDeps } from '../manage-accounts.ts'
import { hashPassword } from '../password-hashing.ts'
import { insertAccountMail } from '../store/account-mails.ts'
import { findUser, insertUser, type UserDoc } from '../store/users.ts'
import { type Acting, currentRole, requireAssignable } from './manage-members.ts'
import {
  deleteMemberInvitation,
  findMemberInvitationOf,
  findOpenMemberInvitation,
  insertMemberInvitation,
  listMemberInvitations,
  type MemberInvitationDoc,
  takeMemberInvitation,
  updateMemberInvitation,
} from './store/member-invitations.ts'
import {
  insertMembership,
  listMembershipsFor,
  listMembershipsOf,
  lockMembers,
  MAX_MEMBERS,
} from './store/memberships.ts'

/** How long the link is valid. */
const INVITATION_LIFE_MS = 7 * DAY_MS

/** Who invites to which account. */
export interface Inviting {
  accountId: string
  by: Pick<Account, 'id' | 'username'>
}

/**
 * Stores an invitation and its mail. Throws 403 `forbidden` for a role that the inviting user may not assign, and 409
 * `conflict` when the address is invited already or the account is full.
 */
export function inviteMember(
  { mongo, clock }: UserDeps,
  inviting: Inviting,
  { email, role, lang }: Pick<MemberInvitationDoc, 'email' | 'role' | 'lang'>,
): Promise<MemberInvitationDoc> {
  const { accountId, by } = inviting
  const now = clock.now()
  const invitation: MemberInvitationDoc = {
    _id: newId('mbi', now.getTime()),
    account_id: accountId,
    ...{ email, role, lang },
    invited_by: { user_id: by.id, name: by.username },
    created_at: now,
    expires_at: new Date(now.getTime() + INVITATION_LIFE_MS),
  }
  return mongo.transaction(async session => {
    await lockMembers(mongo.db, accountId, session)
    requireAssignable(await currentRole(mongo, actingOf(inviting), session), role)
    const members = await listMembershipsOf(mongo.db, accountId, session)
    const invitations = await listMemberInvitations(mongo.db, accountId, MAX_MEMBERS, session)
    if (members.length + invitations.length >= MAX_MEMBERS) throw tooMany()
    if (!(await insertMemberInvitation(mongo.db, invitation, session)))
      throw new ProblemError('conflict', sentence('detail.invited_already', { email }))
    await insertAccountMail(mongo.db, mailOf(invitation._id), now, INVITATION_LIFE_MS, session)
    return invitation
  })
}

/** Sends the mail again, with a new link, which ends the older one. Throws 404, and 403 as {@link inviteMember} does. */
export function inviteMemberAgain(
  { mongo, clock }: UserDeps,
  inviting: Inviting,
  id: string,
): Promise<MemberInvitationDoc> {
  return mongo.transaction(async session => {
    await invitationToChange({ mongo }, inviting, id, session)
    const now = clock.now()
    const change = {
      expires_at: new Date(now.getTime() + INVITATION_LIFE_MS),
      invited_by: { user_id: inviting.by.id, name: inviting.by.username },
    }
    await insertAccountMail(mongo.db, mailOf(id), now, INVITATION_LIFE_MS, session)
    return found(await updateMemberInvitation(mongo.db, id, change, session))
  })
}

/** Revokes an invitation: its link works no more. Throws 404, and 403 as {@link inviteMember} does. */
export function revokeMemberInvitation(
  { mongo }: UserDeps,
  inviting: Inviting,
  id: string,
): Promise<MemberInvitationDoc> {
  return mongo.transaction(async session => {
    const invitation = await invitationToChange({ mongo }, inviting, id, session)
    await deleteMemberInvitation(mongo.db, id, session)
    return invitation
  })
}

/** An invitation with the name of its account. */
export interface OpenMemberInvitation {
  invitation: MemberInvitationDoc
  accountName: string
}

/** The invitation of a link. Throws `link_invalid`, also while the account is suspended. */
export async function readMemberInvitation(
  { mongo, clock, secrets }: JoinDeps,
  token: string,
): Promise<OpenMemberInvitation> {
  const invitation = await findOpenMemberInvitation(mongo.db, hashesOfLinkToken(secrets, token), clock.now())
  const owner = invitation && (await findUser(mongo.db, invitation.account_id))
  if (!invitation || owner?.status !== 'active') throw new ProblemError('link_invalid')
  return { invitation, accountName: owner.username }
}

/** Dependencies of accepting. */
export type JoinDeps = UserDeps & { secrets: Secrets }

/**
 * Makes the user a member. Throws `link_invalid`, and 409 `conflict` for a user who has confirmed another address than the
 * invited one, is the owner or a member already, or works in too many accounts: the link then still works.
 */
export async function joinAccount(deps: JoinDeps, token: string, userId: string): Promise<MemberInvitationDoc> {
  await readMemberInvitation(deps, token)
  return deps.mongo.transaction(session => join(deps, token, userId, session))
}

/** What an invited person without a user chooses. */
export interface NewMember extends Pick<UserDoc, 'username' | 'tz'> {
  token: string
  password: string
  /** That of the invitation unless given. */
  lang?: UserDoc['lang'] | undefined
}

/**
 * Creates a user, whose address is confirmed by the link, and makes it a member. Throws `link_invalid`, and 409 `conflict`
 * when the name is taken: the link then still works.
 */
export async function joinAsNewUser(
  deps: JoinDeps,
  { token, username, password, lang, tz }: NewMember,
): Promise<{ user: UserDoc; invitation: MemberInvitationDoc }> {
  const { mongo, clock } = deps
  const known = (await readMemberInvitation(deps, token)).invitation
  const hash = await hashPassword(password, known._id)
  return mongo.transaction(async session => {
    const now = clock.now()
    const user: UserDoc = {
      ...{ _id: newId('usr', now.getTime()), username, email: known.email, role: 'user', lang: lang ?? known.lang, tz },
      ...{ password_hash: hash, created_at: now, status: 'active' },
    }
    if (!(await insertUser(mongo.db, user, session)))
      throw new ProblemError('conflict', sentence('detail.account_exists', { name: username }))
    return { user, invitation: await join(deps, token, user._id, session) }
  })
}

async function join(
  { mongo: { db }, clock, secrets }: JoinDeps,
  token: string,
  userId: string,
  session: Session,
): Promise<MemberInvitationDoc> {
  const now = clock.now()
  const invitation = await takeMemberInvitation(db, hashesOfLinkToken(secrets, token), now, session)
  const user = await findUser(db, userId, session)
  if (!invitation || !user) throw new ProblemError('link_invalid')
  const { account_id: accountId, email, role, invited_by: by } = invitation
  // Whoever has the link may join, but not by mistake as another user than the one who was meant.
  if (user.email !== undefined && user.email !== email)
    throw new ProblemError('conflict', sentence('detail.other_address', { email }))
  const conflict = new ProblemError('conflict', sentence('detail.member_already', { name: user.username }))
  if (userId === accountId) throw conflict
  await lockMembers(db, accountId, session)
  if ((await listMembershipsFor(db, userId, session)).length >= MAX_MEMBERS) throw tooMany()
  const membership = {
    ...{ _id: newId('mbr', now.getTime()), account_id: accountId, user_id: userId, role },
    ...{ added_by: by, added_at: now },
  }
  if (!(await insertMembership(db, membership, session))) throw conflict
  return invitation
}

async function invitationToChange(
  { mongo }: Pick<UserDeps, 'mongo'>,
  inviting: Inviting,
  id: string,
  session: Session,
): Promise<MemberInvitationDoc> {
  await lockMembers(mongo.db, inviting.accountId, session)
  const rank = await currentRole(mongo, actingOf(inviting), session)
  const invitation = found(await findMemberInvitationOf(mongo.db, inviting.accountId, id, session))
  requireAssignable(rank, invitation.role)
  return invitation
}

function actingOf({ accountId, by }: Inviting): Acting {
  return { accountId, userId: by.id }
}

function mailOf(id: string) {
  return { kind: 'member_invitation' as const, invitation_id: id }
}

function tooMany(): ProblemError {
  return new ProblemError('conflict', sentence('detail.members', { count: MAX_MEMBERS }))
}

function found(invitation: MemberInvitationDoc | undefined): MemberInvitationDoc {
  if (!invitation) throw new ProblemError('not_found', sentence('detail.no_invitation'))
  return invitation
}
