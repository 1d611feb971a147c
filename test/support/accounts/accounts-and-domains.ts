/** Accounts, domains, logins and tokens for tests, stored as the services store them. */
import { type MembershipDoc, memberships } from '../../../services/accounts/members/store/memberships.ts'
import { hashPassword } from '../../../services/accounts/password-hashing.ts'
import { insertUser, type UserDoc } from '../../../services/accounts/store/users.ts'
import { formatToken, hashSecret } from '../../../services/mail/credentials/rules/token.ts'
import type { CredentialDoc } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { insertCredential } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import type { TokenDoc } from '../../../services/mail/credentials/store/tokens.ts'
import { insertToken } from '../../../services/mail/credentials/store/tokens.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { insertDomain } from '../../../services/mail/domains/store/domains.ts'
import { modelOf } from '../../../services/platform/database/models.ts'
import type { Db } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'

/** The password of all accounts and logins in tests. */
export const PASSWORD = 'correct horse battery'
const passwordHash = hashPassword(PASSWORD)
const createdAt = new Date('2026-11-21T09:00:00Z')

/** Stores an account whose password is {@link PASSWORD}. */
export async function giveUser(db: Db, change: Partial<UserDoc> = {}): Promise<UserDoc> {
  const _id = newId('usr')
  const user: UserDoc = {
    _id,
    username: _id,
    role: 'user',
    status: 'active',
    password_hash: await passwordHash,
    lang: 'en',
    tz: 'UTC',
    created_at: createdAt,
    ...change,
  }
  if (!(await insertUser(db, user))) throw new Error(`there is a user ${user.username} already`)
  return user
}

/** Makes a user a member of the account of another one. */
export async function giveMembership(
  db: Db,
  owner: UserDoc,
  user: UserDoc,
  role: MembershipDoc['role'],
): Promise<MembershipDoc> {
  const membership: MembershipDoc = {
    _id: newId('mbr'),
    account_id: owner._id,
    user_id: user._id,
    role,
    added_by: { user_id: owner._id, name: owner.username },
    added_at: createdAt,
  }
  await modelOf(db, memberships).insertOne(membership)
  return membership
}

/** Stores a domain without keys; by default pending. */
export async function giveDomain(
  db: Db,
  userId: string,
  name: string,
  change: Partial<DomainDoc> = {},
): Promise<DomainDoc> {
  const domain: DomainDoc = {
    _id: newId('dom'),
    user_id: userId,
    name,
    status: 'pending',
    verification_token: 'token',
    dkim: [],
    created_at: createdAt,
    updated_at: createdAt,
    ...change,
  }
  if (!(await insertDomain(db, domain))) throw new Error(`the user has ${name} already`)
  return domain
}

/** Stores an SMTP login whose password is {@link PASSWORD}. */
export async function giveCredential(
  db: Db,
  userId: string,
  username: string,
  change: Partial<CredentialDoc> = {},
): Promise<CredentialDoc> {
  const credential: CredentialDoc = {
    _id: newId('smtp'),
    user_id: userId,
    username,
    password_hash: await passwordHash,
    allowed_senders: [],
    allowed_cidrs: [],
    messages_per_hour: 0,
    created_at: createdAt,
    updated_at: createdAt,
    ...change,
  }
  if (!(await insertCredential(db, credential))) throw new Error(`there is a login ${username} already`)
  return credential
}

/** Stores a token that may send and read mail, and returns it with its value. */
export async function giveToken(
  db: Db,
  userId: string,
  change: Partial<TokenDoc> = {},
): Promise<TokenDoc & { value: string }> {
  const secret = newId('s').padEnd(43, 'x')
  const token: TokenDoc = {
    _id: newId('key'),
    user_id: userId,
    name: 'test',
    mode: 'live',
    secret_hash: hashSecret(secret),
    scopes: ['emails:send', 'emails:read'],
    domains: [],
    allowed_cidrs: [],
    created_at: createdAt,
    ...change,
  }
  await insertToken(db, token)
  return { ...token, value: formatToken({ mode: token.mode, id: token._id, secret }) }
}
