/** Login sessions of the panel. Only a keyed hash of the cookie's value is stored: a stolen database opens no session. */
import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf, type Session } from '../../platform/database/models.ts'

/** A session; `_id` is the HMAC-SHA-256 of its token in hex, under the key `session`. Removed at `expires_at`. */
export const sessions = defineModel('sessions', {
  _id: field.text,
  user_id: field.text,
  /** `passwordMark` of the password of the login; absent in sessions of releases that did not write it. */
  password: field.optional(String),
  ip: field.text,
  created_at: field.date,
  expires_at: field.date,
})
sessions.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })
sessions.schema.index({ user_id: 1 })

export type SessionDoc = DocumentOf<typeof sessions>

/** Stores a session. */
export async function insertSession(db: Db, session: SessionDoc): Promise<void> {
  await modelOf(db, sessions).insertOne(session)
}

/** The session with one of these ids if it has not expired; the TTL monitor of MongoDB may be a minute late, so the time is compared. */
export async function findSession(db: Db, ids: string[], now: Date): Promise<SessionDoc | undefined> {
  return (
    (await modelOf(db, sessions)
      .findOne({ _id: { $in: ids }, expires_at: { $gt: now } })
      .lean()) ?? undefined
  )
}

/** Moves the end of a session. */
export async function extendSession(db: Db, id: string, expiresAt: Date): Promise<void> {
  await modelOf(db, sessions).updateOne({ _id: id }, { expires_at: expiresAt })
}

/** Ends the session with one of these ids. */
export async function deleteSession(db: Db, ids: string[]): Promise<void> {
  await modelOf(db, sessions).deleteOne({ _id: { $in: ids } })
}

/** Lets a session go on under another password. */
export async function markSession(db: Db, id: string, password: string, session: Session): Promise<void> {
  await modelOf(db, sessions).updateOne({ _id: id }, { password }, { session })
}

/** Ends all sessions of an account, or all but `except`. */
export async function deleteSessionsOf(db: Db, userId: string, except?: string, session?: Session): Promise<void> {
  const others = { user_id: userId, ...(except === undefined ? {} : { _id: { $ne: except } }) }
  await modelOf(db, sessions).deleteMany(others, session ? { session } : {})
}
