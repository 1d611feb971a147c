/** Request rate of an account, counted over all processes and sent in every response. */
import { RateLimiterRes } from 'rate-limiter-flexible'
import { type Caller, personOf } from '../../../accounts/http/audit-caller.ts'
import { type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { type CounterDoc, createRateLimiter } from '../../../platform/database/rate-limiter.ts'
import { type Authorise, factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'

/** Counters of requests; written by the limiter alone. */
export const requestLimits = defineCollection<CounterDoc>('request_limits', [
  { key: { expire: 1 }, expireAfterSeconds: 0 },
  { key: { key: 1 }, unique: true },
])

/** A budget that fills up again after `seconds`. `points` 0 = no limit. */
export interface Rate {
  name: string
  points: number
  seconds: number
}

/** Requests of a minute. */
const MINUTE_SECONDS = 60

/**
 * The guard with the rates of a minute: API_REQUESTS_PER_MINUTE for the tokens of an account, PANEL_REQUESTS_PER_MINUTE
 * for the sessions of a user, in whichever account they work. Both count together over every operation that has no rate of its own.
 */
export function withRates<A, P extends Caller>(
  authorise: Authorise<A, P>,
  db: Db,
  config: Pick<Config, 'API_REQUESTS_PER_MINUTE' | 'PANEL_REQUESTS_PER_MINUTE'>,
): Authorise<A, P> {
  const rate = (name: string, points: number) => createRateLimit(db, { name, points, seconds: MINUTE_SECONDS })
  const takeToken = rate('api', config.API_REQUESTS_PER_MINUTE)
  const takeSession = rate('panel', config.PANEL_REQUESTS_PER_MINUTE)
  return async (context, access) => {
    const principal = await authorise(context, access)
    const take = principal.via === 'session' ? takeSession : takeToken
    await take(context, personOf(principal).id)
    return principal
  }
}

/** The rate of logins from one address (or IPv6 /64): right ones cost a hash as well. */
export function loginRate(
  db: Db,
  config: Pick<Config, 'API_REQUESTS_PER_MINUTE'>,
): (context: WebContext) => Promise<void> {
  const take = createRateLimit(db, { name: 'login', points: config.API_REQUESTS_PER_MINUTE, seconds: MINUTE_SECONDS })
  return context => take(context, clientNetwork(factsOf(context).ip))
}

/**
 * Takes one request from the key's budget and sets `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds). Throws
 * `rate_limited` with Retry-After when nothing is left.
 */
export type TakeRequest = (context: WebContext, key: string) => Promise<void>

/** A limit over all processes; see {@link createRateLimiter}. */
export function createRateLimit(db: Db, { name, points, seconds }: Rate): TakeRequest {
  if (points === 0) return () => Promise.resolve()
  const limiter = createRateLimiter(db, requestLimits, { prefix: name, points, seconds })
  return async (context, key) => {
    const { result, refused } = await limiter.consume(key).then(
      consumed => ({ result: consumed, refused: false }),
      (reason: unknown) => {
        if (reason instanceof RateLimiterRes) return { result: reason, refused: true }
        throw reason
      },
    )
    const reset = Math.max(1, Math.ceil(result.msBeforeNext / 1000))
    setRateHeaders(context, { limit: points, left: refused ? 0 : result.remainingPoints, resetSeconds: reset })
    if (refused)
      throw new ProblemError('rate_limited', sentence('detail.request_rate', { count: points, seconds }), {
        retryAfter: reset,
      })
  }
}

/** Sets the headers for the limit, the rest of it, and the seconds until it restarts. */
export function setRateHeaders(context: WebContext, rate: { limit: number; left: number; resetSeconds: number }): void {
  context.set('RateLimit-Limit', String(rate.limit))
  context.set('RateLimit-Remaining', String(rate.left))
  context.set('RateLimit-Reset', String(rate.resetSeconds))
}
