/** The address of a user: entered with the password, in effect once a link that was sent to it is opened. */

import type { Session } from '../platform/database/mongo.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ProblemError } from '../platform/problems.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { hashesOfLinkToken } from './link-tokens.ts'
import type { LoginLimiter } from './login-limiter.ts'
import { checkLogin, getUser, type UserDeps } from './manage-accounts.ts'
import { passwordMark } from './password-hashing.ts'
import { deleteAccountLinks, takeAccountLink } from './store/account-links.ts'
import { insertAccountMail } from './store/account-mails.ts'
import { findUser, setEmail, type UserDoc } from './store/users.ts'

/** What a user enters. */
export interface EmailChange {
  userId: string
  /** null removes the address at once. */
  email: string | null
  password: string
  ip: string
}

/**
 * Sends a link to a new address, or removes the address. A wrong password counts as a failed login: 401 `invalid_login`,
 * 429 `rate_limited`.
 */
export async function changeEmail(
  deps: UserDeps & { limiter: LoginLimiter },
  { userId, email, password, ip }: EmailChange,
): Promise<UserDoc> {
  const { mongo, clock } = deps
  const { username } = await getUser(deps, userId)
  const user = await checkLogin(deps, { username, password, ip })
  if (email === user.email) return user
  const now = clock.now()
  if (email !== null) {
    await insertAccountMail(mongo.db, { kind: 'confirm_email', user_id: userId, email }, now, DAY_MS)
    return user
  }
  await mongo.transaction(async session => {
    await deleteAccountLinks(mongo.db, userId, session)
    await put(deps, userId, undefined, session)
  })
  return getUser(deps, userId)
}

/** Puts the address in effect that the link was sent to. Throws `link_invalid`, see {@link completePasswordReset}. */
export function confirmEmail(deps: UserDeps & { secrets: Secrets }, token: string): Promise<UserDoc> {
  const { mongo, clock, secrets } = deps
  return mongo.transaction(async session => {
    const link = await takeAccountLink(
      mongo.db,
      'confirm_email',
      hashesOfLinkToken(secrets, token),
      clock.now(),
      session,
    )
    const user = link && (await findUser(mongo.db, link.user_id, session))
    if (user?.status !== 'active' || link?.password !== passwordMark(user.password_hash))
      throw new ProblemError('link_invalid')
    await deleteAccountLinks(mongo.db, user._id, session) // a reset link to the former address as well
    await put(deps, user._id, link.email, session)
    return { ...user, email: link.email }
  })
}

/** Sets the address and tells the former one. */
async function put(
  { mongo, clock }: UserDeps,
  userId: string,
  email: string | undefined,
  session: Session,
): Promise<void> {
  const former = (await findUser(mongo.db, userId, session))?.email
  await setEmail(mongo.db, userId, email, session)
  if (former === undefined || former === email) return
  const notice = { kind: 'email_was_changed' as const, user_id: userId, email: former }
  await insertAccountMail(mongo.db, notice, clock.now(), DAY_MS, session)
}
