/** API tokens: lookup by the id inside the token, lists per account. */

import * as field from '../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf } from '../../../platform/database/models.ts'
import { readOrdered } from '../../../platform/database/read-page.ts'
import { managed } from '../../../platform/managed/managed-fields.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'

/** A send token `pw_live_<id>_<secret>`; only the SHA-256 of the secret is stored. `_id` is `key_<id>`. */
export const tokens = defineModel('tokens', {
  _id: field.text,
  user_id: field.text,
  name: field.text,
  mode: field.oneOf('live', 'test'),
  /** What is sent with it is captured, whatever its domain is set to. */
  capture: field.optional(Boolean),
  secret_hash: field.text,
  scopes: field.required([String]),
  /** Domain names it may send from; empty = all of the account. */
  domains: field.required([String]),
  allowed_cidrs: field.required([String]),
  expires_at: field.optional(Date),
  revoked_at: field.optional(Date),
  last_used_at: field.optional(Date),
  /** The user who made it, with the name of then; absent in those of resources and of releases without members. */
  created_by: field.optional(field.part({ user_id: field.text, name: field.text })),
  ...managed,
  created_at: field.date,
})
tokens.schema.index({ user_id: 1, _id: 1 })
tokens.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

export type TokenDoc = DocumentOf<typeof tokens>

/** Stores a token. */
export async function insertToken(db: Db, token: TokenDoc): Promise<void> {
  await modelOf(db, tokens).insertOne(token)
}

/** A token by its id, whoever owns it: only to check a presented secret against. */
export async function findTokenById(db: Db, id: string): Promise<TokenDoc | undefined> {
  return (await modelOf(db, tokens).findById(id).lean()) ?? undefined
}

/** A token of this account. */
export async function findToken(db: Db, userId: string, id: string): Promise<TokenDoc | undefined> {
  return (await modelOf(db, tokens).findOne({ _id: id, user_id: userId }).lean()) ?? undefined
}

/** How many tokens of an account a user has made that are not revoked. */
export function countTokensMadeBy(db: Db, accountId: string, userId: string): Promise<number> {
  const filter = { user_id: accountId, 'created_by.user_id': userId, revoked_at: { $exists: false } }
  return modelOf(db, tokens).countDocuments(filter)
}

/** A page of an account's tokens, including revoked ones; one more than `limit`, which shows whether more follow. */
export function listTokens(db: Db, userId: string, page: OrderedPage): Promise<TokenDoc[]> {
  return readOrdered(modelOf(db, tokens), { user_id: userId }, page)
}

/** Changes fields of an account's token and gives it back; one that is revoked stays as it is. */
export async function updateToken(
  db: Db,
  userId: string,
  id: string,
  change: Partial<
    Pick<
      TokenDoc,
      'name' | 'secret_hash' | 'scopes' | 'domains' | 'capture' | 'allowed_cidrs' | 'revoked_at' | 'expires_at'
    >
  >,
): Promise<TokenDoc | undefined> {
  const filter = { _id: id, user_id: userId, revoked_at: { $exists: false } }
  return (await modelOf(db, tokens).findOneAndUpdate(filter, change).lean()) ?? undefined
}

/** Notes the use of a token unless one of the last minute is noted already. */
export async function touchToken(db: Db, id: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000)
  const stale = { $or: [{ last_used_at: { $exists: false } }, { last_used_at: { $lt: minuteAgo } }] }
  await modelOf(db, tokens).updateOne({ _id: id, ...stale }, { last_used_at: now })
}

/** Tokens that a resource made and that are not revoked, oldest first. */
export async function listTokensOfResource(db: Db, uid: string): Promise<TokenDoc[]> {
  return modelOf(db, tokens)
    .find({ 'managed_by.uid': uid, revoked_at: { $exists: false } })
    .sort({ _id: 1 })
    .lean()
}
