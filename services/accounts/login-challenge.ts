/**
 * The state of a login between password and second factor: sealed and given to the client, so that nothing has to be
 * stored for it. It opens nothing without a code, which counts once.
 */
import { MINUTE_MS } from '../platform/durations.ts'
import { ProblemError } from '../platform/problems.ts'
import { SecretError, type Secrets } from '../platform/security/secrets.ts'
import type { UserDeps } from './manage-accounts.ts'
import { passwordMark } from './password-hashing.ts'
import type { LoginMethod } from './store/sessions.ts'
import { findUser, type UserDoc } from './store/users.ts'

/** The time to enter a code. */
const CHALLENGE_LIFE_MS = 5 * MINUTE_MS
const PLACE = 'login-challenge'

interface State {
  user: string
  mark: string
  until: number
  /** Absent in challenges of the release before: a password. */
  method?: LoginMethod
}

/** The challenge for a user whose first step, the password or a login provider, was checked. */
export function makeChallenge(
  secrets: Secrets,
  { _id, password_hash }: UserDoc,
  now: Date,
  method: LoginMethod = 'password',
): string {
  const state: State = {
    user: _id,
    method,
    mark: passwordMark(password_hash),
    until: now.getTime() + CHALLENGE_LIFE_MS,
  }
  return secrets.seal('totp', PLACE, JSON.stringify(state))
}

/**
 * The user of a challenge, and the first step of the login. Throws `login_expired` for one that is forged or too old, or whose user has another password
 * since, or is suspended.
 */
export async function openChallenge(
  { mongo, clock, secrets }: UserDeps & { secrets: Secrets },
  challenge: string,
): Promise<{ user: UserDoc; method: LoginMethod }> {
  const state = read(secrets, challenge)
  const user = state && state.until > clock.now().getTime() ? await findUser(mongo.db, state.user) : undefined
  if (user?.status !== 'active' || state?.mark !== passwordMark(user.password_hash))
    throw new ProblemError('login_expired')
  return { user, method: state.method ?? 'password' }
}

function read(secrets: Secrets, challenge: string): State | undefined {
  try {
    return JSON.parse(secrets.open('totp', PLACE, challenge))
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}
