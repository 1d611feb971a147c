/**
 * Invitations to an account of a user. They are apart from those of the installation: a process of an older release would
 * read a row of that collection as the offer of an account of its own.
 */
import * as field from '../../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../../platform/database/models.ts'
import { DAY_SECONDS } from '../../../platform/durations.ts'

/** How long an ended invitation stays in the list, to be sent again. */
const KEPT_DAYS = 30

/** An invitation; of one address an account has one. */
export const memberInvitations = defineModel('member_invitations', {
  _id: field.text,
  account_id: field.text,
  /** Case-folded. */
  email: field.text,
  role: field.oneOf('viewer', 'developer', 'admin'),
  /** Language of the mail, and of a user who is made. */
  lang: field.oneOf('en', 'zh'),
  /** HMAC-SHA-256 of the token in hex, under the key `account-link`; absent until the mail is sent. */
  token: field.optional(String),
  /** Who invites; the name is in the mail. */
  invited_by: field.required(field.part({ user_id: field.text, name: field.text })),
  sent_at: field.optional(Date),
  created_at: field.date,
  expires_at: field.date,
})
memberInvitations.schema.index({ account_id: 1, email: 1 }, { unique: true })
memberInvitations.schema.index({ token: 1 }, { unique: true, partialFilterExpression: { token: { $exists: true } } })
memberInvitations.schema.index({ expires_at: 1 }, { expireAfterSeconds: KEPT_DAYS * DAY_SECONDS })

export type MemberInvitationDoc = DocumentOf<typeof memberInvitations>

/** Stores an invitation; false when the account has one for the address: the transaction must then be given up. */
export function insertMemberInvitation(db: Db, invitation: MemberInvitationDoc, session: Session): Promise<boolean> {
  return insertUnique(modelOf(db, memberInvitations), invitation, session)
}

/** The invitations of an account, oldest first. */
export function listMemberInvitations(
  db: Db,
  accountId: string,
  limit: number,
  session?: Session,
): Promise<MemberInvitationDoc[]> {
  return modelOf(db, memberInvitations)
    .find({ account_id: accountId }, null, session ? { session } : {})
    .sort({ _id: 1 })
    .limit(limit)
    .lean()
}

/** The invitation with this id, of any account. */
export async function findMemberInvitation(db: Db, id: string): Promise<MemberInvitationDoc | undefined> {
  return (await modelOf(db, memberInvitations).findById(id).lean()) ?? undefined
}

/** An invitation of this account. */
export async function findMemberInvitationOf(
  db: Db,
  accountId: string,
  id: string,
  session: Session,
): Promise<MemberInvitationDoc | undefined> {
  const filter = { _id: id, account_id: accountId }
  return (await modelOf(db, memberInvitations).findOne(filter, null, { session }).lean()) ?? undefined
}

/** Changes an invitation and returns the new record. */
export async function updateMemberInvitation(
  db: Db,
  id: string,
  change: Partial<Pick<MemberInvitationDoc, 'token' | 'sent_at' | 'expires_at' | 'invited_by'>>,
  session?: Session,
): Promise<MemberInvitationDoc | undefined> {
  const changed = modelOf(db, memberInvitations).findByIdAndUpdate(id, change, session ? { session } : {})
  return (await changed.lean()) ?? undefined
}

/** The invitation whose token has one of these hashes, if it has not ended. */
export async function findOpenMemberInvitation(
  db: Db,
  tokens: string[],
  now: Date,
): Promise<MemberInvitationDoc | undefined> {
  return (await modelOf(db, memberInvitations).findOne(open(tokens, now)).lean()) ?? undefined
}

/** The same, and removes it: of parallel uses one gets it. */
export async function takeMemberInvitation(
  db: Db,
  tokens: string[],
  now: Date,
  session: Session,
): Promise<MemberInvitationDoc | undefined> {
  return (await modelOf(db, memberInvitations).findOneAndDelete(open(tokens, now), { session }).lean()) ?? undefined
}

/** Removes an invitation. */
export async function deleteMemberInvitation(db: Db, id: string, session: Session): Promise<void> {
  await modelOf(db, memberInvitations).deleteOne({ _id: id }, { session })
}

/** Removes the invitations that a user has made to an account. */
export async function deleteMemberInvitationsBy(
  db: Db,
  accountId: string,
  userId: string,
  session: Session,
): Promise<void> {
  const filter = { account_id: accountId, 'invited_by.user_id': userId }
  await modelOf(db, memberInvitations).deleteMany(filter, { session })
}

function open(tokens: string[], now: Date) {
  return { token: { $in: tokens }, expires_at: { $gt: now } }
}
