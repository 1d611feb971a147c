/** A login with a person of the provider: finds, links or creates the account, and sets its role. */
import { newId } from '../platform/ids.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import type { UserDeps } from './manage-accounts.ts'
import { hashPassword, makePassword } from './password-hashing.ts'
import { type Claims, type OidcPerson, type RoleRule, readPerson, roleBy } from './rules/oidc-claims.ts'
import { findIdentityOf, type IdentityDoc, insertIdentity, touchIdentity } from './store/identities.ts'
import {
  findUser,
  findUserByName,
  insertUser,
  listUsersByEmail,
  otherActiveAdmins,
  type UserDoc,
  updateUser,
} from './store/users.ts'

/** What the installation has decided about people of the provider. */
export interface OidcPolicy {
  /** People without an account get one. */
  createAccounts: boolean
  /** Undefined: the provider decides about no role. */
  role: RoleRule | undefined
}

/** What a login changed, for the audit log. */
export type OidcChange = 'user.identity_linked' | 'user.created' | 'user.role_changed'

/** The account of a login, and what the login changed. */
export interface OidcLogin {
  user: UserDoc
  changes: readonly OidcChange[]
}

/** Numbers that a taken user name is tried with, `ann-2` first. */
const NAMES_TRIED = 20

/**
 * The account of the person whom these claims describe. Known people are found by issuer and subject alone. Others are
 * linked to the one account whose confirmed address is theirs, if the provider has verified it; else they get an account
 * where the policy allows it. Throws `account_suspended`, and `oidc_refused` with the reason.
 */
export async function logInWithClaims(
  deps: UserDeps,
  { claims, policy, lang, tz }: { claims: Claims; policy: OidcPolicy } & Pick<UserDoc, 'lang' | 'tz'>,
): Promise<OidcLogin> {
  const person = readPerson(claims)
  const role = policy.role && roleBy(claims, policy.role)
  const known = await accountOf(deps, person)
  if (known) return withRole(deps, { user: known, changes: [] }, role)
  const owner = await ownerOf(deps, person)
  if (owner) return withRole(deps, await link(deps, owner, person), role)
  if (!policy.createAccounts) throw refusal(person)
  return create(deps, person, { role: role ?? 'user', lang, tz })
}

/** The account that a person is linked to. */
async function accountOf({ mongo, clock }: UserDeps, person: OidcPerson): Promise<UserDoc | undefined> {
  const identity = await touchIdentity(mongo.db, person, clock.now())
  const user = identity && (await findUser(mongo.db, identity.user_id))
  if (user?.status === 'suspended') throw new ProblemError('account_suspended')
  return user
}

/** The one account with the verified address of a person. */
async function ownerOf({ mongo }: UserDeps, person: OidcPerson): Promise<UserDoc | undefined> {
  const { email, isVerified, issuer } = person
  if (email === undefined) throw new ProblemError('oidc_refused', sentence('detail.oidc_no_email'))
  if (!isVerified) return undefined
  const [owner, another] = await listUsersByEmail(mongo.db, email)
  if (another) throw new ProblemError('oidc_refused', sentence('detail.oidc_ambiguous', { email }))
  if (!owner) return undefined
  if (owner.status === 'suspended') throw new ProblemError('account_suspended')
  const identity = await findIdentityOf(mongo.db, owner._id, issuer)
  if (identity && identity.subject !== person.subject)
    throw new ProblemError('oidc_refused', sentence('detail.oidc_linked', { email }))
  return owner
}

function refusal({ email = '', isVerified }: OidcPerson): ProblemError {
  return new ProblemError(
    'oidc_refused',
    isVerified ? sentence('detail.oidc_no_account', { email }) : sentence('detail.oidc_unverified', { email }),
  )
}

async function link(deps: UserDeps, user: UserDoc, person: OidcPerson): Promise<OidcLogin> {
  if (await insertIdentity(deps.mongo.db, identityOf(deps, user._id, person)))
    return { user, changes: ['user.identity_linked'] }
  return repeated(deps, person)
}

async function create(
  deps: UserDeps,
  person: OidcPerson,
  chosen: Pick<UserDoc, 'role' | 'lang' | 'tz'>,
): Promise<OidcLogin> {
  const { mongo, clock } = deps
  const now = clock.now()
  const user: UserDoc = {
    _id: newId('usr', now.getTime()),
    username: await freeName(deps, person),
    status: 'active',
    // Random and not stored: a password can be set with a link to the address.
    password_hash: await hashPassword(makePassword()),
    ...(person.isVerified && person.email !== undefined ? { email: person.email } : {}),
    ...chosen,
    created_at: now,
  }
  try {
    await mongo.transaction(async session => {
      const isNew = await insertIdentity(mongo.db, identityOf(deps, user._id, person), session)
      if (!isNew || !(await insertUser(mongo.db, user, session))) throw new TakenError()
    })
    return { user, changes: ['user.created', 'user.identity_linked'] }
  } catch (error) {
    if (error instanceof TakenError) return repeated(deps, person)
    throw error
  }
}

/** Person or user name were stored at this moment by another login; ends the transaction. */
class TakenError extends Error {}

/** After a login of the same person at the same time, which was faster. */
async function repeated(deps: UserDeps, person: OidcPerson): Promise<OidcLogin> {
  const user = await accountOf(deps, person)
  if (!user) throw new ProblemError('login_expired') // the name was taken at this moment: the next login finds another
  return { user, changes: [] }
}

/** The first of the person's names that no account has, with a number where all are taken. */
async function freeName({ mongo }: UserDeps, { usernames }: OidcPerson): Promise<string> {
  const [best = 'user'] = usernames
  const numbered = Array.from({ length: NAMES_TRIED }, (_, index) => `${best.slice(0, 120)}-${index + 2}`)
  for (const name of [...usernames, ...numbered]) if (!(await findUserByName(mongo.db, name))) return name
  return `${best.slice(0, 90)}-${newId('usr').slice(4)}`.toLowerCase()
}

function identityOf({ clock }: UserDeps, userId: string, { issuer, subject, email }: OidcPerson): IdentityDoc {
  const now = clock.now()
  return {
    _id: newId('idn', now.getTime()),
    user_id: userId,
    ...{ issuer, subject },
    ...(email === undefined ? {} : { email }),
    created_at: now,
    last_used_at: now,
  }
}

/** Gives the account the role of the claims. The last active admin stays one: else nobody could administer any more. */
async function withRole(
  { mongo }: UserDeps,
  { user, changes }: OidcLogin,
  role: UserDoc['role'] | undefined,
): Promise<OidcLogin> {
  if (role === undefined || role === user.role) return { user, changes }
  const changed = await mongo.transaction(async session => {
    if (role === 'user' && (await otherActiveAdmins(mongo.db, user._id, session)) === 0) return undefined
    return updateUser(mongo.db, user._id, { role }, session)
  })
  return changed ? { user: changed, changes: [...changes, 'user.role_changed'] } : { user, changes }
}
