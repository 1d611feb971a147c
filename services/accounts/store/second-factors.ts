/** Second factors of accounts: the sealed secret of an authenticator app, and hashes of recovery codes. */
import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf, type Session } from '../../platform/database/models.ts'

/** The factor of an account; `_id` is the account's id. An account without one logs in with its password alone. */
export const secondFactors = defineModel('second_factors', {
  _id: field.text,
  /** The secret in base64, sealed with the purpose `totp`. */
  sealed: field.text,
  /** Set by the first right code; until then the factor is not asked for. */
  confirmed_at: field.optional(Date),
  /** The time step of the last code that was used: neither it nor an older one counts again. */
  last_step: field.number,
  /** SHA-256 of the recovery codes that are left, which are random. */
  recovery: field.required([String]),
  created_at: field.date,
})

export type SecondFactorDoc = DocumentOf<typeof secondFactors>

/** The factor of an account, confirmed or not. */
export async function findSecondFactor(db: Db, userId: string): Promise<SecondFactorDoc | undefined> {
  return (await modelOf(db, secondFactors).findById(userId).lean()) ?? undefined
}

/** Stores a new factor in the place of one that was never confirmed; false when the account has a confirmed one. */
export async function putSecondFactor(db: Db, factor: SecondFactorDoc): Promise<boolean> {
  const model = modelOf(db, secondFactors)
  await model.deleteOne({ _id: factor._id, confirmed_at: { $exists: false } })
  return model.insertOne(factor).then(
    () => true,
    (error: { code?: number }) => {
      if (error.code === 11_000) return false
      throw error
    },
  )
}

/** Turns a factor on with its first code; false when it is another one meanwhile, or on already. */
export async function confirmSecondFactor(
  db: Db,
  { _id, sealed }: SecondFactorDoc,
  change: { confirmed_at: Date; last_step: number; recovery: string[] },
  session: Session,
): Promise<boolean> {
  const open = { _id, sealed, confirmed_at: { $exists: false } }
  return (await modelOf(db, secondFactors).updateOne(open, change, { session })).modifiedCount === 1
}

/** Uses up a time step; of parallel uses one succeeds. */
export async function takeStep(db: Db, { _id, sealed }: SecondFactorDoc, step: number): Promise<boolean> {
  const unused = { _id, sealed, last_step: { $lt: step } }
  return (await modelOf(db, secondFactors).updateOne(unused, { last_step: step })).modifiedCount === 1
}

/** Uses up a recovery code; of parallel uses one succeeds. */
export async function takeRecoveryCode(db: Db, userId: string, hash: string): Promise<boolean> {
  const change = { $pull: { recovery: hash } }
  const used = await modelOf(db, secondFactors).updateOne({ _id: userId, recovery: hash }, change)
  return used.modifiedCount === 1
}

/** Removes the factor of an account; false when it has none. */
export async function deleteSecondFactor(db: Db, userId: string): Promise<boolean> {
  return (await modelOf(db, secondFactors).deleteOne({ _id: userId })).deletedCount === 1
}
