/**
 * Links in mail to users. Only a keyed hash of the token in a link is stored: a stolen database opens none. An account has
 * one link of a kind, so that a newer one ends the older.
 */
import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf, type Session } from '../../platform/database/models.ts'

/** A link; `_id` is kind and user. Removed by its use, or at `expires_at`. */
export const accountLinks = defineModel('account_links', {
  _id: field.text,
  kind: field.oneOf('password_reset', 'confirm_email'),
  user_id: field.text,
  /** HMAC-SHA-256 of the token in hex, under the key `account-link`. */
  token: field.text,
  /** `passwordMark` of the user when the link was made: a changed password ends it. */
  password: field.text,
  /** The address to which it went; with `confirm_email` the one that it confirms. */
  email: field.text,
  expires_at: field.date,
})
accountLinks.schema.index({ token: 1 }, { unique: true })
accountLinks.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })

export type AccountLinkDoc = DocumentOf<typeof accountLinks>
export type LinkKind = AccountLinkDoc['kind']

/** Stores a link in the place of an older one of its kind. */
export async function putAccountLink(db: Db, link: Omit<AccountLinkDoc, '_id'>): Promise<void> {
  const _id = `${link.kind} ${link.user_id}`
  await modelOf(db, accountLinks).replaceOne({ _id }, { _id, ...link }, { upsert: true })
}

/** The link with one of these hashes, if it has not expired. */
export async function findAccountLink(
  db: Db,
  kind: LinkKind,
  tokens: string[],
  now: Date,
): Promise<AccountLinkDoc | undefined> {
  return (
    (await modelOf(db, accountLinks)
      .findOne(open(kind, tokens, now))
      .lean()) ?? undefined
  )
}

/** The same, and ends it: of parallel uses one gets it, in the transaction of what it allows. */
export async function takeAccountLink(
  db: Db,
  kind: LinkKind,
  tokens: string[],
  now: Date,
  session: Session,
): Promise<AccountLinkDoc | undefined> {
  const found = modelOf(db, accountLinks).findOneAndDelete(open(kind, tokens, now), { session })
  return (await found.lean()) ?? undefined
}

/** Ends the links of an account. */
export async function deleteAccountLinks(db: Db, userId: string, session?: Session): Promise<void> {
  const ids: LinkKind[] = ['password_reset', 'confirm_email']
  const filter = { _id: { $in: ids.map(kind => `${kind} ${userId}`) } }
  await modelOf(db, accountLinks).deleteMany(filter, session ? { session } : {})
}

/** MongoDB removes expired links up to a minute late, so the time is compared. */
function open(kind: LinkKind, tokens: string[], now: Date) {
  return { kind, token: { $in: tokens }, expires_at: { $gt: now } }
}
