/** Opens, reads and ends login sessions. */
import { randomBytes } from 'node:crypto'
import type { Db } from '../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { type Account, toAccount } from './account-status.ts'
import { passwordMark } from './password-hashing.ts'
import {
  deleteSession,
  extendSession,
  findSession,
  insertSession,
  type LoginMethod,
  listSessionsOf,
  type SessionDoc,
} from './store/sessions.ts'
import { findUser, type UserDoc } from './store/users.ts'

/** A session ends after this time without use… */
const SESSION_IDLE_MS = DAY_MS
/** …and in any case this long after the login. */
const SESSION_LIFE_MS = 30 * DAY_MS
/** The end moves only when it gains this much, so that reading a page does not write each time. */
const EXTEND_STEP_MS = HOUR_MS / 4

/** Sessions that an account may have; the oldest ends when another one opens. */
export const MAX_SESSIONS = 50

/** The database with the sessions, and the keys without which no row of it opens one. */
export interface SessionStore {
  db: Db
  secrets: Secrets
}

/** A session that is open. */
export interface OpenSession {
  id: string
  account: Account
}

/** How a session is opened. */
export interface OpeningOptions {
  /** How the user logged in, for the list of sessions; by default with a password. */
  method?: LoginMethod
}

/**
 * Opens a session of a user who has proved who they are; returns the token for the cookie, 256 random bits that are
 * not stored. `client`: the program that logs in, for the list of sessions.
 */
export async function openSession(
  { db, secrets }: SessionStore,
  user: UserDoc,
  ip: string,
  now: Date,
  client?: string,
  { method = 'password' }: OpeningOptions = {},
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expires = new Date(now.getTime() + SESSION_IDLE_MS)
  const session = {
    _id: secrets.mac('session', token).toString('hex'),
    user_id: user._id,
    password: passwordMark(user.password_hash),
    ip,
    ...(client === undefined ? {} : { client }),
    ...(method === 'password' ? {} : { method }),
    created_at: now,
    expires_at: expires,
  }
  await insertSession(db, session, MAX_SESSIONS)
  return token
}

/**
 * The session of a token when it has not ended, its account is active and has the password still under which it was
 * opened: a login that was under way while the password was reset opens nothing. Moves its end. A session ends when
 * SESSION_SECRET changes, unless the former value is SESSION_SECRET_PREVIOUS.
 */
export async function readSession(store: SessionStore, token: string, now: Date): Promise<OpenSession | undefined> {
  const { db } = store
  const session = await findSession(db, idsOf(store, token), now)
  if (!session) return undefined
  const user = await findUser(db, session.user_id)
  if (user?.status !== 'active') return undefined
  if (!counts(session, user)) return undefined
  const end = Math.min(now.getTime() + SESSION_IDLE_MS, session.created_at.getTime() + SESSION_LIFE_MS)
  if (end - session.expires_at.getTime() >= EXTEND_STEP_MS) await extendSession(db, session._id, new Date(end))
  return { id: session._id, account: toAccount(user) }
}

/** An open session as its user sees it. */
export interface ListedSession extends Pick<SessionDoc, 'ip' | 'created_at'> {
  id: string
  client: string | undefined
  method: LoginMethod
  /** At most 15 minutes before the last use: reading a page does not write each time. */
  usedAt: Date
  /** In any case; earlier without use. */
  endsAt: Date
}

/** The open sessions of a user, newest first. */
export async function openSessionsOf(db: Db, user: UserDoc, now: Date): Promise<ListedSession[]> {
  const listed = await listSessionsOf(db, user._id, now, MAX_SESSIONS)
  return listed
    .filter(session => counts(session, user))
    .map(({ _id: id, ip, client, method, created_at, expires_at }) => ({
      ...{ id, ip, client, created_at },
      method: method ?? 'password',
      // The end moves with each use, so it tells the last one; on the last day of its life it does not move any more.
      usedAt: new Date(Math.max(created_at.getTime(), expires_at.getTime() - SESSION_IDLE_MS)),
      endsAt: new Date(created_at.getTime() + SESSION_LIFE_MS),
    }))
}

/** Ends the session of a token. */
export async function endSession(store: SessionStore, token: string): Promise<void> {
  await deleteSession(store.db, idsOf(store, token))
}

/** False for a session that was opened under another password, or before all sessions of the user were ended. */
function counts({ password, created_at }: SessionDoc, { password_hash, sessions_from }: UserDoc): boolean {
  if (sessions_from && created_at <= sessions_from) return false
  return password === undefined || password === passwordMark(password_hash)
}

/** The ids that the token may have in the database: under the current key, and under the previous one while it counts. */
function idsOf({ secrets }: SessionStore, token: string): string[] {
  return secrets.macs('session', token).map(mac => mac.toString('hex'))
}
