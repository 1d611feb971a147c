/** Invitations by mail: an admin names an address and a role, the person chooses user name and password. */
import { DAY_MS } from '../platform/durations.ts'
import { newId } from '../platform/ids.ts'
import { ProblemError } from '../platform/problems.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import type { Account } from './account-status.ts'
import { hashesOfLinkToken } from './link-tokens.ts'
import type { UserDeps } from './manage-accounts.ts'
import { hashPassword } from './password-hashing.ts'
import { insertAccountMail } from './store/account-mails.ts'
import {
  deleteInvitation,
  findOpenInvitation,
  type InvitationDoc,
  insertInvitation,
  takeInvitation,
  updateInvitation,
} from './store/invitations.ts'
import { insertUser, type UserDoc } from './store/users.ts'

/** How long the link is valid. */
const INVITATION_LIFE_MS = 7 * DAY_MS

/** Stores an invitation and its mail; 409 `conflict` when the address has one. */
export async function invite(
  { mongo, clock }: UserDeps,
  by: Account,
  { email, role, lang }: Pick<InvitationDoc, 'email' | 'role' | 'lang'>,
): Promise<InvitationDoc> {
  const now = clock.now()
  const invitation: InvitationDoc = {
    _id: newId('inv', now.getTime()),
    ...{ email, role, lang },
    invited_by: { user_id: by.id, name: by.username },
    created_at: now,
    expires_at: new Date(now.getTime() + INVITATION_LIFE_MS),
  }
  await mongo.transaction(async session => {
    if (!(await insertInvitation(mongo.db, invitation, session)))
      throw new ProblemError('conflict', sentence('detail.invited_already', { email }))
    await insertAccountMail(mongo.db, mailOf(invitation._id), now, INVITATION_LIFE_MS, session)
  })
  return invitation
}

/** Sends the mail again, with a new link, which ends the older one and is valid for the whole time. */
export function inviteAgain({ mongo, clock }: UserDeps, by: Account, id: string): Promise<InvitationDoc> {
  return mongo.transaction(async session => {
    const now = clock.now()
    const change = {
      expires_at: new Date(now.getTime() + INVITATION_LIFE_MS),
      invited_by: { user_id: by.id, name: by.username },
    }
    const invitation = found(await updateInvitation(mongo.db, id, change, session))
    await insertAccountMail(mongo.db, mailOf(id), now, INVITATION_LIFE_MS, session)
    return invitation
  })
}

/** Revokes an invitation: its link works no more. */
export async function revokeInvitation({ mongo }: UserDeps, id: string): Promise<InvitationDoc> {
  return found(await deleteInvitation(mongo.db, id))
}

/** The invitation of a link. Throws `link_invalid`. */
export async function readInvitation(
  { mongo, clock, secrets }: UserDeps & { secrets: Secrets },
  token: string,
): Promise<InvitationDoc> {
  const invitation = await findOpenInvitation(mongo.db, hashesOfLinkToken(secrets, token), clock.now())
  if (!invitation) throw new ProblemError('link_invalid')
  return invitation
}

/** What an invited person chooses. */
export interface Acceptance extends Pick<UserDoc, 'username' | 'lang' | 'tz'> {
  token: string
  password: string
}

/**
 * Creates the account of an invitation, whose address is confirmed by the link. Throws `link_invalid`, and `conflict` when
 * the name is taken: the link then still works.
 */
export async function acceptInvitation(
  deps: UserDeps & { secrets: Secrets },
  { token, username, password, lang, tz }: Acceptance,
): Promise<UserDoc> {
  const { mongo, clock, secrets } = deps
  const known = await readInvitation(deps, token)
  const hash = await hashPassword(password, known._id)
  return mongo.transaction(async session => {
    const now = clock.now()
    const invitation = await takeInvitation(mongo.db, hashesOfLinkToken(secrets, token), now, session)
    if (!invitation) throw new ProblemError('link_invalid')
    const { email, role } = invitation
    const _id = newId('usr', now.getTime())
    const user: UserDoc = {
      ...{ _id, username, email, role, lang, tz, password_hash: hash, created_at: now },
      status: 'active',
    }
    if (!(await insertUser(mongo.db, user, session)))
      throw new ProblemError('conflict', sentence('detail.account_exists', { name: username }))
    return user
  })
}

function mailOf(id: string) {
  return { kind: 'invitation' as const, invitation_id: id }
}

function found(invitation: InvitationDoc | undefined): InvitationDoc {
  if (!invitation) throw new ProblemError('not_found', sentence('detail.no_invitation'))
  return invitation
}
