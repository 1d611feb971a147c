/** Mail about accounts that waits to be written and handed to the queue. It has no secret: links are made when it is sent. */
import * as field from '../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf, type Session } from '../../platform/database/models.ts'
import { newId } from '../../platform/ids.ts'

/** A mail to send; removed when it is in the queue, or at `expires_at`, when it is of no use any more. */
export const accountMails = defineModel('account_mails', {
  _id: field.text,
  kind: field.oneOf(
    'password_reset',
    'password_was_reset',
    'confirm_email',
    'email_was_changed',
    'invitation',
    'member_invitation',
  ),
  /** `password_reset`: what was entered, a user name or an address, which need not belong to anybody. */
  typed: field.optional(String),
  user_id: field.optional(String),
  invitation_id: field.optional(String),
  /** The address to confirm, or the former one that is told about the change. */
  email: field.optional(String),
  attempts: field.number,
  /** When it is sent, or tried again. */
  due: field.date,
  created_at: field.date,
  expires_at: field.date,
})
accountMails.schema.index({ due: 1 })
accountMails.schema.index({ expires_at: 1 }, { expireAfterSeconds: 0 })

export type AccountMailDoc = DocumentOf<typeof accountMails>

/** What a new mail is about. */
export type NewAccountMail = Pick<AccountMailDoc, 'kind'> &
  Partial<Pick<AccountMailDoc, 'typed' | 'user_id' | 'invitation_id' | 'email'>>

/** Stores a mail to send, in the transaction of the change that causes it. It is sent within `lifeMs`, or not at all. */
export async function insertAccountMail(
  db: Db,
  mail: NewAccountMail,
  now: Date,
  lifeMs: number,
  session?: Session,
): Promise<void> {
  const times = { due: now, created_at: now, expires_at: new Date(now.getTime() + lifeMs) }
  const row = { _id: newId('acm', now.getTime()), ...mail, attempts: 0, ...times }
  await modelOf(db, accountMails).insertOne(row, session ? { session } : {})
}

/** Claims the mail that is due longest; it is due again at `retryAt` unless it is removed before. */
export async function claimAccountMail(db: Db, now: Date, retryAt: Date): Promise<AccountMailDoc | undefined> {
  const due = { due: { $lte: now }, expires_at: { $gt: now } }
  const claim = { $set: { due: retryAt }, $inc: { attempts: 1 } }
  return (await modelOf(db, accountMails).findOneAndUpdate(due, claim).sort({ due: 1 }).lean()) ?? undefined
}

/** Removes a mail that was sent; one that another worker has claimed since is left to it. */
export async function removeAccountMail(db: Db, { _id, attempts }: AccountMailDoc): Promise<void> {
  await modelOf(db, accountMails).deleteOne({ _id, attempts })
}
