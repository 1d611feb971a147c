/**
 * How fast a destination site is given mail: a window of transactions in parallel, a rate once the receiver asked for less,
 * pauses, and the state that people see. Additive increase, multiplicative decrease, as in TCP: it starts with a few
 * connections, opens up with each success, and keeps just below the speed at which the receiver complained. Pure: time
 * is an argument, in milliseconds.
 */
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'

/** Most that a site is given, as its operator documents it or as it is commonly configured. */
export interface SiteLimits {
  /** Transactions in parallel. */
  connections: number
  /** After this number of messages a connection is closed. */
  messagesPerConnection: number
  /** Messages a second; undefined: whatever it takes. */
  rate?: number | undefined
}

/**
 * Limits of large mailbox providers, by site name (rules/assign-slot.ts). Sources: their postmaster pages and the defaults that
 * other mail servers ship (5 to 16 connections, 20 to 50 messages a connection). Tencent and NetEase count messages of an
 * address a minute and answer above it with errors that damage the sender's reputation, so they are paced from the start.
 */
const PROVIDER_LIMITS: ReadonlyMap<string, SiteLimits> = new Map([
  ['google', { connections: 16, messagesPerConnection: 50 }],
  ['microsoft', { connections: 16, messagesPerConnection: 50 }],
  ['yahoo', { connections: 8, messagesPerConnection: 20 }],
  ['apple', { connections: 8, messagesPerConnection: 50 }],
  ['tencent', { connections: 8, messagesPerConnection: 20, rate: 20 }],
  ['netease', { connections: 8, messagesPerConnection: 20, rate: 20 }],
  ['sina', { connections: 5, messagesPerConnection: 20, rate: 10 }],
  ['aliyun', { connections: 8, messagesPerConnection: 20, rate: 20 }],
  ['gmx', { connections: 8, messagesPerConnection: 50 }],
  ['mailru', { connections: 8, messagesPerConnection: 50 }],
  ['yandex', { connections: 8, messagesPerConnection: 50 }],
])
const DEFAULT_LIMITS: SiteLimits = { connections: 10, messagesPerConnection: 100 }
/** The relay belongs to the installation and takes what it is given. */
const RELAY_LIMITS: SiteLimits = { connections: 20, messagesPerConnection: 1_000 }

/** The limits of a worker that owns `owned` of the `parts` slots of a site: its share, never below one connection. */
export function limitsOf(site: string, share: { owned: number; parts: number }, relay: boolean): SiteLimits {
  if (relay) return RELAY_LIMITS
  const { connections, messagesPerConnection, rate } = PROVIDER_LIMITS.get(site) ?? DEFAULT_LIMITS
  const fraction = Math.max(1, share.owned) / Math.max(1, share.parts)
  return {
    connections: Math.max(1, Math.floor(connections * fraction)),
    messagesPerConnection,
    ...(rate && { rate: rate * fraction }),
  }
}

/** `throttled`: the receiver asked for less. `down`: no host of the site lets a transaction begin. */
export type SiteStatus = 'up' | 'throttled' | 'down'

/** What a worker knows of a site. */
export interface SiteControl {
  status: SiteStatus
  since: number
  /** The reply or error that began the status. */
  reason?: StoredSentence | undefined
  /** Transactions in parallel; grows in fractions. */
  window: number
  /** Messages a second; infinite until the receiver asks for less. */
  rate: number
  /** The rate at which the receiver complained last: growth is slow near it. */
  ceiling: number
  /** Nothing begins before. */
  resumeAt: number
  /** Complaints before this are about what was already under way when the last one came. */
  settledAt: number
  /** Pauses in a row; some deliveries end the row. */
  strikes: number
  /** Before the first complaint the window opens with each delivery. */
  opening: boolean
  /** Delivered since the last complaint. */
  successes: number
  complainedAt: number
  /** Delivered lately, and since when; halved as time passes, so that it follows the present speed. */
  recent: number
  recentFrom: number
  lastSuccess: number
  /** Sessions that could not be opened since then. */
  failures: number
}

const FIRST_WINDOW = 3
const RATE_LEAST = 0.1
/** The rate after a complaint, as a part of what the receiver really took. */
const DECREASE = 0.85
const USED = 0.7
/** Growth for each delivered message; at full use of the rate, so much of the rate in a second. */
const GROWTH = { below: 0.05, near: 0.01, above: 0.1 }
/** Near the rate of the last complaint growth is slow; above it the receiver became faster, and growth is fast again. */
const NEAR = { from: 0.95, to: 1.05 }
/** A complaint is answered once; others within this time were under way. */
const SETTLE_MS = 1_000
/** This many deliveries between two complaints mean that the receiver works and only its speed is to be found. */
const STEADY = 10
const PAUSE_MS = 5_000
const PAUSE_MOST_MS = 5 * 60_000
/** Without a complaint for this time the site counts as up again, and its rate is free. */
const CALM_MS = 10 * 60_000
/** The speed is measured over 5 to 10 s of uninterrupted work. */
const MEASURE_MS = 10_000
/** One transaction more for each 50 deliveries, once the receiver complained. */
const WINDOW_STEP = 0.02
/** A site that took a message so lately is not down when some connections fail: it may not want as many. */
const ALIVE_MS = 5_000
const ALIVE_FAILURES = 12
/** Time between two attempts to reach a site that is down, in milliseconds. */
export const PROBE_MS = 60_000
/** The same for the relay: without it nothing goes out. */
export const RELAY_PROBE_MS = 5_000
/** Longest pause of the relay after a complaint, for the same reason. */
export const RELAY_PAUSE_MS = 30_000
/** A pause of a site that works but has no free address at the moment. */
const BUSY_MS = 1_000

/** A site of which nothing is known. */
export function freshSite(limits: SiteLimits, now: number): SiteControl {
  return {
    status: 'up',
    since: now,
    window: Math.min(limits.connections, FIRST_WINDOW),
    rate: limits.rate ?? Number.POSITIVE_INFINITY,
    ceiling: limits.rate ?? Number.POSITIVE_INFINITY,
    resumeAt: 0,
    settledAt: 0,
    strikes: 0,
    opening: true,
    successes: 0,
    complainedAt: Number.NEGATIVE_INFINITY,
    recent: 0,
    recentFrom: now,
    lastSuccess: Number.NEGATIVE_INFINITY,
    failures: 0,
  }
}

/** The relay starts at its full window: its capacity is ours to know. */
export function freshRelay(limits: SiteLimits, now: number): SiteControl {
  return { ...freshSite(limits, now), window: limits.connections }
}

/** After a delivered message. */
export function afterSuccess(control: SiteControl, limits: SiteLimits, now: number): SiteControl {
  if (control.status === 'down') return recovered(control, limits, now)
  const successes = control.successes + 1
  const step = control.opening ? 1 : WINDOW_STEP
  const grown: SiteControl = {
    ...control,
    ...counted(control, now),
    successes,
    lastSuccess: now,
    failures: 0,
    strikes: successes >= STEADY ? 0 : control.strikes,
    window: Math.min(limits.connections, control.window + step),
    rate: grownRate(control, limits),
  }
  return grown.status === 'throttled' && now - grown.complainedAt >= CALM_MS ? calm(grown, limits, now) : grown
}

/** Idle time is no evidence about the receiver's speed, nor are old attempts. */
function counted({ recent, recentFrom, lastSuccess }: SiteControl, now: number) {
  if (now - Math.max(lastSuccess, recentFrom) > MEASURE_MS / 2) return { recent: 1, recentFrom: now }
  if (now - recentFrom < MEASURE_MS) return { recent: recent + 1, recentFrom }
  return { recent: recent / 2 + 1, recentFrom: recentFrom + (now - recentFrom) / 2 }
}

/** Messages a second that the receiver takes at present, by what it took lately. */
export function takenRate({ recent, recentFrom }: SiteControl, now: number): number {
  return recent / Math.max(1, (now - recentFrom) / 1_000)
}

function grownRate({ rate, ceiling }: SiteControl, limits: SiteLimits): number {
  const most = limits.rate ?? Number.POSITIVE_INFINITY
  const known = Number.isFinite(ceiling)
  const growth =
    !known || rate > NEAR.to * ceiling ? GROWTH.above : rate < NEAR.from * ceiling ? GROWTH.below : GROWTH.near
  return Math.min(most, rate + growth)
}

function calm(control: SiteControl, limits: SiteLimits, now: number): SiteControl {
  const { rate, ceiling } = freshSite(limits, now)
  return { ...control, status: 'up', since: now, reason: undefined, rate, ceiling }
}

function recovered(control: SiteControl, limits: SiteLimits, now: number): SiteControl {
  return {
    ...freshSite(limits, now),
    reason: undefined,
    recent: 1,
    successes: 1,
    lastSuccess: now,
    complainedAt: control.complainedAt,
  }
}

/**
 * After a reply that asks for less (421, 4.7.x and the like). The rate becomes what the receiver really took, less a
 * margin; when it took next to nothing, a pause follows, 5 s at first, doubled for each one in a row, up to `pauseMost`
 * milliseconds.
 */
export function afterThrottle(
  control: SiteControl,
  reason: StoredSentence,
  now: number,
  pauseMost: number = PAUSE_MOST_MS,
): SiteControl {
  if (now < control.settledAt || now < control.resumeAt) return control
  const taken = takenRate(control, now)
  const steady = control.successes >= STEADY
  const strikes = steady ? 0 : control.strikes + 1
  const pause = steady ? 0 : Math.min(PAUSE_MS * 2 ** (strikes - 1), pauseMost)
  // The rate itself when it was used: while it grows, the measured average is lower.
  const used = taken > USED * control.rate ? control.rate : Math.max(taken, RATE_LEAST)
  // After a short burst the speed is that of the burst, which the receiver cannot keep up.
  const base = steady ? used : Math.min(used, control.rate / 2)
  return {
    ...control,
    status: 'throttled',
    since: control.status === 'throttled' ? control.since : now,
    reason,
    rate: Math.max(RATE_LEAST, base * DECREASE),
    // What came within a moment is a lower bound, not the receiver's speed.
    ceiling: steady && now - control.recentFrom >= SETTLE_MS ? base : control.ceiling,
    window: steady ? control.window : Math.max(1, Math.floor(control.window / 2)),
    resumeAt: now + pause,
    settledAt: now + pause + SETTLE_MS,
    strikes,
    opening: false,
    successes: 0,
    complainedAt: now,
    recent: 0,
    recentFrom: now,
  }
}

/** After a connection broke or timed out in the middle: fewer in parallel. */
export function afterBreak(control: SiteControl, now: number): SiteControl {
  if (now < control.settledAt || now < control.resumeAt) return control
  return {
    ...control,
    window: Math.max(1, Math.floor(control.window / 2)),
    opening: false,
    complainedAt: now,
    settledAt: now + SETTLE_MS,
  }
}

/**
 * After no host of the site let a transaction begin. While others get through it is about the number of connections;
 * otherwise the site is down, and one attempt each `probeMs` finds out when it is back. `tried`: false when no host was
 * asked, because all failed lately.
 */
export function afterUnreachable(
  control: SiteControl,
  reason: StoredSentence,
  now: number,
  probeMs: number,
  tried = true,
): SiteControl {
  const isAlive = control.status !== 'down' && now - control.lastSuccess < ALIVE_MS
  if (isAlive && !tried) return { ...control, resumeAt: Math.max(control.resumeAt, now + BUSY_MS) }
  const failures = control.failures + 1
  if (isAlive && failures < ALIVE_FAILURES) return { ...afterBreak(control, now), failures }
  if (control.status === 'down' && now < control.resumeAt) return control
  return {
    ...control,
    status: 'down',
    since: control.status === 'down' ? control.since : now,
    reason,
    resumeAt: now + probeMs,
    successes: 0,
  }
}

/** A session began at a site that was down: it is up again, whatever became of the message. */
export function afterReached(control: SiteControl, limits: SiteLimits, now: number): SiteControl {
  return control.status === 'down' ? recovered(control, limits, now) : control
}

/** Another worker asks the site that is down: the next attempt is not ours. */
export function afterProbeElsewhere(control: SiteControl, now: number, probeMs: number): SiteControl {
  return { ...control, resumeAt: Math.max(control.resumeAt, now + probeMs) }
}

/** The limits became others, because slots of the site came or went. */
export function withLimits(control: SiteControl, before: SiteLimits, limits: SiteLimits): SiteControl {
  const most = limits.rate ?? Number.POSITIVE_INFINITY
  const wasFree = control.rate >= (before.rate ?? Number.POSITIVE_INFINITY)
  return {
    ...control,
    window: Math.min(control.window, limits.connections),
    rate: wasFree ? most : Math.min(control.rate, most),
    ceiling: wasFree ? most : Math.min(control.ceiling, most),
  }
}

/** What another worker found out. */
export interface ForeignNews {
  status: SiteStatus
  since: number
  reason?: StoredSentence | undefined
  resumeAt: number
  rate?: number | undefined
  /** When it was written. */
  at: number
}

/** After another worker's finding: pauses and lower rates hold for all, and so does the end of an outage. */
export function afterNews(control: SiteControl, news: ForeignNews, limits: SiteLimits, now: number): SiteControl {
  const { status, since, reason, resumeAt } = news
  // What was delivered since is the better knowledge: the other worker may have lost its own network.
  if (status === 'down' && control.lastSuccess >= news.at) return control
  if (status === 'up') return control.status === 'down' ? freshSite(limits, now) : control
  if (status === 'throttled' && control.status === 'down') return control
  const rate = Math.min(control.rate, news.rate ?? control.rate)
  return {
    ...{ ...control, status, since, reason, rate, resumeAt: Math.max(control.resumeAt, resumeAt) },
    // Otherwise the first delivery here would end the state, as after a long time without a complaint.
    complainedAt: status === 'throttled' ? Math.max(control.complainedAt, news.at) : control.complainedAt,
  }
}

/** Transactions that may be under way in parallel now: none during a pause, one to a site that is down. */
export function openWindow(control: SiteControl, now: number): number {
  if (now < control.resumeAt) return 0
  return control.status === 'down' ? 1 : Math.max(1, Math.floor(control.window))
}
