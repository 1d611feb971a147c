/** Rate limits of one process: a fixed window of a minute per caller. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../../platform/config.ts'
import { ProblemError } from '../../platform/problems.ts'

/** Counts one request of a caller. Throws `rate_limited` with the seconds to wait. */
export type Rate = (caller: string) => Promise<void>

/** The limits of this API. */
export interface Rates {
  admin: Rate
  server: Rate
  ofrep: Rate
  login: Rate
}

/** Logins per minute and address, right ones included: a hash costs 20 ms of CPU. */
const LOGINS_PER_MINUTE = 30

/** Fresh counters. */
export function createRates(
  config: Pick<Config, 'ADMIN_REQUESTS_PER_MINUTE' | 'SERVER_REQUESTS_PER_MINUTE' | 'OFREP_REQUESTS_PER_MINUTE'>,
): Rates {
  return {
    admin: perMinute(config.ADMIN_REQUESTS_PER_MINUTE),
    server: perMinute(config.SERVER_REQUESTS_PER_MINUTE),
    ofrep: perMinute(config.OFREP_REQUESTS_PER_MINUTE),
    login: perMinute(LOGINS_PER_MINUTE),
  }
}

function perMinute(points: number): Rate {
  const limiter = new RateLimiterMemory({ points, duration: 60 })
  return async caller => {
    try {
      await limiter.consume(caller)
    } catch (result) {
      if (!(result instanceof RateLimiterRes)) throw result
      throw new ProblemError('rate_limited', undefined, {
        retryAfter: Math.max(1, Math.ceil(result.msBeforeNext / 1000)),
      })
    }
  }
}
