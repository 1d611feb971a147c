/** Invitations to an account: one for each address. They are removed when accepted or revoked, or 30 days after their end. */
import * as field from '../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../platform/database/models.ts'
import { readOrdered } from '../../platform/database/read-page.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import type { OrderedPage } from '../../platform/ordered-pages.ts'

/** How long an ended invitation stays in the list, to be sent again. */
const KEPT_DAYS = 30

export const invitations = defineModel('invitations', {
  _id: field.text,
  /** Case-folded. */
  email: field.text,
  role: field.oneOf('admin', 'user'),
  /** Language of the mail and of the account. */
  lang: field.oneOf('en', 'zh'),
  /** HMAC-SHA-256 of the token in hex, under the key `account-link`; absent until the mail is sent. */
  token: field.optional(String),
  /** Who invites; the name stands in the mail. */
  invited_by: field.required(field.part({ user_id: field.text, name: field.text })),
  sent_at: field.optional(Date),
  created_at: field.date,
  expires_at: field.date,
})
invitations.schema.index({ email: 1 }, { unique: true })
invitations.schema.index({ token: 1 }, { unique: true, partialFilterExpression: { token: { $exists: true } } })
invitations.schema.index({ expires_at: 1 }, { expireAfterSeconds: KEPT_DAYS * DAY_SECONDS })

export type InvitationDoc = DocumentOf<typeof invitations>

/** Stores an invitation; false when the address has one. */
export function insertInvitation(db: Db, invitation: InvitationDoc, session: Session): Promise<boolean> {
  return insertUnique(modelOf(db, invitations), invitation, session)
}

/** A page of invitations in one of the orders of the list; one more than `limit`, which shows whether more follow. */
export function listInvitations(db: Db, page: OrderedPage): Promise<InvitationDoc[]> {
  return readOrdered(modelOf(db, invitations), {}, page)
}

/** The invitation with this id. */
export async function findInvitation(db: Db, id: string): Promise<InvitationDoc | undefined> {
  return (await modelOf(db, invitations).findById(id).lean()) ?? undefined
}

/** Changes an invitation and returns the new record. */
export async function updateInvitation(
  db: Db,
  id: string,
  change: Partial<Pick<InvitationDoc, 'token' | 'sent_at' | 'expires_at' | 'invited_by'>>,
  session?: Session,
): Promise<InvitationDoc | undefined> {
  const changed = modelOf(db, invitations).findByIdAndUpdate(id, change, session ? { session } : {})
  return (await changed.lean()) ?? undefined
}

/** The invitation whose token has one of these hashes, if it has not ended. */
export async function findOpenInvitation(db: Db, tokens: string[], now: Date): Promise<InvitationDoc | undefined> {
  return (await modelOf(db, invitations).findOne(open(tokens, now)).lean()) ?? undefined
}

/** The same, and removes it: of parallel uses one gets it. */
export async function takeInvitation(
  db: Db,
  tokens: string[],
  now: Date,
  session: Session,
): Promise<InvitationDoc | undefined> {
  return (await modelOf(db, invitations).findOneAndDelete(open(tokens, now), { session }).lean()) ?? undefined
}

/** Removes an invitation and returns it. */
export async function deleteInvitation(db: Db, id: string): Promise<InvitationDoc | undefined> {
  return (await modelOf(db, invitations).findByIdAndDelete(id).lean()) ?? undefined
}

function open(tokens: string[], now: Date) {
  return { token: { $in: tokens }, expires_at: { $gt: now } }
}
