/** How many calls a DNS account may make: a token bucket as numbers, far enough below each vendor's limit for others to live. */

import type { DnsCredentials } from './dns-credentials.ts'

/** A bucket: `burst` calls at once, `perSecond` in the long run. */
export interface Allowance {
  perSecond: number
  burst: number
}

/**
 * Per account. Cloudflare: 1,200 calls in 5 minutes for all clients of a user together, and 5 minutes of silence for
 * accounts that exceed it. Aliyun: 60 writes a second. DNSPod: 20 calls a second for most actions. RFC 2136 and
 * Route 53: 5 calls a second for all of an AWS account. Webhook is our own politeness: each list of a webhook is one of the whole account at its vendor.
 */
export const ALLOWANCES: Readonly<Record<DnsCredentials['provider'], Allowance>> = {
  cloudflare: { perSecond: 3, burst: 120 },
  aliyun: { perSecond: 20, burst: 40 },
  dnspod: { perSecond: 15, burst: 15 },
  rfc2136: { perSecond: 100, burst: 100 },
  webhook: { perSecond: 5, burst: 30 },
  route53: { perSecond: 4, burst: 8 },
  google: { perSecond: 5, burst: 50 },
  azure: { perSecond: 5, burst: 60 },
}

/** What is left of a bucket. `blocked_until`: the provider asked for silence. */
export interface BucketState {
  tokens: number
  at: Date
  blocked_until?: Date
}

/** The state of a bucket now, filled up for the time that passed. Tokens may be negative: turns given out ahead. */
export function refill(state: BucketState, { perSecond, burst }: Allowance, now: Date): BucketState {
  const seconds = Math.max(0, now.getTime() - state.at.getTime()) / 1000
  return { ...state, tokens: Math.min(burst, state.tokens + seconds * perSecond), at: now }
}

/** Milliseconds until the next call may go out, for a bucket that was just filled up. */
export function waitFor(state: BucketState, { perSecond }: Allowance): number {
  const silence = state.blocked_until ? Math.max(0, state.blocked_until.getTime() - state.at.getTime()) : 0
  const missing = Math.max(0, 1 - state.tokens)
  return Math.max(silence, Math.ceil((missing / perSecond) * 1000))
}
