/** SMTP logins of an account: made, changed, read back by their owner, removed. */

import { hashPassword, makePassword } from '../../accounts/password-hashing.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import { SecretError, type Secrets } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { type ActingResource, refuseManaged } from '../managed.ts'
import { isAllowedSender } from '../submission/rules/validate-message.ts'
import { refuseLimits } from './manage-tokens.ts'
import { refuseForeignSenders } from './own-senders.ts'
import { excessOfLogin, excessOfNetworks, type Ways } from './rules/token-limits.ts'
import type { CredentialDoc } from './store/smtp-credentials.ts'
import {
  type CredentialChange,
  deleteCredential,
  findCredential,
  insertCredential,
  updateCredential,
} from './store/smtp-credentials.ts'

/** Dependencies of the use cases, with the resource that acts, if one does. */
export interface CredentialDeps extends ActingResource {
  db: Db
  clock: Clock
  secrets: Secrets
}

/** A new login; without a password one is made. `username` is folded and checked. */
export type NewCredential = { password?: string | undefined } & Pick<
  CredentialDoc,
  | 'username'
  | 'allowed_senders'
  | 'allowed_cidrs'
  | 'messages_per_hour'
  | 'fallback_sender'
  | 'allow_null_sender'
  | 'disabled'
  | 'created_by'
>

/** A login and its password, to be shown once. */
export interface CredentialAndPassword {
  credential: CredentialDoc
  password: string
}

/**
 * Creates a login; 409 `conflict` when any account has the name, and 422 for a sender of a domain that the account does
 * not have, unless a resource acts, whose domain may be registered later. `by`, here and below, is the calling token, if any: it
 * grants no more than it has, 403 `insufficient_scope`.
 */
export async function createCredential(
  { db, clock, secrets, resource }: CredentialDeps,
  userId: string,
  { password = makePassword(), ...input }: NewCredential,
  by?: Ways,
): Promise<CredentialAndPassword> {
  if (by) refuseLimits('insufficient_scope', excessOfLogin(input.allowed_cidrs, by))
  refuseFallback(input)
  if (!resource) await refuseForeignSenders(db, userId, input)
  const now = clock.now()
  const id = newId('smtp', now.getTime())
  const credential: CredentialDoc = {
    _id: id,
    user_id: userId,
    ...input,
    password_hash: await hashPassword(password, userId),
    password_sealed: secrets.seal('smtp-password', credentialPlace(id), password),
    ...(resource ? { managed_by: resource } : {}),
    created_at: now,
    updated_at: now,
  }
  if (!(await insertCredential(db, credential)))
    throw new ProblemError('conflict', sentence('detail.smtp_login_exists', { name: input.username }))
  return { credential, password }
}

/** A login of the account, or 404. */
export async function getCredential({ db }: CredentialDeps, userId: string, id: string): Promise<CredentialDoc> {
  return found(await findCredential(db, userId, id))
}

/** Changes the limits of a login, or disables it. */
export async function changeCredential(
  deps: CredentialDeps,
  userId: string,
  id: string,
  change: CredentialChange,
  by?: Ways,
): Promise<CredentialDoc> {
  if (by && change.allowed_cidrs) refuseLimits('insufficient_scope', excessOfNetworks(change.allowed_cidrs, by))
  const before = await getCredential(deps, userId, id)
  refuseManaged(before, deps)
  refuseFallback({ ...before, ...change })
  if (!deps.resource) await refuseForeignSenders(deps.db, userId, change, before)
  return found(await updateCredential(deps.db, userId, id, { ...change, updated_at: deps.clock.now() }))
}

/** Throws 422 for a fallback sender that the login may not use: it would be refused with each message. */
export function refuseFallback({
  fallback_sender: fallback,
  allowed_senders: allowed,
}: Pick<CredentialDoc, 'fallback_sender' | 'allowed_senders'>): void {
  if (!fallback || isAllowedSender(fallback, allowed)) return
  throw refuseFields([
    { pointer: '/fallback_sender', reason: sentence('field.fallback_sender', { address: fallback }) },
  ])
}

/** Sets a password, a made one unless given. */
export async function setCredentialPassword(
  deps: CredentialDeps,
  userId: string,
  id: string,
  password = makePassword(),
  by?: Ways,
): Promise<CredentialAndPassword> {
  if (by) {
    const { allowed_cidrs: networks } = await getCredential(deps, userId, id)
    refuseLimits('insufficient_scope', excessOfLogin(networks, by))
  }
  const credential = await changeCredential(deps, userId, id, {
    password_hash: await hashPassword(password, userId),
    password_sealed: deps.secrets.seal('smtp-password', credentialPlace(id), password),
    password_made_at: deps.clock.now(),
  })
  return { credential, password }
}

/** The password in clear; 409 `password_not_copyable` when only its hash is stored, or when its encryption key is lost. */
export async function readCredentialPassword(deps: CredentialDeps, userId: string, id: string): Promise<string> {
  const { password_sealed: sealed } = await getCredential(deps, userId, id)
  if (sealed === undefined) throw new ProblemError('password_not_copyable', sentence('detail.only_hash'))
  try {
    return deps.secrets.open('smtp-password', credentialPlace(id), sealed)
  } catch (error) {
    if (error instanceof SecretError)
      throw new ProblemError('password_not_copyable', sentence('detail.password_lost'), { cause: error })
    throw error
  }
}

/** Removes a login. */
export async function removeCredential(deps: CredentialDeps, userId: string, id: string): Promise<CredentialDoc> {
  const credential = await getCredential(deps, userId, id)
  refuseManaged(credential, deps)
  await deleteCredential(deps.db, userId, id)
  return credential
}

/** Where a sealed password belongs. */
export function credentialPlace(id: string): string {
  return `credentials/${id}`
}

function found(credential: CredentialDoc | undefined): CredentialDoc {
  if (!credential) throw new ProblemError('not_found', sentence('detail.no_smtp_login'))
  return credential
}
