/** Credentials of apps: created, checked, revoked. A secret is shown once, when it is created. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError, sameSecret } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { CredentialDoc } from '../store/models.ts'
import { rememberNonce } from '../store/nonces-and-idempotency.ts'
import { canonicalRequest, type SignedRequest } from './rules/request-signature.ts'
import {
  findCredential,
  findPublishable,
  hasSigner,
  insertCredentials,
  listCredentials,
  raiseAppVersion,
  revokeCredentials,
} from './store/apps.ts'

/** A new credential: the document, and the text that its holder is shown once. */
export interface MadeCredential {
  document: CredentialDoc
  shown: string
}

/** Live credentials of each kind that an app may have: two, so that they can be rotated without a gap. */
const MAX_LIVE = 2

/** Makes a credential without storing it. */
export function makeCredential(
  context: Pick<Subscriptions, 'secrets' | 'clock'>,
  appKey: string,
  kind: CredentialDoc['kind'],
  managedBy?: ManagedBy,
): MadeCredential {
  const _id = randomBytes(8).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  const base = {
    _id,
    app_key: appKey,
    kind,
    ...(managedBy ? { managed_by: managedBy } : {}),
    created_at: context.clock.now(),
  }
  if (kind === 'publishable') {
    const key = `pk_${appKey}_${randomBytes(18).toString('base64url')}`
    return { document: { ...base, key }, shown: key }
  }
  const sealed = (value: string) => context.secrets.seal('app-secret', placeOf(_id), value)
  if (kind === 'hmac') return { document: { ...base, sealed: sealed(secret) }, shown: secret }
  const shown = `ask_${_id}_${secret}`
  // The secret of a resource is kept sealed until its Kubernetes Secret holds it.
  const kept = managedBy ? { undelivered: sealed(shown) } : {}
  return { document: { ...base, secret_hash: hashOf(secret), ...kept }, shown }
}

/** Creates and stores a credential. Throws `transition_refused` when the app has two live ones of the kind. */
export async function addCredential(
  context: Subscriptions,
  actor: Actor,
  appKey: string,
  kind: CredentialDoc['kind'],
): Promise<MadeCredential> {
  const live = (await listCredentials(context.collections, appKey)).filter(
    known => known.kind === kind && !known.revoked_at,
  )
  if (live.length >= MAX_LIVE)
    throw new ProblemError('transition_refused', sentence('detail.live_credentials', { count: MAX_LIVE }))
  const made = makeCredential(context, appKey, kind)
  await record(context, actor, async session => {
    await insertCredentials(context.collections, [made.document], session)
    return { result: undefined, event: auditEventOf('credential.create', made.document) }
  })
  return made
}

/**
 * Revokes a credential with immediate effect. Throws `record_not_found`, and `transition_refused` for the last signing
 * key of an app whose requests must be signed: the app would be locked out.
 */
export async function revokeCredential(
  context: Subscriptions,
  actor: Actor,
  appKey: string,
  id: string,
): Promise<void> {
  const signs = (await findCredential(context.collections, id))?.kind === 'hmac'
  await record(context, actor, async session => {
    // Conflicts with a parallel revocation of the other key and with a parallel change to require signatures.
    const app = signs ? await raiseAppVersion(context.collections, appKey, session) : undefined
    if (
      (await revokeCredentials(context.collections, { app_key: appKey, _id: id }, context.clock.now(), session)) === 0
    )
      throw new ProblemError('record_not_found')
    if (app?.require_signature && !(await hasSigner(context.collections, appKey, session)))
      throw new ProblemError('transition_refused', sentence('detail.last_signing_key'))
    return {
      result: undefined,
      event: { action: 'credential.revoke', appKey, target: { kind: 'credential', id } },
    }
  })
}

/** The app of `ask_<key id>_<secret>`, or of a publishable key; undefined when it is unknown or revoked. */
export async function checkKey(context: Subscriptions, given: string): Promise<CredentialDoc | undefined> {
  if (given.startsWith('pk_')) return findPublishable(context.collections, given)
  const match = /^ask_([0-9a-f]{16})_([\w-]{43})$/.exec(given)
  if (!match) return undefined
  const [, id = '', secret = ''] = match
  const credential = await findCredential(context.collections, id)
  if (credential?.secret_hash === undefined) return undefined
  return sameSecret(hashOf(secret), credential.secret_hash) ? credential : undefined
}

/** Largest difference between the timestamp of a signed request and now, in seconds, in both directions. */
const MAX_SKEW = 300
/** Lifetime of a stored nonce in seconds: longer than both sides of the skew. */
const NONCE_LIFE = 660

/** The credential that signs under this key id; undefined when it is unknown, revoked, or no such credential. */
export async function findSigner(context: Subscriptions, keyId: string): Promise<CredentialDoc | undefined> {
  const credential = await findCredential(context.collections, keyId)
  return credential?.sealed === undefined ? undefined : credential
}

/**
 * Checks `SUB-HMAC-SHA256 key_id=,timestamp=,nonce=,signature=`. Throws `app_signature_invalid` for a wrong, late or
 * repeated one, and `app_credential_invalid` when the stored secret of the credential cannot be decrypted any more.
 */
export async function checkSignature(
  context: Subscriptions,
  credential: CredentialDoc,
  signed: SignedRequest & { signature: string },
): Promise<void> {
  const now = context.clock.now()
  const refuse = () => new ProblemError('app_signature_invalid')
  if (Math.abs(now.getTime() / 1000 - Number(signed.timestamp)) > MAX_SKEW) throw refuse()
  const secret = keptSecretOf(context, credential)
  if (secret === undefined) throw new ProblemError('app_credential_invalid', sentence('detail.secret_lost'))
  const expected = createHmac('sha256', secret).update(canonicalRequest(signed)).digest('base64')
  if (!sameSecret(signed.signature, expected)) throw refuse()
  const until = new Date(now.getTime() + NONCE_LIFE * 1000)
  if (!(await rememberNonce(context.collections, `${credential._id}/${signed.nonce}`, until))) throw refuse()
}

/**
 * The stored secret of a credential: of kind hmac, or not yet delivered to its Kubernetes Secret. Undefined when none
 * is stored or when it was sealed with a SESSION_SECRET that is lost.
 */
export function keptSecretOf(
  { secrets }: Pick<Subscriptions, 'secrets'>,
  { _id, sealed, undelivered }: Pick<CredentialDoc, '_id' | 'sealed' | 'undelivered'>,
): string | undefined {
  const kept = sealed ?? undelivered
  if (kept === undefined) return undefined
  try {
    return secrets.open('app-secret', placeOf(_id), kept)
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** The sealing context of an app credential's secret. */
export const placeOf = (id: string) => `sub_credentials/${id}`

function auditEventOf(action: string, { _id, app_key, kind }: CredentialDoc) {
  return { action, appKey: app_key, target: { kind: 'credential', id: _id }, after: { kind } }
}
