/** Administrators: who may do what in which apps, and the sessions of the header `token`. */
import { randomBytes } from 'node:crypto'
import type { LoginLimiter } from '../../accounts/login-limiter.ts'
import { checkLogin, createUser } from '../../accounts/manage-accounts.ts'
import { passwordMark } from '../../accounts/password-hashing.ts'
import { foldUsername } from '../../accounts/rules/username.ts'
import { findUser, findUserByName, type UserDoc } from '../../accounts/store/users.ts'
import { isDuplicateKey } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { AdminDoc } from '../store/documents.ts'
import { EVERY_APP } from './rules/admin-rights.ts'
import {
  changeAdmin,
  dropAdminSession,
  dropAdminSessions,
  findAdmin,
  findAdminOf,
  findAdminSession,
  insertAdmin,
  insertAdminSession,
  otherActiveSupers,
  slideAdminSession,
} from './store/admins.ts'

/** A session ends so long after its last use… */
const IDLE_MS = 12 * HOUR_MS
/** …and in any case so long after the login. */
const LIFE_MS = 7 * DAY_MS
/** The idle end is moved at most this often. */
const SLIDE_MS = 5 * MINUTE_MS
/** Sessions of one administrator; the oldest ends first. */
const MAX_SESSIONS = 10

/** A session that is open. */
export interface AdminLogin {
  admin: AdminDoc
  token: string
  expiresAt: Date
}

/**
 * Logs in. Throws `invalid_login`, `login_locked` after too many failures, and `admin_disabled` for a right password
 * without rights here.
 */
export async function logIn(
  s: Subscriptions,
  limiter: LoginLimiter,
  { username, password, ip }: { username: string; password: string; ip: string },
): Promise<AdminLogin> {
  const account = await checkLogin({ ...s, limiter }, { username, password, ip }).catch((error: unknown) => {
    if (error instanceof ProblemError && error.code === 'rate_limited')
      throw new ProblemError('login_locked', undefined, {
        ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
      })
    throw error
  })
  const known = await adminOf(s, account, await findAdminOf(s.c, account._id))
  const now = s.clock.now()
  const token = `at_${randomBytes(32).toString('base64url')}`
  const expiresAt = new Date(now.getTime() + IDLE_MS)
  const session = {
    _id: idOf(s, token),
    admin_id: known._id,
    account_id: account._id,
    password: passwordMark(account.password_hash),
    created_at: now,
    seen_at: now,
    expires_at: expiresAt,
  }
  await insertAdminSession(s.c, session, MAX_SESSIONS)
  const admin = await changeAdmin(s.c, known._id, { last_login_at: now, last_login_ip: ip })
  return { admin: admin ?? known, token, expiresAt }
}

/** True for a token whose session this process found open when it last looked; anybody can make up the others. */
export function isKnownToken(s: Subscriptions, token: string): boolean {
  return s.memory.sessions.peek(idOf(s, token)) !== undefined
}

/** The administrator behind a token. Throws `session_invalid`, and `admin_disabled` after rights were taken. */
export async function readSession(s: Subscriptions, token: string): Promise<AdminDoc> {
  return s.memory.admins.get(idOf(s, token), () => loadSession(s, token))
}

async function loadSession(s: Subscriptions, token: string): Promise<AdminDoc> {
  const now = s.clock.now()
  const id = idOf(s, token)
  const session = await findAdminSession(s.c, idsOf(s, token), now)
  if (!session) {
    s.memory.sessions.delete(id)
    throw new ProblemError('session_invalid')
  }
  const admin = await loadAdmin(s, session.account_id, session.password)
  await s.memory.sessions.get(id, async () => true)
  if (now.getTime() - session.seen_at.getTime() >= SLIDE_MS) {
    const end = Math.min(now.getTime() + IDLE_MS, session.created_at.getTime() + LIFE_MS)
    await slideAdminSession(s.c, session._id, now, new Date(end))
  }
  return admin
}

/** The administrator that a panel account is. Throws `session_invalid` for one that is gone or suspended. */
export async function adminOfAccount(s: Subscriptions, accountId: string): Promise<AdminDoc> {
  return s.memory.admins.get(accountId, () => loadAdmin(s, accountId))
}

async function loadAdmin(s: Subscriptions, accountId: string, opened?: string): Promise<AdminDoc> {
  const [account, known] = await Promise.all([findUser(s.mongo.db, accountId), findAdminOf(s.c, accountId)])
  if (account?.status !== 'active') throw new ProblemError('session_invalid')
  // A reset in the panel or on the command line ends the sessions here as well.
  if (opened !== undefined && opened !== passwordMark(account.password_hash)) throw new ProblemError('session_invalid')
  return adminOf(s, account, known)
}

/** The role of a panel account; null for one without rights here. */
export async function roleOfAccount(s: Subscriptions, accountId: string): Promise<AdminDoc['role'] | null> {
  try {
    return (await adminOfAccount(s, accountId)).role
  } catch (error) {
    if (error instanceof ProblemError) return null
    throw error
  }
}

/** Ends the session of a token, or all sessions of its administrator. */
export async function logOut(s: Subscriptions, token: string, admin: AdminDoc, all: boolean): Promise<void> {
  if (all) return endSessions(s, admin.account_id)
  await dropAdminSession(s.c, idsOf(s, token))
  s.memory.admins.delete(idOf(s, token))
  return undefined
}

/** Ends all sessions of an account. */
export async function endSessions(s: Subscriptions, accountId: string): Promise<void> {
  await dropAdminSessions(s.c, accountId)
  s.memory.admins.clear()
}

/** An admin of the platform is a super administrator here from the first login on; everybody else must be made one. */
async function adminOf(s: Subscriptions, account: UserDoc, known: AdminDoc | undefined): Promise<AdminDoc> {
  const admin = known ?? (await firstTime(s, account))
  if (admin?.status !== '1') throw new ProblemError('admin_disabled')
  return admin
}

async function firstTime(s: Subscriptions, account: UserDoc): Promise<AdminDoc | undefined> {
  if (account.role !== 'admin') return undefined
  const admin = await newAdmin(s, account, { role: 'super', app_keys: [EVERY_APP], name: '', email: '' })
  try {
    await insertAdmin(s.c, admin)
  } catch (error) {
    if (!isDuplicateKey(error)) throw error // two first requests at once
  }
  return findAdminOf(s.c, account._id)
}

/** Rights and particulars of an administrator. */
export type AdminRights = Pick<AdminDoc, 'role' | 'app_keys' | 'name' | 'email'>

async function newAdmin(s: Subscriptions, account: UserDoc, rights: AdminRights): Promise<AdminDoc> {
  const now = s.clock.now()
  return {
    _id: await s.ids.next('admin'),
    account_id: account._id,
    username: account.username,
    ...rights,
    status: '1',
    created_at: now,
    updated_at: now,
  }
}

/**
 * Makes somebody an administrator: an account of that name is created, or an existing one gets the rights (its
 * password stays). Throws `name_taken` when it has rights already.
 */
export async function createAdmin(
  s: Subscriptions,
  actor: Actor,
  { username, password, ...rights }: AdminRights & { username: string; password: string },
): Promise<AdminDoc> {
  const name = foldUsername(username)
  const existing = await findUserByName(s.mongo.db, name)
  const account =
    existing ??
    (await createUser(s, { username: name, password, role: 'user', lang: 'zh', tz: s.config.BUSINESS_TZ })).user
  const admin = await newAdmin(s, account, rights)
  try {
    await record(s, actor, async session => {
      await insertAdmin(s.c, admin, session)
      return { result: undefined, deed: deedOf('admin.create', undefined, admin) }
    })
  } catch (error) {
    if (isDuplicateKey(error)) throw new ProblemError('name_taken')
    throw error
  }
  return admin
}

/**
 * Changes rights. Losing them ends all sessions at once. Nobody takes his own, nor those of the last super administrator:
 * `transition_refused`.
 */
export async function updateAdmin(
  s: Subscriptions,
  actor: Actor,
  id: number,
  change: { [K in keyof AdminRights]?: AdminRights[K] | undefined } & { status?: AdminDoc['status'] | undefined },
): Promise<AdminDoc> {
  if (actor.id === String(id) && (change.role ?? 'super') + (change.status ?? '1') !== 'super1')
    throw new ProblemError('transition_refused', 'Nobody can take away his own rights.')
  const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = await record(s, actor, async session => {
    const before = await findAdmin(s.c, id, session)
    if (!before) throw new ProblemError('record_not_found')
    if (
      isSuper(before) &&
      !isSuper({ ...before, ...fields }) &&
      !(await otherActiveSupers(s.c, s.mongo.db, id, session))
    )
      throw new ProblemError('transition_refused', 'This is the last super administrator; make another one first.')
    const changed = await changeAdmin(s.c, id, { ...fields, updated_at: s.clock.now() }, session)
    if (!changed) throw new ProblemError('record_not_found')
    return { result: changed, deed: deedOf('admin.update', before, changed) }
  })
  s.memory.admins.clear()
  if (after.status !== '1') await endSessions(s, after.account_id)
  return after
}

function isSuper({ role, status }: Pick<AdminDoc, 'role' | 'status'>): boolean {
  return role === 'super' && status === '1'
}

function deedOf(action: string, before: AdminDoc | undefined, after: AdminDoc) {
  return { action, appKey: '', target: { kind: 'admin', id: String(after._id) }, before, after }
}

/** The id of a token's session in the database and in memory: without SESSION_SECRET no row opens a session. */
function idOf({ secrets }: Subscriptions, token: string): string {
  return secrets.mac('session', token).toString('hex')
}

/** The ids that the session of a token may have in the database while SESSION_SECRET is being rotated. */
function idsOf({ secrets }: Subscriptions, token: string): string[] {
  return secrets.macs('session', token).map(mac => mac.toString('hex'))
}
