/** User accounts: the tenants of the mail half and the admins of both halves. */

import type { PageRequest } from '../../platform/cursor-pages.ts'
import { collectionOf, type Db, defineCollection, isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { readPage } from '../../platform/database/read-page.ts'
import { takeGuard } from '../../platform/database/transaction-guard.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'

/** What an account may do: an `admin` also runs the service, a `user` only owns its own things. */
export type Role = 'admin' | 'user'

/** An account. `username` is unique and case-folded. */
export interface UserDoc {
  _id: string
  username: string
  role: Role
  status: 'active' | 'suspended'
  /** argon2id. */
  password_hash: string
  /** Language of panel and mail. */
  lang: 'en' | 'zh'
  /** IANA time zone. */
  tz: string
  /** To how many recipients it may send in a day (UTC); absent or 0 = no limit. */
  recipients_per_day?: number
  /** Set for accounts that the operator made for a namespace. */
  managed_by?: ManagedBy
  created_at: Date
}

/** The collection of accounts. */
export const users = defineCollection<UserDoc>('users', [
  { key: { username: 1 }, unique: true },
  { key: { role: 1, status: 1 } },
])

/** The account with this id. */
export async function findUser(db: Db, id: string): Promise<UserDoc | undefined> {
  return (await collectionOf(db, users).findOne({ _id: id })) ?? undefined
}

/** The account with this folded name. */
export async function findUserByName(db: Db, username: string): Promise<UserDoc | undefined> {
  return (await collectionOf(db, users).findOne({ username })) ?? undefined
}

/** How many of these accounts can log in. */
export function countActive(db: Db, ids: readonly string[], session: Session): Promise<number> {
  return collectionOf(db, users).countDocuments({ _id: { $in: [...ids] }, status: 'active' }, { session })
}

/** The oldest admin: the one that the legacy API_TOKEN and the first SMTP login act for. */
export async function findFirstAdmin(db: Db): Promise<UserDoc | undefined> {
  return (await collectionOf(db, users).findOne({ role: 'admin' }, { sort: { _id: 1 } })) ?? undefined
}

/** A page of accounts in the order of creation; one more than `limit`, to tell whether more follow. */
export function listUsers(db: Db, page: PageRequest): Promise<UserDoc[]> {
  return readPage(collectionOf(db, users), {}, page)
}

/** Stores a new account; false when the name is taken. */
export async function insertUser(db: Db, user: UserDoc): Promise<boolean> {
  try {
    await collectionOf(db, users).insertOne(user)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Changes fields of an account and gives it back as it is then. */
export async function updateUser(
  db: Db,
  id: string,
  change: Partial<Omit<UserDoc, '_id'>>,
  session?: Session,
): Promise<UserDoc | undefined> {
  const options = { returnDocument: 'after' as const, ...(session ? { session } : {}) }
  return (await collectionOf(db, users).findOneAndUpdate({ _id: id }, { $set: change }, options)) ?? undefined
}

/** Replaces the password if it is still the one with this hash. */
export async function replacePassword(
  db: Db,
  id: string,
  before: string,
  after: string,
  session: Session,
): Promise<UserDoc | undefined> {
  const options = { returnDocument: 'after' as const, session }
  const filter = { _id: id, password_hash: before }
  return (
    (await collectionOf(db, users).findOneAndUpdate(filter, { $set: { password_hash: after } }, options)) ?? undefined
  )
}

/** Number of other active admins, read inside a transaction that then suspends one; two who suspend each other conflict. */
export async function otherActiveAdmins(db: Db, id: string, session: Session): Promise<number> {
  await takeGuard(db, 'active-admins', session)
  return collectionOf(db, users).countDocuments({ role: 'admin', status: 'active', _id: { $ne: id } }, { session })
}
