/** Login sessions of the panel. Only a keyed hash of the cookie's value is stored: a stolen database opens no session. */
import { collectionOf, type Db, defineCollection, type Session } from '../../platform/database/mongo.ts'

/** A session; `_id` is the HMAC-SHA-256 of its token in hex, under the key `session`. Removed at `expires_at`. */
export interface SessionDoc {
  _id: string
  user_id: string
  /** `passwordMark` of the password of the login; absent in sessions of releases that did not write it. */
  password?: string
  ip: string
  created_at: Date
  expires_at: Date
}

/** The collection of sessions. */
export const sessions = defineCollection<SessionDoc>('sessions', [
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  { key: { user_id: 1 } },
])

/** Stores a session. */
export async function insertSession(db: Db, session: SessionDoc): Promise<void> {
  await collectionOf(db, sessions).insertOne(session)
}

/** The session with one of these ids if it has not expired; the TTL monitor of MongoDB may be a minute late, so the time is compared. */
export async function findSession(db: Db, ids: string[], now: Date): Promise<SessionDoc | undefined> {
  return (await collectionOf(db, sessions).findOne({ _id: { $in: ids }, expires_at: { $gt: now } })) ?? undefined
}

/** Moves the end of a session. */
export async function extendSession(db: Db, id: string, expiresAt: Date): Promise<void> {
  await collectionOf(db, sessions).updateOne({ _id: id }, { $set: { expires_at: expiresAt } })
}

/** Ends the session with one of these ids. */
export async function deleteSession(db: Db, ids: string[]): Promise<void> {
  await collectionOf(db, sessions).deleteOne({ _id: { $in: ids } })
}

/** Lets a session go on under another password. */
export async function markSession(db: Db, id: string, password: string, session: Session): Promise<void> {
  await collectionOf(db, sessions).updateOne({ _id: id }, { $set: { password } }, { session })
}

/** Ends all sessions of an account, or all but `except`. */
export async function deleteSessionsOf(db: Db, userId: string, except?: string, session?: Session): Promise<void> {
  const others = { user_id: userId, ...(except === undefined ? {} : { _id: { $ne: except } }) }
  await collectionOf(db, sessions).deleteMany(others, session ? { session } : {})
}
