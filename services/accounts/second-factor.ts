/** The second factor of an account: codes of an authenticator app, and recovery codes for who has lost it. */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { ProblemError } from '../platform/problems.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import { type LoginLimiter, limitProblem } from './login-limiter.ts'
import { checkLogin, getUser, type UserDeps } from './manage-accounts.ts'
import { base32, matchingStep, otpauthUri, TOTP_SECRET_BYTES } from './rules/totp.ts'
import {
  confirmSecondFactor,
  deleteSecondFactor,
  findSecondFactor,
  putSecondFactor,
  type SecondFactorDoc,
  takeRecoveryCode,
  takeStep,
} from './store/second-factors.ts'
import { deleteSessionsOf } from './store/sessions.ts'
import type { UserDoc } from './store/users.ts'

/** Failed codes allowed in 15 minutes, fewer than passwords: three of a million codes are right at any time. */
export const CODE_LIMITS = { pair: 5, address: 20, account: 10, known: 20 } as const

/** Recovery codes that an account gets. */
export const RECOVERY_CODES = 10
/** 79 bits, in letters and digits that cannot be taken for each other. */
const RECOVERY_CHARS = 16
const READABLE = '23456789abcdefghjkmnpqrstuvwxyz'

/** Dependencies of the use cases. `codes`: made with channel `second-factor` and {@link CODE_LIMITS}. */
export interface SecondFactorDeps extends UserDeps {
  secrets: Secrets
  limiter: LoginLimiter
  codes: LoginLimiter
}

/** Who acts, with the own password. */
export interface Confirmed {
  userId: string
  password: string
  ip: string
}

/** Where the secret of an account is sealed. */
export const secondFactorPlace = (userId: string) => `second_factors/${userId}/totp`

/** The confirmed factor of an account. */
export async function confirmedFactor(
  { mongo }: Pick<UserDeps, 'mongo'>,
  userId: string,
): Promise<SecondFactorDoc | undefined> {
  const factor = await findSecondFactor(mongo.db, userId)
  return factor?.confirmed_at ? factor : undefined
}

/**
 * Makes a secret for an app; nothing is asked for until {@link confirmFactor}. A wrong password counts as a failed login;
 * 409 `conflict` when the factor is on.
 */
export async function startFactor(
  deps: SecondFactorDeps,
  { userId, password, ip }: Confirmed,
): Promise<{ secret: string; uri: string }> {
  const { username } = await getUser(deps, userId)
  await checkLogin(deps, { username, password, ip })
  const bytes = randomBytes(TOTP_SECRET_BYTES)
  const stored = await putSecondFactor(deps.mongo.db, {
    _id: userId,
    sealed: deps.secrets.seal('totp', secondFactorPlace(userId), bytes.toString('base64')),
    last_step: 0,
    recovery: [],
    created_at: deps.clock.now(),
  })
  if (!stored) throw new ProblemError('conflict', sentence('detail.factor_on'))
  const secret = base32(bytes)
  return { secret, uri: otpauthUri('Postwright', username, secret) }
}

/**
 * Turns the factor on with a code of the app, ends the other sessions, which were opened without it, and returns the
 * recovery codes, which are shown this once.
 */
export async function confirmFactor(
  { mongo, clock, secrets }: SecondFactorDeps,
  { userId, sessionId, code }: { userId: string; sessionId: string | undefined; code: string },
): Promise<string[]> {
  const factor = await findSecondFactor(mongo.db, userId)
  if (!factor) throw new ProblemError('conflict', sentence('detail.factor_not_started'))
  if (factor.confirmed_at) throw new ProblemError('conflict', sentence('detail.factor_on'))
  const step = matchingStep(secretOf(secrets, factor), code, { ms: clock.now().getTime(), lastStep: factor.last_step })
  if (step === undefined) throw new ProblemError('invalid_code')
  const recovery = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode)
  const change = { confirmed_at: clock.now(), last_step: step, recovery: recovery.map(hashOf) }
  await mongo.transaction(async session => {
    if (!(await confirmSecondFactor(mongo.db, factor, change, session)))
      throw new ProblemError('conflict', sentence('detail.factor_on'))
    await deleteSessionsOf(mongo.db, userId, sessionId, session)
  })
  return recovery
}

/**
 * Checks a code of the app or a recovery code, and uses it up: of two uses at once one wins. Throws `invalid_code`, and
 * `rate_limited` after too many failures.
 */
export async function checkCode(
  deps: Pick<SecondFactorDeps, 'mongo' | 'clock' | 'secrets' | 'codes'>,
  { _id, username }: UserDoc,
  { code, ip }: { code: string; ip: string },
): Promise<void> {
  const outcome = await deps.codes.guard(username, ip, async () => {
    const factor = await confirmedFactor(deps, _id)
    return factor && (await consumeCode(deps, factor, code)) ? true : undefined
  })
  if (outcome.kind === 'refused') throw new ProblemError('invalid_code')
  if (outcome.kind === 'limited') throw limitProblem(outcome)
}

/** Turns the factor off; needs password and code. */
export async function disableFactor(deps: SecondFactorDeps, given: Confirmed & { code: string }): Promise<UserDoc> {
  const { userId, password, ip, code } = given
  const { username } = await getUser(deps, userId)
  const user = await checkLogin(deps, { username, password, ip })
  if (!(await confirmedFactor(deps, userId))) throw new ProblemError('conflict', sentence('detail.no_factor'))
  await checkCode(deps, user, { code, ip })
  await deleteSecondFactor(deps.mongo.db, userId)
  return user
}

/** Removes the factor of a user who has lost app and recovery codes; 409 `conflict` without one. */
export async function removeFactor(deps: UserDeps, userId: string): Promise<UserDoc> {
  const user = await getUser(deps, userId)
  if (!(await deleteSecondFactor(deps.mongo.db, userId)))
    throw new ProblemError('conflict', sentence('detail.no_factor'))
  return user
}

async function consumeCode(
  { mongo, clock, secrets }: Pick<SecondFactorDeps, 'mongo' | 'clock' | 'secrets'>,
  factor: SecondFactorDoc,
  typed: string,
): Promise<boolean> {
  const code = typed.replaceAll(/[\s-]/g, '').toLowerCase()
  if (code.length === RECOVERY_CHARS) return takeRecoveryCode(mongo.db, factor._id, hashOf(code))
  const ms = clock.now().getTime()
  const step = matchingStep(secretOf(secrets, factor), code, { ms, lastStep: factor.last_step })
  return step !== undefined && takeStep(mongo.db, factor, step)
}

function secretOf(secrets: Secrets, { _id, sealed }: SecondFactorDoc): Buffer {
  return Buffer.from(secrets.open('totp', secondFactorPlace(_id), sealed), 'base64')
}

/** `xxxx-xxxx-xxxx-xxxx`; the dashes do not count. */
function makeRecoveryCode(): string {
  const chars = Array.from({ length: RECOVERY_CHARS }, () => READABLE.charAt(randomInt(READABLE.length))).join('')
  return chars.match(/.{4}/g)?.join('-') ?? chars
}

function hashOf(code: string): string {
  return createHash('sha256').update(code.replaceAll('-', '')).digest('hex')
}
