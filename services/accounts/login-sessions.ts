/** Opens, reads and ends login sessions. */
import { randomBytes } from 'node:crypto'
import type { Db } from '../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { type Account, toAccount } from './account-status.ts'
import { passwordMark } from './password-hashing.ts'
import { deleteSession, extendSession, findSession, insertSession } from './store/sessions.ts'
import { findUser, type UserDoc } from './store/users.ts'

/** A session ends after this time without use… */
const SESSION_IDLE_MS = DAY_MS
/** …and in any case this long after the login. */
const SESSION_LIFE_MS = 30 * DAY_MS
/** The end moves only when it gains this much, so that reading a page does not write each time. */
const EXTEND_STEP_MS = HOUR_MS / 4

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

/**
 * Opens a session of the user whose password was checked; returns the token for the cookie, 256 random bits that are
 * not stored.
 */
export async function openSession(
  { db, secrets }: SessionStore,
  user: UserDoc,
  ip: string,
  now: Date,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expires = new Date(now.getTime() + SESSION_IDLE_MS)
  await insertSession(db, {
    _id: secrets.mac('session', token).toString('hex'),
    user_id: user._id,
    password: passwordMark(user.password_hash),
    ip,
    created_at: now,
    expires_at: expires,
  })
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
  if (session.password !== undefined && session.password !== passwordMark(user.password_hash)) return undefined
  const end = Math.min(now.getTime() + SESSION_IDLE_MS, session.created_at.getTime() + SESSION_LIFE_MS)
  if (end - session.expires_at.getTime() >= EXTEND_STEP_MS) await extendSession(db, session._id, new Date(end))
  return { id: session._id, account: toAccount(user) }
}

/** Ends the session of a token. */
export async function endSession(store: SessionStore, token: string): Promise<void> {
  await deleteSession(store.db, idsOf(store, token))
}

/** The ids that the token may have in the database: under the current key, and under the previous one while it counts. */
function idsOf({ secrets }: SessionStore, token: string): string[] {
  return secrets.macs('session', token).map(mac => mac.toString('hex'))
}
