/** What admins do with accounts, and what an account does with itself. Refusals are thrown as problems. */

import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/database/mongo.ts'
import { newId } from '../platform/ids.ts'
import type { ManagedBy } from '../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import { type LoginLimiter, limitProblem } from './login-limiter.ts'
import { hashPassword, makePassword, passwordMark, verifyPassword } from './password-hashing.ts'
import { foldUsername } from './rules/username.ts'
import { deleteSessionsOf, markSession } from './store/sessions.ts'
import {
  findUser,
  findUserByName,
  insertUser,
  otherActiveAdmins,
  replacePassword,
  type UserDoc,
  updateUser,
} from './store/users.ts'

/** Dependencies of the use cases. */
export interface UserDeps {
  mongo: Mongo
  clock: Clock
}

/** A new account; `username` is folded and checked, a missing password is made. */
export interface NewUser extends Pick<UserDoc, 'username' | 'role' | 'lang' | 'tz'> {
  password?: string | undefined
  /** To how many recipients it may send in a day; 0 = no limit. */
  recipientsPerDay?: number
  managedBy?: ManagedBy
}

/** An account and the password that was made for it, if one was. */
export interface UserAndPassword {
  user: UserDoc
  password?: string
}

/** Creates an account; 409 `conflict` when the name is taken. */
export async function createUser({ mongo, clock }: UserDeps, input: NewUser): Promise<UserAndPassword> {
  const password = input.password ?? makePassword()
  const now = clock.now()
  const user: UserDoc = {
    _id: newId('usr', now.getTime()),
    username: input.username,
    role: input.role,
    status: 'active',
    password_hash: await hashPassword(password),
    lang: input.lang,
    tz: input.tz,
    ...(input.recipientsPerDay ? { recipients_per_day: input.recipientsPerDay } : {}),
    ...(input.managedBy ? { managed_by: input.managedBy } : {}),
    created_at: now,
  }
  if (!(await insertUser(mongo.db, user)))
    throw new ProblemError('conflict', sentence('detail.account_exists', { name: input.username }))
  return input.password === undefined ? { user, password } : { user }
}

/** The account, or 404. */
export async function getUser({ mongo }: UserDeps, id: string): Promise<UserDoc> {
  return found(await findUser(mongo.db, id))
}

/** Suspends an account and ends its sessions; 409 `conflict` for the last active admin. Again: nothing more happens. */
export async function suspendUser({ mongo }: UserDeps, id: string): Promise<UserDoc> {
  const user = await mongo.transaction(async session => {
    if ((await otherActiveAdmins(mongo.db, id, session)) === 0)
      throw new ProblemError('conflict', sentence('detail.last_admin'))
    return updateUser(mongo.db, id, { status: 'suspended' }, session)
  })
  await deleteSessionsOf(mongo.db, id)
  return found(user)
}

/** Reactivates an account. */
export async function unsuspendUser({ mongo }: UserDeps, id: string): Promise<UserDoc> {
  return found(await updateUser(mongo.db, id, { status: 'active' }))
}

/** Sets to how many recipients an account may send in a day; 0 = no limit. */
export async function changeLimit({ mongo }: UserDeps, id: string, recipientsPerDay: number): Promise<UserDoc> {
  return found(await updateUser(mongo.db, id, { recipients_per_day: recipientsPerDay }))
}

/** Sets a password, a made one unless given, and ends all sessions of the account. */
export async function resetPassword(
  { mongo }: UserDeps,
  id: string,
  given: string | undefined,
): Promise<UserAndPassword> {
  const password = given ?? makePassword()
  const user = found(await updateUser(mongo.db, id, { password_hash: await hashPassword(password) }))
  await deleteSessionsOf(mongo.db, id)
  return given === undefined ? { user, password } : { user }
}

/** Ends all sessions of an account, those of the Subscription Administration API too. */
export async function endAllSessions({ mongo, clock }: UserDeps, id: string): Promise<UserDoc> {
  const user = found(await updateUser(mongo.db, id, { sessions_from: clock.now() }))
  await deleteSessionsOf(mongo.db, id)
  return user
}

/** Changes language and time zone of an account; what is absent stays. */
export async function changeSettings(
  { mongo }: UserDeps,
  id: string,
  { lang, tz }: { lang?: UserDoc['lang'] | undefined; tz?: string | undefined },
): Promise<UserDoc> {
  const change = { ...(lang === undefined ? {} : { lang, lang_chosen: true }), ...(tz === undefined ? {} : { tz }) }
  return found(Object.keys(change).length > 0 ? await updateUser(mongo.db, id, change) : await findUser(mongo.db, id))
}

/** A password change of a logged-in account. */
export interface PasswordChange {
  userId: string
  /** Stays open; all others end. */
  sessionId: string | undefined
  current: string
  next: string
  ip: string
}

/** Changes the own password. A wrong current one counts as a failed login: 401 `invalid_login`, 429 `rate_limited`. */
export async function changePassword(
  deps: UserDeps & { limiter: LoginLimiter },
  { userId, sessionId, current, next, ip }: PasswordChange,
): Promise<UserDoc> {
  const { db } = deps.mongo
  const { username } = found(await findUser(db, userId))
  const checked = await checkLogin(deps, { username, password: current, ip })
  const hash = await hashPassword(next, userId)
  return deps.mongo.transaction(async session => {
    const changed = await replacePassword(db, userId, checked.password_hash, hash, session)
    if (!changed) throw new ProblemError('invalid_login') // it was reset since it was checked; that one stays
    if (sessionId !== undefined) await markSession(db, sessionId, passwordMark(hash), session)
    await deleteSessionsOf(db, userId, sessionId, session)
    return changed
  })
}

/** Checks name and password of a login: 401 `invalid_login`, 429 `rate_limited` with the time to wait. */
export async function checkLogin(
  { mongo, limiter }: UserDeps & { limiter: LoginLimiter },
  { username, password, ip }: { username: string; password: string; ip: string },
): Promise<UserDoc> {
  const name = foldUsername(username)
  const outcome = await limiter.guard(name, ip, async () => {
    const user = await findUserByName(mongo.db, name)
    const fits = await verifyPassword(user?.password_hash, password)
    return fits && user?.status === 'active' ? user : undefined
  })
  if (outcome.kind === 'ok') return outcome.value
  if (outcome.kind === 'refused') throw new ProblemError('invalid_login')
  throw limitProblem(outcome)
}

function found(user: UserDoc | undefined): UserDoc {
  if (!user) throw new ProblemError('not_found', sentence('detail.no_account'))
  return user
}
