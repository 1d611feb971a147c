/** Makes an SMTP login as its resource declares it: limits, password, rotation with an overlap, removal. */

import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../../platform/durations.ts'
import { isOwner } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { refuseManaged } from '../managed.ts'
import type { ManagedBy } from '../store/documents.ts'
import {
  type CredentialDeps,
  createCredential,
  credentialPlace,
  type NewCredential,
  refuseFallback,
  setCredentialPassword,
} from './manage-smtp-credentials.ts'
import { hashSecret } from './rules/token.ts'
import type { CredentialDoc } from './store/smtp-credentials.ts'
import { deleteCredential, findCredential, findCredentialByName, updateCredential } from './store/smtp-credentials.ts'

/** What a resource declares of a login. */
export type WantedCredential = Required<Omit<NewCredential, 'password' | 'created_by'>>

/** The login with its password; undefined when only the hash is left. */
export interface AppliedCredential {
  credential: CredentialDoc
  password: string | undefined
  created: boolean
  /** It was the login of another account until now, which has it no more. */
  moved: boolean
  changed: readonly string[]
}

/** Use cases run for a resource. */
export type CredentialResourceDeps = CredentialDeps & { resource: ManagedBy }

/** How long the password still works after it was rotated, in milliseconds. */
const OVERLAP_MS = DAY_MS

/**
 * Creates the login, or brings the existing one into line. 409 `conflict` when another account, or a person, has the
 * name, or when it was withdrawn from another account; 409 `managed_by_resource` when another resource manages it; 422
 * for a fallback sender that is not allowed.
 */
export async function applyCredential(
  deps: CredentialResourceDeps,
  userId: string,
  wanted: WantedCredential,
): Promise<AppliedCredential> {
  refuseFallback(wanted)
  const taken = new ProblemError('conflict', sentence('detail.smtp_name_taken', { name: wanted.username }))
  const known = await findCredentialByName(deps.db, wanted.username)
  const create = async (moved: boolean) => {
    const { credential, password } = await createCredential(deps, userId, wanted)
    return { credential, password, created: true, moved, changed: [] }
  }
  if (!known) return create(false)
  if (!known.managed_by || (known.user_id !== userId && !isOwner(known.managed_by, deps.resource))) throw taken
  refuseManaged(known, deps)
  if (known.user_id !== userId) {
    // Disabled, and not by the resource: a withdrawn login waits for its account to be listed again.
    if (known.disabled && !wanted.disabled) throw taken
    // The resource speaks for another account by now: the login of the one before ends with that.
    await deleteCredential(deps.db, known.user_id, known._id)
    return create(true)
  }
  const { username: _, ...limits } = wanted
  const fields = { ...limits, managed_by: deps.resource }
  const changed = Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(current(known, name), value))
  const credential =
    changed.length === 0
      ? known
      : await updateCredential(deps.db, userId, known._id, { ...fields, updated_at: deps.clock.now() })
  if (!credential) throw taken // removed in parallel; the next run creates it again
  return {
    credential,
    password: openPassword(deps, credential),
    created: false,
    moved: false,
    changed: changed.map(([name]) => name),
  }
}

/**
 * A new password. The old one, if it can still be read, works for {@link OVERLAP_MS} more, so that pods can take up the
 * new Secret.
 */
export async function rotateCredential(
  deps: CredentialResourceDeps,
  userId: string,
  id: string,
): Promise<{ credential: CredentialDoc; password: string }> {
  const before = await findCredential(deps.db, userId, id)
  if (!before) throw new ProblemError('not_found', sentence('detail.no_smtp_login'))
  refuseManaged(before, deps)
  const old = openPassword(deps, before)
  if (old !== undefined) {
    const until = new Date(deps.clock.now().getTime() + OVERLAP_MS)
    await updateCredential(deps.db, userId, id, { previous: { sha256: hashSecret(old), until } })
  }
  return setCredentialPassword(deps, userId, id)
}

/** The login with this name if the resource manages it. */
export async function credentialOf(deps: CredentialResourceDeps, username: string): Promise<CredentialDoc | undefined> {
  const known = await findCredentialByName(deps.db, username)
  return known?.managed_by && isOwner(known.managed_by, deps.resource) ? known : undefined
}

/** Disables a login whose resource may not act for its account any more; the password before it ends, too. */
export async function disableCredential(
  { db, clock }: CredentialResourceDeps,
  { _id, user_id }: CredentialDoc,
): Promise<void> {
  await updateCredential(db, user_id, _id, { disabled: true, updated_at: clock.now() }, ['previous'])
}

/** Leaves a login to its account, disabled: a resource that may not act for the account deletes nothing of it. */
export async function retainCredential(
  { db, clock }: CredentialResourceDeps,
  { _id, user_id }: CredentialDoc,
): Promise<void> {
  const change = { disabled: true, updated_at: clock.now() }
  await updateCredential(db, user_id, _id, change, ['managed_by', 'k8s', 'previous'])
}

/** Removes the login of a resource; one that is gone is fine. */
export async function withdrawCredential(deps: CredentialResourceDeps, username: string): Promise<void> {
  const known = await findCredentialByName(deps.db, username)
  if (known?.managed_by?.uid === deps.resource.uid) await deleteCredential(deps.db, known.user_id, known._id)
}

/** Meaning of absent fields. */
const ABSENT: Readonly<Record<string, unknown>> = { disabled: false, allow_null_sender: false, fallback_sender: null }

function current(credential: CredentialDoc, name: string): unknown {
  const value: unknown = Object.entries(credential).find(([field]) => field === name)?.[1]
  return value ?? ABSENT[name]
}

function openPassword({ secrets }: CredentialDeps, { _id, password_sealed }: CredentialDoc): string | undefined {
  if (password_sealed === undefined) return undefined
  try {
    return secrets.open('smtp-password', credentialPlace(_id), password_sealed)
  } catch (error) {
    if (error instanceof SecretError) return undefined // sealed with a secret that is lost
    throw error
  }
}
