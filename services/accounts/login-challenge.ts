/**
 * The state of a login between password and second factor: sealed and given to the client, so that nothing has to be
 * stored for it. It opens nothing without a code, which counts once.
 */
import { MINUTE_MS } from '../platform/durations.ts'
import { ProblemError } from '../platform/problems.ts'
import { SecretError, type Secrets } from '../platform/security/secrets.ts'
import type { UserDeps } from './manage-accounts.ts'
import { passwordMark } from './password-hashing.ts'
import { findUser, type UserDoc } from './store/users.ts'

/** The time to enter a code. */
const CHALLENGE_LIFE_MS = 5 * MINUTE_MS
const PLACE = 'login-challenge'

/** The challenge for a user whose password was checked. */
export function makeChallenge(secrets: Secrets, { _id, password_hash }: UserDoc, now: Date): string {
  const state = { user: _id, mark: passwordMark(password_hash), until: now.getTime() + CHALLENGE_LIFE_MS }
  return secrets.seal('totp', PLACE, JSON.stringify(state))
}

/**
 * The user of a challenge. Throws `login_expired` for one that is forged or too old, or whose user has another password
 * since, or is suspended.
 */
export async function openChallenge(
  { mongo, clock, secrets }: UserDeps & { secrets: Secrets },
  challenge: string,
): Promise<UserDoc> {
  const state = read(secrets, challenge)
  const user = state && state.until > clock.now().getTime() ? await findUser(mongo.db, state.user) : undefined
  if (user?.status !== 'active' || state?.mark !== passwordMark(user.password_hash))
    throw new ProblemError('login_expired')
  return user
}

function read(secrets: Secrets, challenge: string): { user: string; mark: string; until: number } | undefined {
  try {
    return JSON.parse(secrets.open('totp', PLACE, challenge))
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}
