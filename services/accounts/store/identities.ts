/** Who an account is at a login provider. */
import * as field from '../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../platform/database/models.ts'

/** A person of a provider and the account that they log in to. An account has one person of a provider at most. */
export const identities = defineModel('identities', {
  _id: field.text,
  user_id: field.text,
  /** The `iss` of its tokens. */
  issuer: field.text,
  /** `sub`: never given to another person, as addresses and names are. */
  subject: field.text,
  /** The address at the first login. */
  email: field.optional(String),
  created_at: field.date,
  last_used_at: field.date,
})
identities.schema.index({ issuer: 1, subject: 1 }, { unique: true })
identities.schema.index({ user_id: 1, issuer: 1 }, { unique: true })

export type IdentityDoc = DocumentOf<typeof identities>

/** Stores an identity; false when the person or the account has one already: a transaction must then be given up. */
export function insertIdentity(db: Db, identity: IdentityDoc, session?: Session): Promise<boolean> {
  return insertUnique(modelOf(db, identities), identity, session)
}

/** The identity of a person, whose last use becomes `now`. */
export async function touchIdentity(
  db: Db,
  { issuer, subject }: Pick<IdentityDoc, 'issuer' | 'subject'>,
  now: Date,
): Promise<IdentityDoc | undefined> {
  const used = modelOf(db, identities).findOneAndUpdate({ issuer, subject }, { last_used_at: now })
  return (await used.lean()) ?? undefined
}

/** The person of a provider that an account belongs to. */
export async function findIdentityOf(db: Db, userId: string, issuer: string): Promise<IdentityDoc | undefined> {
  return (await modelOf(db, identities).findOne({ user_id: userId, issuer }).lean()) ?? undefined
}
