/** Slows down the guessing of passwords, on every channel, over all processes. */
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible'
import type { Metrics } from '../platform/metrics.ts'
import { type Db, defineCollection } from '../platform/mongo.ts'
import { clientNetwork } from '../platform/networks.ts'

/** Counters of login attempts; written by the limiter alone. */
export const loginLimits = defineCollection<{ key: string; points: number; expire: Date }>('login_limits', [
  { key: { expire: 1 }, expireAfterSeconds: 0 },
  { key: { key: 1 }, unique: true },
])

/** Where a login comes from; accounts of different channels are counted apart. */
export type LoginChannel = 'panel' | 'smtp' | 'admin'

/** How a login went: the checked value, a refusal, or too many attempts before. */
export type LoginOutcome<T> =
  | { kind: 'ok'; value: T }
  | { kind: 'refused' }
  | { kind: 'limited'; retryAfterSeconds: number }

/** Counts attempts. */
export interface LoginLimiter {
  /**
   * Runs `check` unless the name or the address has failed too often. The attempt is counted before the check, so
   * that parallel guesses cannot slip past, and taken back when the check gives a value or cannot be made.
   */
  guard<T>(username: string, ip: string, check: () => Promise<T | undefined>): Promise<LoginOutcome<T>>
}

const WINDOW_SECONDS = 15 * 60

/**
 * Failures allowed in 15 minutes. The account as a whole has a higher limit than the account from one address, so
 * that a stranger cannot lock somebody out with a few wrong passwords.
 */
export const LOGIN_LIMITS = { pair: 10, address: 50, account: 100 } as const

/**
 * A limiter in MongoDB; a key over its limit is refused from memory, and while the database is away each process
 * counts for itself. `limits` is for tests.
 */
export function createLoginLimiter(
  { db, metrics, channel }: { db: Db; metrics: Metrics; channel: LoginChannel },
  limits: Readonly<Record<keyof typeof LOGIN_LIMITS, number>> = LOGIN_LIMITS,
): LoginLimiter {
  // A count that a crash of the primary loses costs an attacker nothing; waiting for the journal would cost each login.
  const store = db.client.db(db.databaseName, { writeConcern: { w: 1, journal: false } })
  const counter = (kind: keyof typeof LOGIN_LIMITS) => {
    const options = { points: limits[kind], duration: WINDOW_SECONDS, keyPrefix: `${channel}-${kind}` }
    return new RateLimiterMongo({
      ...options,
      storeClient: store,
      tableName: loginLimits.name,
      disableIndexesCreation: true, // ensureIndexes makes them
      inMemoryBlockOnConsumed: limits[kind] + 1,
      insuranceLimiter: new RateLimiterMemory(options),
    })
  }
  const counters = { pair: counter('pair'), address: counter('address'), account: counter('account') }
  return {
    async guard<T>(username: string, ip: string, check: () => Promise<T | undefined>): Promise<LoginOutcome<T>> {
      const address = clientNetwork(ip)
      const pair = `${address} ${username}`
      // The pair comes first: what it refuses must not count against the others, or one address could lock an account.
      const retryAfterSeconds =
        (await consume(counters.pair, pair)) ||
        Math.max(...(await Promise.all([consume(counters.address, address), consume(counters.account, username)])))
      if (retryAfterSeconds > 0) {
        metrics.logins.inc({ channel, outcome: 'limited' })
        return { kind: 'limited', retryAfterSeconds }
      }
      const others = () => [counters.address.reward(address), counters.account.reward(username)]
      let value: T | undefined
      try {
        value = await check()
      } catch (error) {
        await Promise.all([counters.pair.reward(pair), ...others()])
        throw error
      }
      metrics.logins.inc({ channel, outcome: value === undefined ? 'refused' : 'ok' })
      if (value === undefined) return { kind: 'refused' }
      await Promise.all([counters.pair.delete(pair), ...others()]) // older failures from here are forgiven too
      return { kind: 'ok', value }
    },
  }
}

/** Seconds until the key may try again; 0 when it may now. */
async function consume(limiter: RateLimiterMongo, key: string): Promise<number> {
  try {
    await limiter.consume(key)
    return 0
  } catch (result) {
    if (result instanceof RateLimiterRes) return Math.max(1, Math.ceil(result.msBeforeNext / 1000))
    throw result
  }
}
