/** API tokens: lookup by the id inside the token, lists per account. */

import type { PageRequest } from '../../../platform/cursor-pages.ts'
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { readPage } from '../../../platform/database/read-page.ts'
import type { TokenDoc } from '../../store/documents.ts'

/** The collection of tokens. */
export const tokens = defineCollection<TokenDoc>('tokens', [
  { key: { user_id: 1, _id: 1 } },
  { key: { 'managed_by.uid': 1 }, sparse: true },
])

/** Stores a token. */
export async function insertToken(db: Db, token: TokenDoc): Promise<void> {
  await collectionOf(db, tokens).insertOne(token)
}

/** A token by its id, whoever owns it: only to check a presented secret against. */
export async function findTokenById(db: Db, id: string): Promise<TokenDoc | undefined> {
  return (await collectionOf(db, tokens).findOne({ _id: id })) ?? undefined
}

/** A token of this account. */
export async function findToken(db: Db, userId: string, id: string): Promise<TokenDoc | undefined> {
  return (await collectionOf(db, tokens).findOne({ _id: id, user_id: userId })) ?? undefined
}

/** A page of an account's tokens, revoked ones too; one more than `limit`, to tell whether more follow. */
export function listTokens(db: Db, userId: string, page: PageRequest): Promise<TokenDoc[]> {
  return readPage(collectionOf(db, tokens), { user_id: userId }, page)
}

/** Changes fields of an account's token and gives it back; one that is revoked stays as it is. */
export async function updateToken(
  db: Db,
  userId: string,
  id: string,
  change: Partial<Pick<TokenDoc, 'name' | 'secret_hash' | 'scopes' | 'domains' | 'revoked_at' | 'expires_at'>>,
): Promise<TokenDoc | undefined> {
  const filter = { _id: id, user_id: userId, revoked_at: { $exists: false } }
  const options = { returnDocument: 'after' as const }
  return (await collectionOf(db, tokens).findOneAndUpdate(filter, { $set: change }, options)) ?? undefined
}

/** Notes the use of a token unless one of the last minute is noted already. */
export async function touchToken(db: Db, id: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000)
  const stale = { $or: [{ last_used_at: { $exists: false } }, { last_used_at: { $lt: minuteAgo } }] }
  await collectionOf(db, tokens).updateOne({ _id: id, ...stale }, { $set: { last_used_at: now } })
}

/** Tokens that a resource made and that are not revoked, oldest first. */
export function listTokensOfResource(db: Db, uid: string): Promise<TokenDoc[]> {
  return collectionOf(db, tokens)
    .find({ 'managed_by.uid': uid, revoked_at: { $exists: false } })
    .sort({ _id: 1 })
    .toArray()
}
