/** How many invitations to accounts a user may send: without a limit, anyone with an account could mail anyone. */
import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Db } from '../../platform/database/mongo.ts'
import { createRateLimiter } from '../../platform/database/rate-limiter.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { loginLimits } from '../login-limiter.ts'

/** Invitations of a user in an hour, sent for the first time or again. */
export const INVITATIONS_PER_HOUR = 30

/** Counts an invitation of a user. Throws `rate_limited` with Retry-After. */
export type InvitationRate = (userId: string) => Promise<void>

/** The limit over all processes. */
export function createInvitationRate(db: Db): InvitationRate {
  const limiter = createRateLimiter(db, loginLimits, {
    prefix: 'member-invitations',
    points: INVITATIONS_PER_HOUR,
    seconds: HOUR_MS / 1000,
  })
  return async userId => {
    await limiter.consume(userId).catch((reason: unknown) => {
      if (!(reason instanceof RateLimiterRes)) throw reason
      const retryAfter = Math.max(1, Math.ceil(reason.msBeforeNext / 1000))
      throw new ProblemError('rate_limited', undefined, { retryAfter })
    })
  }
}
