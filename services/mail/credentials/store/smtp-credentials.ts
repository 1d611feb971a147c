/** SMTP logins: lookup by name over all accounts, lists per account. */

import * as field from '../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, insertUnique, modelOf } from '../../../platform/database/models.ts'
import { readOrdered } from '../../../platform/database/read-page.ts'
import { managed } from '../../../platform/managed/managed-fields.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'

/** An SMTP login. `username` is unique over all accounts, case-folded. */
export const credentials = defineModel('credentials', {
  _id: field.text,
  user_id: field.text,
  username: field.text,
  /** argon2id. */
  password_hash: field.text,
  /** Sealed with purpose `smtp-password`, place `credentials/<_id>`. Absent: "hash only", not copyable. */
  password_sealed: field.optional(String),
  /** When the password was made; absent for the first one and those of releases that did not write it. */
  password_made_at: field.optional(Date),
  /** SHA-256 of the made password before the last rotation, which works until then; random passwords need no slow hash. */
  previous: field.optional(field.part({ sha256: field.text, until: field.date })),
  /** Addresses or `@domain` that may be in From and the envelope; empty = all of the account's domains. */
  allowed_senders: field.required([String]),
  /** Networks that may log in; empty = any. */
  allowed_cidrs: field.required([String]),
  /** Messages per hour over all processes; 0 = no limit. */
  messages_per_hour: field.number,
  /** Takes the place of senders that the login may not use; null or absent: they are refused. */
  fallback_sender: String,
  /** It may send with an empty envelope sender, as the bounces of a mail server do. */
  allow_null_sender: field.optional(Boolean),
  disabled: field.optional(Boolean),
  last_used_at: field.optional(Date),
  /** The user who made it, with the name of then; absent in those of resources and of releases without members. */
  created_by: field.optional(field.part({ user_id: field.text, name: field.text })),
  ...managed,
  /** The resource in `managed_by` declares its limits of sending. */
  limits_declared: field.optional(Boolean),
  ...field.times,
})
credentials.schema.index({ username: 1 }, { unique: true })
credentials.schema.index({ user_id: 1, _id: 1 })

export type CredentialDoc = DocumentOf<typeof credentials>

/** Stores a login; false when the name is taken, by whomever. */
export function insertCredential(db: Db, credential: CredentialDoc): Promise<boolean> {
  return insertUnique(modelOf(db, credentials), credential)
}

/** The login with this folded name, whoever owns it: only to check a presented password against. */
export async function findCredentialByName(db: Db, username: string): Promise<CredentialDoc | undefined> {
  return (await modelOf(db, credentials).findOne({ username }).lean()) ?? undefined
}

/** A login of this account. */
export async function findCredential(db: Db, userId: string, id: string): Promise<CredentialDoc | undefined> {
  return (await modelOf(db, credentials).findOne({ _id: id, user_id: userId }).lean()) ?? undefined
}

/** How many logins of an account a user has made. */
export function countCredentialsMadeBy(db: Db, accountId: string, userId: string): Promise<number> {
  return modelOf(db, credentials).countDocuments({ user_id: accountId, 'created_by.user_id': userId })
}

/** A page of an account's logins; one more than `limit`, which shows whether more follow. */
export function listCredentials(db: Db, userId: string, page: OrderedPage): Promise<CredentialDoc[]> {
  return readOrdered(modelOf(db, credentials), { user_id: userId }, page)
}

/** Fields that a change may set. */
export type CredentialChange = Partial<Omit<CredentialDoc, '_id' | 'user_id' | 'username' | 'k8s' | 'created_at'>>

/** Changes a login of an account, takes fields off it, and gives it back. */
export async function updateCredential(
  db: Db,
  userId: string,
  id: string,
  change: CredentialChange,
  remove: readonly ('managed_by' | 'k8s' | 'previous')[] = [],
): Promise<CredentialDoc | undefined> {
  const filter = { _id: id, user_id: userId }
  const update = { $set: change, $unset: Object.fromEntries(remove.map(field => [field, ''])) }
  return (await modelOf(db, credentials).findOneAndUpdate(filter, update).lean()) ?? undefined
}

/** Removes a login of an account; false when there is none. */
export async function deleteCredential(db: Db, userId: string, id: string): Promise<boolean> {
  return (await modelOf(db, credentials).deleteOne({ _id: id, user_id: userId })).deletedCount === 1
}

/** Notes the use of a login. */
export async function touchCredential(db: Db, id: string, now: Date): Promise<void> {
  await modelOf(db, credentials).updateOne({ _id: id }, { last_used_at: now })
}
