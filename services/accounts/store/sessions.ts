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
  /** The program that logged in, see `clientName`; absent when it is not known, and in sessions of older releases. */
  client: field.optional(String),
  /** How the user logged in; absent for a password, and in sessions of older releases. */
  method: field.optionalOneOf('oidc', 'passkey'),
  /** The account of another user in which it works; absent: that of its own user. */
  account_id: field.optional(String),
  created_at: field.date,
  expires_at: field.date,
})
sessions.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })
sessions.schema.index({ user_id: 1 })

export type SessionDoc = DocumentOf<typeof sessions>
/** How a user logged in. */
export type LoginMethod = 'password' | NonNullable<SessionDoc['method']>

/** Stores a session. An account keeps its newest `most` sessions: the others end. */
export async function insertSession(db: Db, session: SessionDoc, most: number): Promise<void> {
  const model = modelOf(db, sessions)
  await model.insertOne(session)
  const oldest = { created_at: -1, _id: -1 } as const
  const surplus = await model.find({ user_id: session.user_id }, { _id: 1 }).sort(oldest).skip(most).lean()
  if (surplus.length > 0) await model.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } })
}

/** The newest sessions of an account that have not expired, at most `limit`. */
export function listSessionsOf(db: Db, userId: string, now: Date, limit: number): Promise<SessionDoc[]> {
  return modelOf(db, sessions)
    .find({ user_id: userId, expires_at: { $gt: now } })
    .sort({ created_at: -1, _id: -1 })
    .limit(limit)
    .lean()
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

/** Lets a session work in the account of another user, or in that of its own one. */
export async function chooseAccount(db: Db, id: string, accountId: string | undefined): Promise<void> {
  const change = accountId === undefined ? { $unset: { account_id: 1 as const } } : { $set: { account_id: accountId } }
  await modelOf(db, sessions).updateOne({ _id: id }, change)
}

/** Ends the session with one of these ids. */
export async function deleteSession(db: Db, ids: string[]): Promise<void> {
  await modelOf(db, sessions).deleteOne({ _id: { $in: ids } })
}

/** Ends one session of an account; false when the account has none with this id. */
export async function deleteSessionOf(db: Db, userId: string, id: string): Promise<boolean> {
  return (await modelOf(db, sessions).deleteOne({ _id: id, user_id: userId })).deletedCount === 1
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
