/** Slows down the guessing of passwords, on every channel, over all processes. */
import { type RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible'
import { collectionOf, type Db, defineCollection } from '../platform/database/mongo.ts'
import { type CounterDoc, createRateLimiter } from '../platform/database/rate-limiter.ts'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { clientNetwork } from '../platform/network/ip-networks.ts'
import type { Metrics } from '../platform/observability/metrics.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'

/** Counters of login attempts; written by the limiter alone. */
export const loginLimits = defineCollection<CounterDoc>('login_limits', [
  { key: { expire: 1 }, expireAfterSeconds: 0 },
  { key: { key: 1 }, unique: true },
])

/** Networks that a name logged in from lately, newest first; written by the limiter alone. */
interface KnownNetworksDoc {
  /** Channel and name, as in `smtp app@example.com`. */
  _id: string
  from: { network: string; at: Date }[]
  expire: Date
}

/** One document for each name that had a successful login in the last {@link KNOWN_DAYS} days. */
export const knownNetworks = defineCollection<KnownNetworksDoc>('login_networks', [
  { key: { expire: 1 }, expireAfterSeconds: 0 },
])

/** Channel of a login; failures are counted separately per channel. */
export type LoginChannel = 'panel' | 'smtp' | 'admin' | 'second-factor'

/** How a login went: the checked value, a refusal, or too many attempts before. */
export type LoginOutcome<T> =
  | { kind: 'ok'; value: T }
  | { kind: 'refused' }
  | { kind: 'limited'; retryAfterSeconds: number }

/** The refusal of a login after too many failures, with the time to wait. */
export function limitProblem({ retryAfterSeconds: retryAfter }: { retryAfterSeconds: number }): ProblemError {
  return new ProblemError('rate_limited', sentence('problem.login_locked'), { retryAfter })
}

/** Counts attempts. */
export interface LoginLimiter {
  /**
   * Runs `check` unless the name or the address has failed too often. The attempt is counted before the check, so
   * that parallel guesses cannot slip past, and taken back when the check gives a value or cannot be made. An address
   * (or IPv6 /64) from which the name logged in lately is limited by its own failures with this name, so that strangers
   * cannot lock the name out there. When the names known there have failed `known` times together, those wait that
   * failed there in the last 15 minutes; the others may fail once more each.
   */
  guard<T>(username: string, ip: string, check: () => Promise<T | undefined>): Promise<LoginOutcome<T>>
}

const WINDOW_SECONDS = 15 * 60

/**
 * Failures allowed in 15 minutes. The limit of the account is higher than that of the account from one address, so that
 * an attacker cannot lock an account with a few wrong passwords. `known`: an address, with all names that know it.
 */
export const LOGIN_LIMITS = { pair: 10, address: 50, account: 100, known: 200 } as const

/** How long a successful login keeps its network known. */
const KNOWN_DAYS = 7
/** Known networks of one name; the one with the oldest login is dropped first. */
const KNOWN_NETWORKS = 20
/** A known network is noted again only after this time: a busy client costs no write for each login. */
const NOTE_AGAIN_MS = HOUR_MS

/**
 * A limiter in MongoDB; a key over its limit is refused from memory, and while the database is away each process
 * counts for itself. `limits` is for tests.
 */
export function createLoginLimiter(
  { db, metrics, channel }: { db: Db; metrics: Metrics; channel: LoginChannel },
  limits: Readonly<Record<keyof typeof LOGIN_LIMITS, number>> = LOGIN_LIMITS,
): LoginLimiter {
  const counter = (kind: keyof typeof LOGIN_LIMITS) =>
    createRateLimiter(db, loginLimits, {
      prefix: `${channel}-${kind}`,
      points: limits[kind],
      seconds: WINDOW_SECONDS,
    })
  const counters = {
    pair: counter('pair'),
    address: counter('address'),
    account: counter('account'),
    known: counter('known'),
  }
  const known = createKnownNetworks(db, channel)
  const countOthers = async (username: string, address: string) =>
    Math.max(...(await Promise.all([consume(counters.address, address), consume(counters.account, username)])))
  /** Counts an attempt: seconds to wait, and how to take back what was counted beside the pair. */
  const countAttempt = async (username: string, address: string) => {
    // The pair is counted first: attempts that it refuses must not count against the account, or one address could lock
    // it.
    const [tried, knownMs] = await Promise.all([
      count(counters.pair, `${address} ${username}`),
      known.lastLogin(username, address),
    ])
    if (tried.wait > 0) return { wait: tried.wait, knownMs, takeBack: () => [] }
    if (knownMs === undefined) {
      const takeBack = () => [counters.address.reward(address), counters.account.reward(username)]
      return { wait: await countOthers(username, address), knownMs, takeBack }
    }
    const wait = await consume(counters.known, address)
    // The pair counts failures and what is under way: beyond the limit parallel guesses at one name are held as well.
    if (wait > 0) return { wait: tried.points > 1 ? wait : 0, knownMs, takeBack: () => [] }
    return { wait, knownMs, takeBack: () => [counters.known.reward(address)] }
  }
  return {
    async guard<T>(username: string, ip: string, check: () => Promise<T | undefined>): Promise<LoginOutcome<T>> {
      const address = clientNetwork(ip)
      const pair = `${address} ${username}`
      const { wait, knownMs, takeBack } = await countAttempt(username, address)
      if (wait > 0) {
        metrics.logins.inc({ channel, outcome: 'limited' })
        return { kind: 'limited', retryAfterSeconds: wait }
      }
      let value: T | undefined
      try {
        value = await check()
      } catch (error) {
        await Promise.all([counters.pair.reward(pair), ...takeBack()])
        throw error
      }
      metrics.logins.inc({ channel, outcome: value === undefined ? 'refused' : 'ok' })
      if (value === undefined) {
        if (knownMs !== undefined) await countOthers(username, address)
        return { kind: 'refused' }
      }
      const note = known.note(username, address, knownMs)
      await Promise.all([counters.pair.delete(pair), ...takeBack(), note]) // older failures from here are forgiven too
      return { kind: 'ok', value }
    },
  }
}

/** The networks from which names logged in lately, shared by all processes. Never rejects: without a database none is known. */
function createKnownNetworks(db: Db, channel: LoginChannel) {
  const names = collectionOf(db, knownNetworks)
  const idOf = (username: string) => `${channel} ${username}`
  return {
    /** Milliseconds since this name last logged in from this network; undefined when that is {@link KNOWN_DAYS} or more. */
    async lastLogin(username: string, network: string): Promise<number | undefined> {
      const found = await names
        .findOne<KnownNetworksDoc & { now: Date }>(
          { _id: idOf(username) },
          { projection: { from: 1, now: '$$NOW' } }, // by the database's clock, which wrote `at`
        )
        .catch(() => undefined)
      const at = found?.from.find(one => one.network === network)?.at
      const ms = found && at ? found.now.getTime() - at.getTime() : Number.POSITIVE_INFINITY
      return ms < KNOWN_DAYS * DAY_MS ? ms : undefined
    },
    /** Records a successful login. `knownMs`: the result of {@link lastLogin}. */
    async note(username: string, network: string, knownMs: number | undefined): Promise<void> {
      if (knownMs !== undefined && knownMs < NOTE_AGAIN_MS) return
      const others = {
        $filter: { input: { $ifNull: ['$from', []] }, cond: { $ne: ['$$this.network', { $literal: network }] } },
      }
      const here = { network: { $literal: network }, at: '$$NOW' }
      const from = { $slice: [{ $concatArrays: [[here], others] }, KNOWN_NETWORKS] }
      const expire = { $dateAdd: { startDate: '$$NOW', unit: 'day', amount: KNOWN_DAYS } }
      await names
        .updateOne({ _id: idOf(username) }, [{ $set: { from, expire } }], { upsert: true })
        .catch(() => undefined)
    },
  }
}

/** Seconds until the key may try again; 0 when it may now. */
async function consume(limiter: RateLimiterMongo, key: string): Promise<number> {
  return (await count(limiter, key)).wait
}

/** Counts an attempt. `points`: attempts of the window with this one, where the key may try; `wait`: see {@link consume}. */
async function count(limiter: RateLimiterMongo, key: string): Promise<{ wait: number; points: number }> {
  try {
    return { wait: 0, points: (await limiter.consume(key)).consumedPoints }
  } catch (result) {
    if (!(result instanceof RateLimiterRes)) throw result
    return { wait: Math.max(1, Math.ceil(result.msBeforeNext / 1000)), points: result.consumedPoints }
  }
}
