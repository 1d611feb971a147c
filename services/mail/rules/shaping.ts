/** How much a destination site gets at once: additive increase, multiplicative decrease, and suspension. */

/** Limits of a site as a whole; a site in k slots gives each slot a k-th. */
export interface SiteLimits {
  connections: number
  /** After so many messages a connection is closed. */
  messagesPerConnection: number
}

/** Seeds for large receivers, in the order of what their postmaster pages and other engines' shipped defaults say. */
const LIMITS: ReadonlyMap<string, SiteLimits> = new Map([
  ['google', { connections: 16, messagesPerConnection: 50 }],
  ['microsoft', { connections: 16, messagesPerConnection: 50 }],
  ['yahoo', { connections: 8, messagesPerConnection: 20 }],
  ['apple', { connections: 8, messagesPerConnection: 50 }],
  ['tencent', { connections: 8, messagesPerConnection: 20 }],
  ['netease', { connections: 8, messagesPerConnection: 20 }],
])
const DEFAULT_LIMITS: SiteLimits = { connections: 10, messagesPerConnection: 100 }
/** A relay is ours and takes what it is given. */
const RELAY_LIMITS: SiteLimits = { connections: 20, messagesPerConnection: 1_000 }

/** The limits of one slot's share of a site: never below one connection. */
export function limitsOf(site: string, parts: number, relay: boolean): SiteLimits {
  if (relay) return RELAY_LIMITS
  const { connections, messagesPerConnection } = LIMITS.get(site) ?? DEFAULT_LIMITS
  return { connections: Math.max(1, Math.floor(connections / parts)), messagesPerConnection }
}

/** What a worker remembers of a site. `limit` counts connections; times are milliseconds. */
export interface SiteState {
  limit: number
  /** Successes since the limit changed. */
  successes: number
  /** Suspensions in a row; a success ends the row. */
  strikes: number
  suspendedUntil: number
}

const SUCCESSES_PER_STEP = 50
const SUSPEND_MS = 90_000
const SUSPEND_MOST_MS = 30 * 60_000

/** The state of a site nothing is known of. */
export function freshSite(limits: SiteLimits): SiteState {
  return { limit: limits.connections, successes: 0, strikes: 0, suspendedUntil: 0 }
}

/** After a delivered message: one more connection every 50 successes, up to the site's limit. */
export function afterSuccess(state: SiteState, limits: SiteLimits): SiteState {
  const successes = state.successes + 1
  if (successes < SUCCESSES_PER_STEP || state.limit >= limits.connections)
    return { ...state, successes: Math.min(successes, SUCCESSES_PER_STEP), strikes: 0 }
  return { ...state, limit: state.limit + 1, successes: 0, strikes: 0 }
}

/**
 * After "less, please" (421, 4.7.x): half the connections and a pause of 90 s, doubled for each one in a row, up to
 * 30 minutes. Replies that were under way when the pause began belong to it and change nothing.
 */
export function afterSlowDown(state: SiteState, now: number): SiteState {
  if (state.suspendedUntil > now) return state
  const pause = Math.min(SUSPEND_MS * 2 ** state.strikes, SUSPEND_MOST_MS)
  return {
    limit: Math.max(1, Math.floor(state.limit / 2)),
    successes: 0,
    strikes: state.strikes + 1,
    suspendedUntil: now + pause,
  }
}
