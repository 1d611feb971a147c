/** Bounds the mail that strangers can cause, over all processes. */
import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Db } from '../platform/database/mongo.ts'
import { createRateLimiter } from '../platform/database/rate-limiter.ts'
import { clientNetwork } from '../platform/network/ip-networks.ts'
import { ProblemError } from '../platform/problems.ts'
import { loginLimits } from './login-limiter.ts'

const HOUR_SECONDS = 3_600

/**
 * Requests in an hour: of one address (or IPv6 /64), for one entered name, and mail with a link of one account, whichever
 * names were entered for it.
 */
export const RECOVERY_LIMITS = { address: 20, name: 5, account: 5 } as const

/**
 * Counts a request for a new password, whether the name belongs to somebody or not. Throws `rate_limited` with the time
 * to wait.
 */
export type RecoveryRate = (ip: string, typed: string) => Promise<void>

/** The limits of requests. */
export function createRecoveryRate(db: Db): RecoveryRate {
  const counter = (kind: 'address' | 'name') =>
    createRateLimiter(db, loginLimits, {
      prefix: `recovery-${kind}`,
      points: RECOVERY_LIMITS[kind],
      seconds: HOUR_SECONDS,
    })
  const [address, name] = [counter('address'), counter('name')]
  return async (ip, typed) => {
    // One after the other: an address over its limit must not use up the requests of a name.
    for (const [limiter, key] of [[address, clientNetwork(ip)] as const, [name, typed] as const])
      await limiter.consume(key).catch((reason: unknown) => {
        if (!(reason instanceof RateLimiterRes)) throw reason
        const retryAfter = Math.max(1, Math.ceil(reason.msBeforeNext / 1000))
        throw new ProblemError('rate_limited', undefined, { retryAfter })
      })
  }
}

/** Whether an account may get another mail with a link; counts it. */
export function createMailAllowance(db: Db): (userId: string) => Promise<boolean> {
  const limiter = createRateLimiter(db, loginLimits, {
    prefix: 'recovery-account',
    points: RECOVERY_LIMITS.account,
    seconds: HOUR_SECONDS,
  })
  return userId =>
    limiter.consume(userId).then(
      () => true,
      (reason: unknown) => {
        if (reason instanceof RateLimiterRes) return false
        throw reason
      },
    )
}
