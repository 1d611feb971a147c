/** Credentials of apps: made, checked, revoked. Secrets are shown once, at their making. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError, sameSecret } from '../../platform/security/secrets.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { CredentialDoc } from '../store/documents.ts'
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

/** A new credential: the document, and what its holder gets to see once. */
export interface MadeCredential {
  document: CredentialDoc
  shown: string
}

/** Live credentials of each kind that an app may have: two, so that they can be rotated without a gap. */
const MAX_LIVE = 2

/** Makes a credential without storing it. */
export function makeCredential(
  s: Pick<Subscriptions, 'secrets' | 'clock'>,
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
    created_at: s.clock.now(),
  }
  if (kind === 'publishable') {
    const key = `pk_${appKey}_${randomBytes(18).toString('base64url')}`
    return { document: { ...base, key }, shown: key }
  }
  const sealed = (value: string) => s.secrets.seal('app-secret', placeOf(_id), value)
  if (kind === 'hmac') return { document: { ...base, sealed: sealed(secret) }, shown: secret }
  const shown = `ask_${_id}_${secret}`
  // Nobody looks on while a resource gets its secret: it is kept until it is where it belongs.
  const kept = managedBy ? { undelivered: sealed(shown) } : {}
  return { document: { ...base, secret_hash: hashOf(secret), ...kept }, shown }
}

/** Makes and stores one more credential. Throws `transition_refused` when the app has two live ones of the kind. */
export async function addCredential(
  s: Subscriptions,
  actor: Actor,
  appKey: string,
  kind: CredentialDoc['kind'],
): Promise<MadeCredential> {
  const live = (await listCredentials(s.c, appKey)).filter(known => known.kind === kind && !known.revoked_at)
  if (live.length >= MAX_LIVE)
    throw new ProblemError('transition_refused', `An app has at most ${MAX_LIVE} live credentials of a kind.`)
  const made = makeCredential(s, appKey, kind)
  await record(s, actor, async session => {
    await insertCredentials(s.c, [made.document], session)
    return { result: undefined, deed: deedOf('credential.create', made.document) }
  })
  return made
}

/**
 * Revokes a credential at once. Throws `record_not_found`, and `transition_refused` for the last one to sign with of an
 * app whose requests must be signed: the app would lock itself out.
 */
export async function revokeCredential(s: Subscriptions, actor: Actor, appKey: string, id: string): Promise<void> {
  const signs = (await findCredential(s.c, id))?.kind === 'hmac'
  await record(s, actor, async session => {
    // Against the other key being revoked, or signatures being demanded, in this moment.
    const app = signs ? await raiseAppVersion(s.c, appKey, session) : undefined
    if ((await revokeCredentials(s.c, { app_key: appKey, _id: id }, s.clock.now(), session)) === 0)
      throw new ProblemError('record_not_found')
    if (app?.require_signature && !(await hasSigner(s.c, appKey, session)))
      throw new ProblemError('transition_refused', 'The app must sign its requests, and this is its last key to do so.')
    return {
      result: undefined,
      deed: { action: 'credential.revoke', appKey, target: { kind: 'credential', id } },
    }
  })
}

/** The app of `ask_<key id>_<secret>`, or of a publishable key; undefined when it is unknown or revoked. */
export async function checkKey(s: Subscriptions, given: string): Promise<CredentialDoc | undefined> {
  if (given.startsWith('pk_')) return findPublishable(s.c, given)
  const match = /^ask_([0-9a-f]{16})_([\w-]{43})$/.exec(given)
  if (!match) return undefined
  const [, id = '', secret = ''] = match
  const credential = await findCredential(s.c, id)
  if (credential?.secret_hash === undefined) return undefined
  return sameSecret(hashOf(secret), credential.secret_hash) ? credential : undefined
}

const SECRET_LOST =
  'The secret of this credential cannot be decrypted: SESSION_SECRET was changed without SESSION_SECRET_PREVIOUS. Create another credential.'

/** A signed request may be so old or so early, in seconds. */
const MAX_SKEW = 300
/** Nonces are remembered so long, in seconds: longer than both sides of the skew. */
const NONCE_LIFE = 660

/** The credential that signs under this key id; undefined when it is unknown, revoked, or no such credential. */
export async function findSigner(s: Subscriptions, keyId: string): Promise<CredentialDoc | undefined> {
  const credential = await findCredential(s.c, keyId)
  return credential?.sealed === undefined ? undefined : credential
}

/**
 * Checks `SUB-HMAC-SHA256 key_id=,timestamp=,nonce=,signature=`. Throws `app_signature_invalid` for a wrong, late or
 * repeated one, and `app_credential_invalid` when the stored secret of the credential cannot be decrypted any more.
 */
export async function checkSignature(
  s: Subscriptions,
  credential: CredentialDoc,
  signed: SignedRequest & { signature: string },
): Promise<void> {
  const now = s.clock.now()
  const refuse = () => new ProblemError('app_signature_invalid')
  if (Math.abs(now.getTime() / 1000 - Number(signed.timestamp)) > MAX_SKEW) throw refuse()
  const secret = keptSecretOf(s, credential)
  if (secret === undefined) throw new ProblemError('app_credential_invalid', SECRET_LOST)
  const expected = createHmac('sha256', secret).update(canonicalRequest(signed)).digest('base64')
  if (!sameSecret(signed.signature, expected)) throw refuse()
  const until = new Date(now.getTime() + NONCE_LIFE * 1000)
  if (!(await rememberNonce(s.c, `${credential._id}/${signed.nonce}`, until))) throw refuse()
}

/**
 * The secret of a credential as far as it is kept: of kind hmac, or one that did not reach its Kubernetes Secret yet.
 * Undefined too when it was sealed with a SESSION_SECRET that is lost.
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

/** Where the secret of an app's credential is sealed to. */
export const placeOf = (id: string) => `sub_credentials/${id}`

function deedOf(action: string, { _id, app_key, kind }: CredentialDoc) {
  return { action, appKey: app_key, target: { kind: 'credential', id: _id }, after: { kind } }
}
