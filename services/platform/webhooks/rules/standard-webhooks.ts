/** Standard Webhooks 1.0.0: signatures and retry times of events. */
import { createHmac } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../durations.ts'

/** Pauses between the ten attempts, about 75 hours in all: growing, as Standard Webhooks recommends. */
const WAITS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 14 * HOUR_MS, 20 * HOUR_MS, 24 * HOUR_MS],
]
/** A pause differs by up to this part, so that what failed together is not repeated together. */
const JITTER = 0.1

/**
 * How long to wait after this many failed attempts, in milliseconds; undefined: the event has failed. `random`: a number
 * in [0, 1).
 */
export function waitAfter(attempts: number, random: number): number | undefined {
  const wait = WAITS_MS[attempts - 1]
  return wait === undefined ? undefined : Math.round(wait * (1 + JITTER * (2 * random - 1)))
}

/** Longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS

/** The wait that a Retry-After header asks for (RFC 9110 section 10.2.3), bounded; undefined for none or an unreadable one. */
export function retryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const isDate = /^[A-Z].* GMT$/.test(text) // Date.parse reads nearly anything as a date
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND_MS : isDate ? Date.parse(text) - now.getTime() : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** First and longest pause of a webhook without success; all its events wait, so that attempts stay few. */
const FIRST_PAUSE_MS = 2 * SECOND_MS
const LONGEST_PAUSE_MS = 5 * MINUTE_MS
const LONGEST_ASKED_PAUSE_MS = HOUR_MS

/** How long a webhook pauses after this many turns without success; `asked`: a wait that its receiver asked for. */
export function pauseAfter(turns: number, asked = 0): number {
  const own = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(turns - 1, 20), LONGEST_PAUSE_MS)
  return Math.max(own, Math.min(asked, LONGEST_ASKED_PAUSE_MS))
}

/** A webhook whose attempts all fail for so long, over at least so many turns, is disabled. */
export const DISABLE_AFTER_DAYS = 3
const DISABLE_AFTER_TURNS = 5

/** True when a webhook that has been failing since then, for so many turns, is to be disabled. */
export function hasFailedForLong({ since, turns }: { since: Date; turns: number }, now: Date): boolean {
  return turns >= DISABLE_AFTER_TURNS && now.getTime() - since.getTime() >= DISABLE_AFTER_DAYS * DAY_MS
}

/** How long a replaced secret still signs. */
export const ROTATION_MS = 24 * HOUR_MS

/** Marks a secret of Standard Webhooks; base64 follows. */
export const SECRET_PREFIX = 'whsec_'

/**
 * The headers of a request: HMAC-SHA256 over `id.timestamp.body`, with each secret. While a secret is being replaced there
 * are two signatures, and a receiver accepts the one that it can verify. `timestamp` is in seconds. `prefixes`: of the
 * headers, for receivers that know other names.
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string,
  prefixes: readonly string[] = ['webhook'],
): Record<string, string> {
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  const signed = { id, timestamp: String(timestamp), signature: signatures.join(' ') }
  const headers = prefixes.flatMap(prefix =>
    Object.entries(signed).map(([name, value]) => [`${prefix}-${name}`, value]),
  )
  return { 'content-type': 'application/json', ...Object.fromEntries(headers) }
}
