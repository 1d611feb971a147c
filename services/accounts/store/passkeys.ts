/** Passkeys of accounts: public keys of which only the user's device has the private one. */
import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, insertUnique, modelOf } from '../../platform/database/models.ts'

/** A passkey; `_id` is its credential id in base64url. */
export const passkeys = defineModel('passkeys', {
  _id: field.text,
  user_id: field.text,
  /** Chosen by the user. */
  name: field.text,
  /** COSE key in base64url. */
  public_key: field.text,
  /** Uses that the device has counted; 0 from devices that count none. */
  counter: field.number,
  /** How the browser reaches the device; a hint. */
  transports: field.required([String]),
  /** Whether the device keeps a copy elsewhere, as in an account of its maker. */
  is_synced: field.flag,
  created_at: field.date,
  last_used_at: field.optional(Date),
})
passkeys.schema.index({ user_id: 1, created_at: 1 })

export type PasskeyDoc = DocumentOf<typeof passkeys>

/** Stores a passkey; false when its credential id is known. */
export function insertPasskey(db: Db, passkey: PasskeyDoc): Promise<boolean> {
  return insertUnique(modelOf(db, passkeys), passkey)
}

/** The passkeys of an account, oldest first, at most `limit`. */
export function listPasskeysOf(db: Db, userId: string, limit: number): Promise<PasskeyDoc[]> {
  return modelOf(db, passkeys).find({ user_id: userId }).sort({ created_at: 1, _id: 1 }).limit(limit).lean()
}

/** The passkey with this credential id. */
export async function findPasskey(db: Db, id: string): Promise<PasskeyDoc | undefined> {
  return (await modelOf(db, passkeys).findById(id).lean()) ?? undefined
}

/** Notes a use, if the counter is still the one that was checked: of parallel uses of a counting device one succeeds. */
export async function countPasskeyUse(
  db: Db,
  { _id, counter }: Pick<PasskeyDoc, '_id' | 'counter'>,
  use: { counter: number; last_used_at: Date; is_synced: boolean },
): Promise<boolean> {
  return (await modelOf(db, passkeys).updateOne({ _id, counter }, use)).matchedCount === 1
}

/** Renames a passkey of an account. */
export async function renamePasskey(db: Db, userId: string, id: string, name: string): Promise<PasskeyDoc | undefined> {
  const renamed = modelOf(db, passkeys).findOneAndUpdate({ _id: id, user_id: userId }, { name })
  return (await renamed.lean()) ?? undefined
}

/** Removes a passkey of an account and returns it. */
export async function deletePasskey(db: Db, userId: string, id: string): Promise<PasskeyDoc | undefined> {
  return (await modelOf(db, passkeys).findOneAndDelete({ _id: id, user_id: userId }).lean()) ?? undefined
}
