/** User accounts: the tenants of the mail module and the admins of the installation. */

import * as field from '../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../platform/database/models.ts'
import { partOfName, readOrdered } from '../../platform/database/read-page.ts'
import { forceConflict } from '../../platform/database/transaction-guard.ts'
import { managedBy } from '../../platform/managed/managed-fields.ts'
import type { OrderedPage } from '../../platform/ordered-pages.ts'

/** An account. `username` is unique and case-folded. */
export const users = defineModel('users', {
  _id: field.text,
  username: field.text,
  /** An `admin` also runs the service, a `user` only owns its own things. */
  role: field.oneOf('admin', 'user'),
  status: field.oneOf('active', 'suspended'),
  /** Case-folded, confirmed by a link; mail about the account goes there. Several accounts may have one. */
  email: field.optional(String),
  /** argon2id. */
  password_hash: field.text,
  /** Language of panel and mail. */
  lang: field.oneOf('en', 'zh'),
  /** The user chose it; absent: it is a default, or was chosen in a release that did not note that. */
  lang_chosen: field.optional(Boolean),
  /** IANA time zone. */
  tz: field.text,
  /** To how many recipients it may send in a day (UTC); absent or 0 = no limit. */
  recipients_per_day: field.optional(Number),
  /** Set for accounts that the operator made for a namespace. */
  managed_by: managedBy,
  /** Sessions that were opened before this time have ended; absent: none has. Also counts in the subscription module. */
  sessions_from: field.optional(Date),
  created_at: field.date,
})
users.schema.index({ username: 1 }, { unique: true })
users.schema.index({ role: 1, status: 1 })
users.schema.index({ email: 1 }, { partialFilterExpression: { email: { $exists: true } } })

export type UserDoc = DocumentOf<typeof users>
export type Role = UserDoc['role']

/** The account with this id. */
export async function findUser(db: Db, id: string, session?: Session): Promise<UserDoc | undefined> {
  return (
    (await modelOf(db, users)
      .findById(id, null, session ? { session } : {})
      .lean()) ?? undefined
  )
}

/** The account with this folded name. */
export async function findUserByName(db: Db, username: string): Promise<UserDoc | undefined> {
  return (await modelOf(db, users).findOne({ username }).lean()) ?? undefined
}

/** Accounts that belong to Kubernetes namespaces; their names begin with `k8s-`. */
export async function findNamespaceUsers(db: Db): Promise<UserDoc[]> {
  return modelOf(db, users).find({ username: /^k8s-/, 'managed_by.kind': 'Namespace' }).lean()
}

/** The accounts with these ids, by id; those that do not exist are absent. */
export async function listUsersById(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, UserDoc>> {
  const found = await modelOf(db, users)
    .find({ _id: { $in: [...ids] } })
    .lean()
  return new Map(found.map(user => [user._id, user]))
}

/** Most accounts with one address that are found by it. */
const SAME_EMAIL = 5

/** The oldest accounts with this confirmed address, at most {@link SAME_EMAIL}. */
export async function listUsersByEmail(db: Db, email: string): Promise<UserDoc[]> {
  return modelOf(db, users).find({ email }).sort({ _id: 1 }).limit(SAME_EMAIL).lean()
}

/** How many of these accounts can log in. */
export async function countActive(db: Db, ids: readonly string[], session: Session): Promise<number> {
  return modelOf(db, users).countDocuments({ _id: { $in: [...ids] }, status: 'active' }, { session })
}

/** The oldest admin: the one that the legacy API_TOKEN and the first SMTP login act for. */
export async function findFirstAdmin(db: Db): Promise<UserDoc | undefined> {
  return (await modelOf(db, users).findOne({ role: 'admin' }).sort({ _id: 1 }).lean()) ?? undefined
}

/**
 * A page of accounts in one of the orders of the list; one more than `limit`, which shows whether more follow. A search
 * finds a part of the name or of the address; it compares the keys of their indexes.
 */
export function listUsers(db: Db, page: OrderedPage, search?: string): Promise<UserDoc[]> {
  if (search === undefined) return readOrdered(modelOf(db, users), {}, page)
  const part = partOfName(search)
  return readOrdered(modelOf(db, users), { $or: [{ username: part }, { email: { ...part, $exists: true } }] }, page)
}

/** Stores a new account; false when the name is taken. */
export function insertUser(db: Db, user: UserDoc, session?: Session): Promise<boolean> {
  return insertUnique(modelOf(db, users), user, session)
}

/** Sets the confirmed address of an account, or removes it. */
export async function setEmail(db: Db, id: string, email: string | undefined, session: Session): Promise<void> {
  const change = email === undefined ? { $unset: { email: 1 as const } } : { $set: { email } }
  await modelOf(db, users).updateOne({ _id: id }, change, { session })
}

/** Changes fields of an account and returns the new record. */
export async function updateUser(
  db: Db,
  id: string,
  change: Partial<Omit<UserDoc, '_id'>>,
  session?: Session,
): Promise<UserDoc | undefined> {
  return (
    (await modelOf(db, users)
      .findByIdAndUpdate(id, change)
      .session(session ?? null)
      .lean()) ?? undefined
  )
}

/** Replaces the password if it is still the one with this hash. */
export async function replacePassword(
  db: Db,
  id: string,
  before: string,
  after: string,
  session: Session,
): Promise<UserDoc | undefined> {
  const filter = { _id: id, password_hash: before }
  return (await modelOf(db, users).findOneAndUpdate(filter, { password_hash: after }, { session }).lean()) ?? undefined
}

/** Number of other active admins. Read in the transaction that suspends one; two that suspend each other conflict. */
export async function otherActiveAdmins(db: Db, id: string, session: Session): Promise<number> {
  await forceConflict(db, 'active-admins', session)
  return modelOf(db, users).countDocuments({ role: 'admin', status: 'active', _id: { $ne: id } }, { session })
}
