/** Who works in the account of another user. The owner has no row: the account has the id of that user. */
import * as field from '../../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../../platform/database/models.ts'
import { forceConflict } from '../../../platform/database/transaction-guard.ts'

/** A user in the account of another one. */
export const memberships = defineModel('memberships', {
  _id: field.text,
  /** Id of the user who owns the account. */
  account_id: field.text,
  user_id: field.text,
  role: field.oneOf('viewer', 'developer', 'admin'),
  /** Who invited; the name is that of then. */
  added_by: field.required(field.part({ user_id: field.text, name: field.text })),
  added_at: field.date,
})
memberships.schema.index({ account_id: 1, user_id: 1 }, { unique: true })
memberships.schema.index({ user_id: 1 })

export type MembershipDoc = DocumentOf<typeof memberships>

/** Memberships that an account may have, with its open invitations; and that a user may have. */
export const MAX_MEMBERS = 100

/** The membership of a user in an account. */
export async function findMembership(
  db: Db,
  accountId: string,
  userId: string,
  session?: Session,
): Promise<MembershipDoc | undefined> {
  const filter = { account_id: accountId, user_id: userId }
  return (
    (await modelOf(db, memberships)
      .findOne(filter, null, session ? { session } : {})
      .lean()) ?? undefined
  )
}

/** The members of an account without its owner, oldest first. */
export function listMembershipsOf(db: Db, accountId: string, session?: Session): Promise<MembershipDoc[]> {
  return modelOf(db, memberships)
    .find({ account_id: accountId }, null, session ? { session } : {})
    .sort({ _id: 1 })
    .limit(MAX_MEMBERS)
    .lean()
}

/** The accounts of others in which a user works, oldest membership first. */
export function listMembershipsFor(db: Db, userId: string, session?: Session): Promise<MembershipDoc[]> {
  return modelOf(db, memberships)
    .find({ user_id: userId }, null, session ? { session } : {})
    .sort({ _id: 1 })
    .limit(MAX_MEMBERS)
    .lean()
}

/** Stores a membership; false when the user has one in the account: the transaction must then be given up. */
export function insertMembership(db: Db, membership: MembershipDoc, session: Session): Promise<boolean> {
  return insertUnique(modelOf(db, memberships), membership, session)
}

/** Changes the role of a member. */
export async function updateMembership(
  db: Db,
  id: string,
  role: MembershipDoc['role'],
  session: Session,
): Promise<MembershipDoc | undefined> {
  return (await modelOf(db, memberships).findByIdAndUpdate(id, { role }, { session }).lean()) ?? undefined
}

/** Removes a membership. */
export async function deleteMembership(db: Db, id: string, session: Session): Promise<void> {
  await modelOf(db, memberships).deleteOne({ _id: id }, { session })
}

/**
 * Makes transactions about the members of one account follow each other, so that each sees the roles that the one before
 * it wrote. Called before anything is read.
 */
export function lockMembers(db: Db, accountId: string, session: Session): Promise<void> {
  return forceConflict(db, `members ${accountId}`, session)
}
