/** SMTP logins: lookup by name over all accounts, lists per account. */

import type { PageRequest } from '../../../platform/cursor-pages.ts'
import { collectionOf, type Db, defineCollection, isDuplicateKey } from '../../../platform/database/mongo.ts'
import { readPage } from '../../../platform/database/read-page.ts'
import type { CredentialDoc } from '../../store/documents.ts'

/** The collection of SMTP logins. */
export const credentials = defineCollection<CredentialDoc>('credentials', [
  { key: { username: 1 }, unique: true },
  { key: { user_id: 1, _id: 1 } },
])

/** Stores a login; false when the name is taken, by whomever. */
export async function insertCredential(db: Db, credential: CredentialDoc): Promise<boolean> {
  try {
    await collectionOf(db, credentials).insertOne(credential)
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** The login with this folded name, whoever owns it: only to check a presented password against. */
export async function findCredentialByName(db: Db, username: string): Promise<CredentialDoc | undefined> {
  return (await collectionOf(db, credentials).findOne({ username })) ?? undefined
}

/** A login of this account. */
export async function findCredential(db: Db, userId: string, id: string): Promise<CredentialDoc | undefined> {
  return (await collectionOf(db, credentials).findOne({ _id: id, user_id: userId })) ?? undefined
}

/** A page of an account's logins; one more than `limit`, to tell whether more follow. */
export function listCredentials(db: Db, userId: string, page: PageRequest): Promise<CredentialDoc[]> {
  return readPage(collectionOf(db, credentials), { user_id: userId }, page)
}

/** Fields that a change may set. */
export type CredentialChange = Partial<
  Pick<
    CredentialDoc,
    | 'allowed_senders'
    | 'allowed_cidrs'
    | 'messages_per_hour'
    | 'fallback_sender'
    | 'allow_null_sender'
    | 'disabled'
    | 'password_hash'
    | 'password_sealed'
    | 'password_made_at'
    | 'previous'
    | 'managed_by'
    | 'updated_at'
  >
>

/** Changes a login of an account, takes fields off it, and gives it back. */
export async function updateCredential(
  db: Db,
  userId: string,
  id: string,
  change: CredentialChange,
  remove: readonly ('managed_by' | 'k8s' | 'previous')[] = [],
): Promise<CredentialDoc | undefined> {
  const options = { returnDocument: 'after' as const }
  const filter = { _id: id, user_id: userId }
  const unset = Object.fromEntries(remove.map(field => [field, '' as const]))
  const update = { $set: change, ...(remove.length > 0 ? { $unset: unset } : {}) }
  return (await collectionOf(db, credentials).findOneAndUpdate(filter, update, options)) ?? undefined
}

/** Removes a login of an account; false when there is none. */
export async function deleteCredential(db: Db, userId: string, id: string): Promise<boolean> {
  return (await collectionOf(db, credentials).deleteOne({ _id: id, user_id: userId })).deletedCount === 1
}

/** Notes the use of a login. */
export async function touchCredential(db: Db, id: string, now: Date): Promise<void> {
  await collectionOf(db, credentials).updateOne({ _id: id }, { $set: { last_used_at: now } })
}
