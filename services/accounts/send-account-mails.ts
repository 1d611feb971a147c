/** Writes the mail about accounts that waits, and hands it to the queue. Run by the worker. */
import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/durations.ts'
import type { Log } from '../platform/observability/log.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { linkWith, makeLinkToken } from './link-tokens.ts'
import { findMemberInvitation, updateMemberInvitation } from './members/store/member-invitations.ts'
import { passwordMark } from './password-hashing.ts'
import { accountMailText, memberInvitationText } from './rules/account-mail.ts'
import { foldUsername } from './rules/username.ts'
import { putAccountLink } from './store/account-links.ts'
import { type AccountMailDoc, claimAccountMail, removeAccountMail } from './store/account-mails.ts'
import { findInvitation, updateInvitation } from './store/invitations.ts'
import { findUser, findUserByName, listUsersByEmail, type UserDoc } from './store/users.ts'

/** A mail to one recipient; a second one with the same key is not sent. */
export interface OutgoingAccountMail {
  key: string
  to: string
  subject: string
  text: string
}

/** Dependencies of the job. */
export interface AccountMailDeps {
  mongo: Mongo
  clock: Clock
  secrets: Secrets
  log: Log
  /** APP_BASE_URL. */
  baseUrl: string
  /** Submits a mail to the mail module, which this subject must not import. Rejects when the queue cannot take it. */
  send: (mail: OutgoingAccountMail) => Promise<void>
  /** False when an account has had as many mails lately as it may have. */
  mayMail: (userId: string) => Promise<boolean>
}

/** How long the links are valid. */
const LINK_LIFE_MS = { password_reset: HOUR_MS, confirm_email: DAY_MS } as const

/** A mail whose worker stopped is due again after this time. */
const CLAIM_MS = MINUTE_MS
/** Most mails of one run: the next one follows in seconds. */
const BATCH = 500

/** Sends what is due; resolves to how many. What fails is tried again a minute later, until it is of no use. */
export async function sendAccountMails(deps: AccountMailDeps, signal: AbortSignal): Promise<number> {
  const { db } = deps.mongo
  let sent = 0
  for (let count = 0; count < BATCH && !signal.aborted; count++) {
    const now = deps.clock.now()
    const mail = await claimAccountMail(db, now, new Date(now.getTime() + CLAIM_MS))
    if (!mail) break
    try {
      sent += await SENDERS[mail.kind](deps, mail)
      await removeAccountMail(db, mail)
    } catch (error) {
      deps.log.warn({ mail: mail._id, kind: mail.kind, err: error }, 'mail about an account failed; it is tried again')
    }
  }
  return sent
}

type Sender = (deps: AccountMailDeps, mail: AccountMailDoc) => Promise<number>

/** What is done for each kind of mail; resolves to how many were sent. */
const SENDERS: Readonly<Record<AccountMailDoc['kind'], Sender>> = {
  async password_reset(deps, mail) {
    const users = (await usersOf(deps, mail.typed ?? '')).filter(canReset)
    for (const user of users) await sendLink(deps, mail, 'password_reset', user, user.email ?? '')
    return users.length
  },
  async confirm_email(deps, mail) {
    const user = await findUser(deps.mongo.db, mail.user_id ?? '')
    if (user?.status !== 'active' || mail.email === undefined) return 0
    return sendLink(deps, mail, 'confirm_email', user, mail.email)
  },
  password_was_reset: (deps, mail) => sendNotice(deps, mail, 'password_was_reset', '/forgot-password'),
  email_was_changed: (deps, mail) => sendNotice(deps, mail, 'email_was_changed', '/settings'),
  invitation: sendInvitation,
  member_invitation: sendMemberInvitation,
}

async function sendNotice(
  deps: AccountMailDeps,
  mail: AccountMailDoc,
  kind: 'password_was_reset' | 'email_was_changed',
  page: string,
): Promise<number> {
  const user = await findUser(deps.mongo.db, mail.user_id ?? '')
  const to = mail.email ?? user?.email
  if (!user || to === undefined) return 0
  await deliver(deps, mail, user, to, kind, `${deps.baseUrl}${page}`)
  return 1
}

async function sendInvitation(deps: AccountMailDeps, mail: AccountMailDoc): Promise<number> {
  const { db } = deps.mongo
  const invitation = await findInvitation(db, mail.invitation_id ?? '')
  if (!invitation) return 0 // revoked, or accepted with an earlier mail
  const { token, hash } = makeLinkToken(deps.secrets)
  await updateInvitation(db, invitation._id, { token: hash, sent_at: deps.clock.now() })
  const { email, lang, invited_by: by } = invitation
  const link = linkWith(deps.baseUrl, '/accept-invitation', token)
  const key = `account:${mail._id}:${mail.attempts}`
  await deps.send({ key, to: email, ...accountMailText('invitation', lang, { name: by.name, link }) })
  return 1
}

async function sendMemberInvitation(deps: AccountMailDeps, mail: AccountMailDoc): Promise<number> {
  const { db } = deps.mongo
  const invitation = await findMemberInvitation(db, mail.invitation_id ?? '')
  const owner = invitation && (await findUser(db, invitation.account_id))
  if (!owner) return 0 // revoked, or accepted with an earlier mail
  const { token, hash } = makeLinkToken(deps.secrets)
  await updateMemberInvitation(db, invitation._id, { token: hash, sent_at: deps.clock.now() })
  const { email, lang, invited_by: by } = invitation
  const link = linkWith(deps.baseUrl, '/join', token)
  const key = `account:${mail._id}:${mail.attempts}`
  const facts = { name: by.name, link, account: owner.username }
  await deps.send({ key, to: email, ...memberInvitationText(lang, facts) })
  return 1
}

/** Makes a link, which ends an older one, and sends it. A repeated attempt makes another: the newest mail has the one that works. */
async function sendLink(
  deps: AccountMailDeps,
  mail: AccountMailDoc,
  kind: 'password_reset' | 'confirm_email',
  user: UserDoc,
  to: string,
): Promise<number> {
  if (!(await deps.mayMail(user._id))) {
    deps.log.warn({ user: user._id, kind }, 'the account has had too many mails lately; this one is not sent')
    return 0
  }
  const { token, hash } = makeLinkToken(deps.secrets)
  const page = kind === 'password_reset' ? '/reset-password' : '/confirm-email'
  await putAccountLink(deps.mongo.db, {
    kind,
    user_id: user._id,
    token: hash,
    password: passwordMark(user.password_hash),
    email: to,
    expires_at: new Date(deps.clock.now().getTime() + LINK_LIFE_MS[kind]),
  })
  await deliver(deps, mail, user, to, kind, linkWith(deps.baseUrl, page, token))
  return 1
}

async function deliver(
  { send }: AccountMailDeps,
  { _id, attempts }: AccountMailDoc,
  user: UserDoc,
  to: string,
  kind: Parameters<typeof accountMailText>[0],
  link: string,
): Promise<void> {
  const key = `account:${_id}:${user._id}:${attempts}`
  await send({ key, to, ...accountMailText(kind, user.lang, { name: user.username, link }) })
}

/** The account with this name, or those with this confirmed address. */
async function usersOf({ mongo }: AccountMailDeps, typed: string): Promise<UserDoc[]> {
  const folded = foldUsername(typed)
  const named = await findUserByName(mongo.db, folded)
  return named ? [named] : listUsersByEmail(mongo.db, folded)
}

function canReset({ status, email, managed_by }: UserDoc): boolean {
  return status === 'active' && email !== undefined && managed_by === undefined
}
