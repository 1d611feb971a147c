/**
 * Passkeys (WebAuthn): registration with the password, and logins without one. `@simplewebauthn/server` verifies what
 * browsers send: challenge, origin, host, that the device has verified its user, and the signature.
 */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { MINUTE_MS } from '../platform/durations.ts'
import { ProblemError } from '../platform/problems.ts'
import { SecretError, type Secrets } from '../platform/security/secrets.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import type { LoginLimiter } from './login-limiter.ts'
import { checkLogin, getUser, type UserDeps } from './manage-accounts.ts'
import type { RelyingParty } from './rules/relying-party.ts'
import type { Confirmed } from './second-factor.ts'
import {
  countPasskeyUse,
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeysOf,
  type PasskeyDoc,
  renamePasskey,
} from './store/passkeys.ts'
import { takeChallenge } from './store/used-challenges.ts'
import { findUser, type UserDoc } from './store/users.ts'

/** Passkeys that an account may have. */
export const MAX_PASSKEYS = 20
/**
 * COSE algorithms, best first: Ed25519, ES256 and RS256, one of which every device has. The library would also offer
 * ML-DSA where this Node has it; every process of an installation must be able to verify a passkey.
 */
const ALGORITHMS = [-8, -7, -257]
/** The time to answer the browser's question. */
const CHALLENGE_LIFE_MS = 5 * MINUTE_MS

/** Dependencies of the use cases. */
export interface PasskeyDeps extends UserDeps {
  secrets: Secrets
  limiter: LoginLimiter
  /** Undefined where browsers allow no passkeys. */
  relyingParty: RelyingParty | undefined
}

/** Options for the browser, and the sealed challenge that comes back with its answer. */
export interface PasskeyQuestion {
  options: object
  challenge: string
}

/** What a browser answers to the options of a registration; in base64url. */
export interface NewPasskey {
  id: string
  clientData: string
  attestation: string
  transports: readonly string[]
}

/** What a browser answers to the options of a login; in base64url. */
export interface PasskeyProof {
  id: string
  clientData: string
  authenticatorData: string
  signature: string
  userHandle: string
}

/** A question, sealed for the client. */
interface Asked {
  /** With a registration: the account. */
  user?: string
  challenge: string
  until: number
}

/** Asks the browser for a new passkey. A wrong password counts as a failed login; 409 `conflict` with too many passkeys. */
export async function askForPasskey(deps: PasskeyDeps, { userId, password, ip }: Confirmed): Promise<PasskeyQuestion> {
  const party = required(deps)
  const { username } = await getUser(deps, userId)
  await checkLogin(deps, { username, password, ip })
  const options = await generateRegistrationOptions({
    rpName: 'Postwright',
    rpID: party.id,
    userName: username,
    userID: Buffer.from(userId),
    timeout: CHALLENGE_LIFE_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: (await roomFor(deps, userId)).map(({ _id, transports }) => ({ id: _id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return { options, challenge: seal(deps, 'registration', { user: userId, challenge: options.challenge }) }
}

/** Stores the passkey that a browser made. Throws `login_expired`, `passkey_refused`, and 409 `conflict`. */
export async function addPasskey(
  deps: PasskeyDeps,
  { userId, name, challenge, made }: { userId: string; name: string; challenge: string; made: NewPasskey },
): Promise<PasskeyDoc> {
  const party = required(deps)
  const asked = await take(deps, 'registration', challenge)
  if (asked.user !== userId) throw new ProblemError('login_expired')
  const { registrationInfo: info } = await verified(() =>
    verifyRegistrationResponse({
      response: {
        ...credentialOf(made.id),
        response: { clientDataJSON: made.clientData, attestationObject: made.attestation },
      },
      expectedChallenge: asked.challenge,
      supportedAlgorithmIDs: ALGORITHMS,
      ...expected(party),
    }),
  )
  if (!info) throw refusal()
  await roomFor(deps, userId)
  const passkey: PasskeyDoc = {
    _id: info.credential.id,
    user_id: userId,
    name,
    public_key: Buffer.from(info.credential.publicKey).toString('base64url'),
    counter: info.credential.counter,
    transports: [...made.transports],
    is_synced: info.credentialBackedUp,
    created_at: deps.clock.now(),
  }
  if (!(await insertPasskey(deps.mongo.db, passkey)))
    throw new ProblemError('conflict', sentence('detail.passkey_known'))
  return passkey
}

/** Asks the browser for any passkey of this host. */
export async function askForLogin(deps: PasskeyDeps): Promise<PasskeyQuestion> {
  const party = required(deps)
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    timeout: CHALLENGE_LIFE_MS,
    userVerification: 'required',
  })
  return { options, challenge: seal(deps, 'login', { challenge: options.challenge }) }
}

/**
 * The user whose passkey answered. Throws `login_expired` for a question that is too old or was answered before,
 * `passkey_refused`, and `account_suspended`.
 */
export async function logInWithPasskey(
  deps: PasskeyDeps,
  { challenge, proof }: { challenge: string; proof: PasskeyProof },
): Promise<UserDoc> {
  const { mongo, clock } = deps
  const party = required(deps)
  const asked = await take(deps, 'login', challenge)
  const passkey = await findPasskey(mongo.db, proof.id)
  if (!passkey) throw refusal('detail.passkey_unknown')
  if (proof.userHandle !== Buffer.from(passkey.user_id).toString('base64url')) throw refusal()
  const { verified: fits, authenticationInfo: info } = await verified(() =>
    verifyAuthenticationResponse({
      response: {
        ...credentialOf(proof.id),
        response: {
          clientDataJSON: proof.clientData,
          authenticatorData: proof.authenticatorData,
          signature: proof.signature,
          userHandle: proof.userHandle,
        },
      },
      expectedChallenge: asked.challenge,
      credential: {
        id: passkey._id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
      ...expected(party),
    }),
  )
  const use = { counter: info.newCounter, last_used_at: clock.now(), is_synced: info.credentialBackedUp }
  if (!fits || !(await countPasskeyUse(mongo.db, passkey, use))) throw refusal()
  const user = await findUser(mongo.db, passkey.user_id)
  if (user?.status !== 'active') throw new ProblemError('account_suspended')
  return user
}

/** Renames a passkey of an account, or 404. */
export async function changePasskey(
  { mongo }: UserDeps,
  userId: string,
  id: string,
  name: string,
): Promise<PasskeyDoc> {
  return found(await renamePasskey(mongo.db, userId, id, name))
}

/** Removes a passkey of an account, or 404. Sessions that it opened go on. */
export async function removePasskey({ mongo }: UserDeps, userId: string, id: string): Promise<PasskeyDoc> {
  return found(await deletePasskey(mongo.db, userId, id))
}

/** The passkeys of an account that may have one more. */
async function roomFor({ mongo }: UserDeps, userId: string): Promise<PasskeyDoc[]> {
  const known = await listPasskeysOf(mongo.db, userId, MAX_PASSKEYS)
  if (known.length >= MAX_PASSKEYS)
    throw new ProblemError('conflict', sentence('detail.passkey_most', { count: MAX_PASSKEYS }))
  return known
}

function required({ relyingParty }: PasskeyDeps): RelyingParty {
  if (!relyingParty) throw new ProblemError('not_found', sentence('detail.passkeys_off'))
  return relyingParty
}

const expected = ({ id, origin }: RelyingParty) => ({
  expectedOrigin: origin,
  expectedRPID: id,
  requireUserVerification: true,
})

const credentialOf = (id: string) => ({ id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} })

function refusal(
  code: 'detail.passkey_invalid' | 'detail.passkey_unknown' = 'detail.passkey_invalid',
  cause?: unknown,
) {
  return new ProblemError('passkey_refused', sentence(code), { cause })
}

/** The library throws what it finds wrong with an answer. */
async function verified<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    throw refusal('detail.passkey_invalid', error)
  }
}

type Step = 'registration' | 'login'
const placeOf = (step: Step) => `passkey-${step}`

function seal({ secrets, clock }: PasskeyDeps, step: Step, asked: Omit<Asked, 'until'>): string {
  const until = clock.now().getTime() + CHALLENGE_LIFE_MS
  return secrets.seal('passkey', placeOf(step), JSON.stringify({ ...asked, until }))
}

/** The question behind a challenge, which counts once. Throws `login_expired`. */
async function take({ mongo, secrets, clock }: PasskeyDeps, step: Step, challenge: string): Promise<Asked> {
  const asked = open(secrets, step, challenge)
  if (!asked || asked.until <= clock.now().getTime()) throw new ProblemError('login_expired')
  if (!(await takeChallenge(mongo.db, `passkey ${asked.challenge}`, new Date(asked.until))))
    throw new ProblemError('login_expired')
  return asked
}

function open(secrets: Secrets, step: Step, challenge: string): Asked | undefined {
  try {
    return JSON.parse(secrets.open('passkey', placeOf(step), challenge))
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

function found(passkey: PasskeyDoc | undefined): PasskeyDoc {
  if (!passkey) throw new ProblemError('not_found', sentence('detail.no_passkey'))
  return passkey
}
