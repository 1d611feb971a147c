/** Administrators: their rights in apps, and the sessions of the header `token`. */
import { randomBytes } from 'node:crypto'
import type { LoginLimiter } from '../../accounts/login-limiter.ts'
import { checkLogin, createUser } from '../../accounts/manage-accounts.ts'
import { passwordMark } from '../../accounts/password-hashing.ts'
import { foldUsername } from '../../accounts/rules/username.ts'
import { checkCode, confirmedFactor } from '../../accounts/second-factor.ts'
import { findUser, findUserByName, type UserDoc } from '../../accounts/store/users.ts'
import { isDuplicateKey } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { AdminDoc, AdminSessionDoc } from '../store/models.ts'
import { EVERY_APP } from './rules/admin-rights.ts'
import {
  changeAdmin,
  dropAdminSession,
  dropAdminSessions,
  findAdmin,
  findAdminOf,
  findAdminSession,
  insertAdminSession,
  otherActiveSupers,
  slideAdminSession,
} from './store/admins.ts'

/** A session ends after this time without use… */
const IDLE_MS = 12 * HOUR_MS
/** …and in any case this long after the login. */
const LIFE_MS = 7 * DAY_MS
/** Smallest interval between two updates of the idle end. */
const SLIDE_MS = 5 * MINUTE_MS
/** Sessions of one administrator; the oldest ends first. */
const MAX_SESSIONS = 10

/** What a login presents. */
export interface AdminLoginRequest {
  username: string
  password: string
  /** Of the second factor; needed by accounts that have one. */
  code?: string | undefined
  /** Counts wrong codes. */
  codes: LoginLimiter
  ip: string
}

/** An open session. */
export interface AdminLogin {
  admin: AdminDoc
  token: string
  expiresAt: Date
}

/**
 * Logs in. Throws `invalid_login`, `login_locked` after too many failures, and `admin_disabled` for a correct password
 * of an account without rights here, and `second_factor_required` or `invalid_code` where the account has a second factor.
 */
export async function logIn(
  context: Subscriptions,
  limiter: LoginLimiter,
  given: AdminLoginRequest,
): Promise<AdminLogin> {
  const { ip } = given
  const account = await authenticate(context, limiter, given).catch((error: unknown) => {
    if (error instanceof ProblemError && error.code === 'rate_limited')
      throw new ProblemError('login_locked', undefined, {
        ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
      })
    throw error
  })
  const known = await adminOf(context, account, await findAdminOf(context.collections, account._id))
  const now = context.clock.now()
  const token = `at_${randomBytes(32).toString('base64url')}`
  const expiresAt = new Date(now.getTime() + IDLE_MS)
  const session = {
    _id: idOf(context, token),
    admin_id: known._id,
    account_id: account._id,
    password: passwordMark(account.password_hash),
    created_at: now,
    seen_at: now,
    expires_at: expiresAt,
  }
  await insertAdminSession(context.collections, session, MAX_SESSIONS)
  const admin = await changeAdmin(context.collections, known._id, { last_login_at: now, last_login_ip: ip })
  return { admin: admin ?? known, token, expiresAt }
}

/** The account of a right password, and of a right code where it has a second factor. */
async function authenticate(
  context: Subscriptions,
  limiter: LoginLimiter,
  { username, password, code, codes, ip }: AdminLoginRequest,
): Promise<UserDoc> {
  const account = await checkLogin({ ...context, limiter }, { username, password, ip })
  if (!(await confirmedFactor(context, account._id))) return account
  if (!code) throw new ProblemError('second_factor_required')
  await checkCode({ ...context, codes }, account, { code, ip })
  return account
}

/** True for a token whose session was open at the last lookup of this process; other tokens may be forged. */
export function isKnownToken(context: Subscriptions, token: string): boolean {
  return context.memory.sessions.peek(idOf(context, token)) !== undefined
}

/** The administrator of a token. Throws `session_invalid`, and `admin_disabled` after the rights were removed. */
export async function readSession(context: Subscriptions, token: string): Promise<AdminDoc> {
  return context.memory.admins.get(idOf(context, token), () => loadSession(context, token))
}

async function loadSession(context: Subscriptions, token: string): Promise<AdminDoc> {
  const now = context.clock.now()
  const id = idOf(context, token)
  const session = await findAdminSession(context.collections, idsOf(context, token), now)
  if (!session) {
    context.memory.sessions.delete(id)
    throw new ProblemError('session_invalid')
  }
  const admin = await loadAdmin(context, session.account_id, session)
  await context.memory.sessions.get(id, async () => true)
  if (now.getTime() - session.seen_at.getTime() >= SLIDE_MS) {
    const end = Math.min(now.getTime() + IDLE_MS, session.created_at.getTime() + LIFE_MS)
    await slideAdminSession(context.collections, session._id, now, new Date(end))
  }
  return admin
}

/** The administrator of a panel account. Throws `session_invalid` for an account that is deleted or suspended. */
export async function adminOfAccount(context: Subscriptions, accountId: string): Promise<AdminDoc> {
  return context.memory.admins.get(accountId, () => loadAdmin(context, accountId))
}

async function loadAdmin(
  context: Subscriptions,
  accountId: string,
  opened?: Pick<AdminSessionDoc, 'password' | 'created_at'>,
): Promise<AdminDoc> {
  const [account, known] = await Promise.all([
    findUser(context.mongo.db, accountId),
    findAdminOf(context.collections, accountId),
  ])
  if (account?.status !== 'active') throw new ProblemError('session_invalid')
  // A password reset in the panel or on the command line, or an admin there, ends the sessions here as well.
  const mark = opened?.password
  if (mark !== undefined && mark !== passwordMark(account.password_hash)) throw new ProblemError('session_invalid')
  const from = account.sessions_from
  if (opened && from && opened.created_at <= from) throw new ProblemError('session_invalid')
  return adminOf(context, account, known)
}

/** The role of a panel account; null for one without rights here. */
export async function roleOfAccount(context: Subscriptions, accountId: string): Promise<AdminDoc['role'] | null> {
  try {
    return (await adminOfAccount(context, accountId)).role
  } catch (error) {
    if (error instanceof ProblemError) return null
    throw error
  }
}

/** Ends the session of a token, or all sessions of its administrator. */
export async function logOut(context: Subscriptions, token: string, admin: AdminDoc, all: boolean): Promise<void> {
  if (all) return endSessions(context, admin.account_id)
  await dropAdminSession(context.collections, idsOf(context, token))
  context.memory.admins.delete(idOf(context, token))
  return undefined
}

/** Ends all sessions of an account. */
export async function endSessions(context: Subscriptions, accountId: string): Promise<void> {
  await dropAdminSessions(context.collections, accountId)
  context.memory.admins.clear()
}

/**
 * An admin of the platform is a super administrator here from the first login on; other accounts must be given the
 * role.
 */
async function adminOf(context: Subscriptions, account: UserDoc, known: AdminDoc | undefined): Promise<AdminDoc> {
  const admin = known ?? (await firstTime(context, account))
  if (admin?.status !== '1') throw new ProblemError('admin_disabled')
  return admin
}

async function firstTime(context: Subscriptions, account: UserDoc): Promise<AdminDoc | undefined> {
  if (account.role !== 'admin') return undefined
  const admin = await newAdmin(context, account, { role: 'super', app_keys: [EVERY_APP], name: '', email: '' })
  try {
    await context.collections.admins.insertOne(admin)
  } catch (error) {
    if (!isDuplicateKey(error)) throw error // two parallel first requests
  }
  return findAdminOf(context.collections, account._id)
}

/** Rights and profile of an administrator. */
export type AdminRights = Pick<AdminDoc, 'role' | 'app_keys' | 'name' | 'email'>

async function newAdmin(context: Subscriptions, account: UserDoc, rights: AdminRights): Promise<AdminDoc> {
  const now = context.clock.now()
  return {
    _id: await context.ids.next('admin'),
    account_id: account._id,
    username: account.username,
    ...rights,
    status: '1',
    created_at: now,
    updated_at: now,
  }
}

/**
 * Creates an administrator: a new account of that name, or rights for an existing one, whose password stays. Throws
 * `name_taken` when it has rights already.
 */
export async function createAdmin(
  context: Subscriptions,
  actor: Actor,
  { username, password, ...rights }: AdminRights & { username: string; password: string },
): Promise<AdminDoc> {
  const name = foldUsername(username)
  const existing = await findUserByName(context.mongo.db, name)
  const account =
    existing ??
    (await createUser(context, { username: name, password, role: 'user', lang: 'zh', tz: context.config.BUSINESS_TZ }))
      .user
  const admin = await newAdmin(context, account, rights)
  try {
    await record(context, actor, async session => {
      await context.collections.admins.insertOne(admin, { session })
      return { result: undefined, event: auditEventOf('admin.create', undefined, admin) }
    })
  } catch (error) {
    if (isDuplicateKey(error)) throw new ProblemError('name_taken')
    throw error
  }
  return admin
}

/**
 * Changes rights. Removing them ends all sessions immediately. Throws `transition_refused` for one's own rights and for
 * those of the last super administrator.
 */
export async function updateAdmin(
  context: Subscriptions,
  actor: Actor,
  id: number,
  change: { [K in keyof AdminRights]?: AdminRights[K] | undefined } & { status?: AdminDoc['status'] | undefined },
): Promise<AdminDoc> {
  if (actor.id === String(id) && (change.role ?? 'super') + (change.status ?? '1') !== 'super1')
    throw new ProblemError('transition_refused', sentence('detail.own_rights'))
  const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = await record(context, actor, async session => {
    const before = await findAdmin(context.collections, id, session)
    if (!before) throw new ProblemError('record_not_found')
    if (
      isSuper(before) &&
      !isSuper({ ...before, ...fields }) &&
      !(await otherActiveSupers(context.collections, context.mongo.db, id, session))
    )
      throw new ProblemError('transition_refused', sentence('detail.last_super'))
    const changed = await changeAdmin(context.collections, id, { ...fields, updated_at: context.clock.now() }, session)
    if (!changed) throw new ProblemError('record_not_found')
    return { result: changed, event: auditEventOf('admin.update', before, changed) }
  })
  context.memory.admins.clear()
  if (after.status !== '1') await endSessions(context, after.account_id)
  return after
}

function isSuper({ role, status }: Pick<AdminDoc, 'role' | 'status'>): boolean {
  return role === 'super' && status === '1'
}

function auditEventOf(action: string, before: AdminDoc | undefined, after: AdminDoc) {
  return { action, appKey: '', target: { kind: 'admin', id: String(after._id) }, before, after }
}

/**
 * The id of a token's session in the database and in memory: without SESSION_SECRET, a stored row does not open a
 * session.
 */
function idOf({ secrets }: Subscriptions, token: string): string {
  return secrets.mac('session', token).toString('hex')
}

/** The ids of a token's session in the database while SESSION_SECRET is being rotated. */
function idsOf({ secrets }: Subscriptions, token: string): string[] {
  return secrets.macs('session', token).map(mac => mac.toString('hex'))
}
