/** A new password with a link in a mail, for users without a session. */
import { HOUR_MS } from '../platform/durations.ts'
import { ProblemError } from '../platform/problems.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { hashesOfLinkToken } from './link-tokens.ts'
import type { UserDeps } from './manage-accounts.ts'
import { hashPassword, passwordMark } from './password-hashing.ts'
import { deleteAccountLinks, findAccountLink, takeAccountLink } from './store/account-links.ts'
import { insertAccountMail } from './store/account-mails.ts'
import { deleteSessionsOf } from './store/sessions.ts'
import { findUser, replacePassword, type UserDoc } from './store/users.ts'

/** A notice is of use for so long. */
const NOTICE_LIFE_MS = 24 * HOUR_MS

/**
 * Stores the request. Whose it is, and whether it is anybody's, is found out by the worker that sends the mail: so the
 * answer and its time are the same for names that exist and names that do not.
 */
export async function requestPasswordReset({ mongo, clock }: UserDeps, typed: string): Promise<void> {
  await insertAccountMail(mongo.db, { kind: 'password_reset', typed }, clock.now(), HOUR_MS)
}

/**
 * Sets the password of the account that the link is for, and ends its sessions and links. Throws `link_invalid` for a
 * link that was used, has expired, or was made before a newer one or another password.
 */
export async function completePasswordReset(
  { mongo, clock, secrets }: UserDeps & { secrets: Secrets },
  { token, password }: { token: string; password: string },
): Promise<UserDoc> {
  const { db } = mongo
  const hashes = hashesOfLinkToken(secrets, token)
  const now = clock.now()
  // Looked at first: a hash is only worth computing for a link that exists.
  const known = await findAccountLink(db, 'password_reset', hashes, now)
  if (!known) throw new ProblemError('link_invalid')
  const hash = await hashPassword(password, known.user_id)
  return mongo.transaction(async session => {
    const link = await takeAccountLink(db, 'password_reset', hashes, clock.now(), session)
    const user = link && (await findUser(db, link.user_id, session))
    if (user?.status !== 'active' || link?.password !== passwordMark(user.password_hash))
      throw new ProblemError('link_invalid')
    const changed = await replacePassword(db, user._id, user.password_hash, hash, session)
    if (!changed) throw new ProblemError('link_invalid')
    await deleteSessionsOf(db, user._id, undefined, session)
    await deleteAccountLinks(db, user._id, session)
    await insertAccountMail(db, { kind: 'password_was_reset', user_id: user._id }, now, NOTICE_LIFE_MS, session)
    return changed
  })
}
