/** When a domain is checked again, and the status that follows from a check. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/durations.ts'

/** What a check found out about the proof: ownership and a key that signs. */
export type CheckOutcome = 'verified' | 'pending' | 'failed' | 'temporary'

/** What the schedule remembers of a domain. */
export interface CheckState {
  status: 'pending' | 'verified' | 'failed' | 'suspended'
  created_at: Date
  /** Set once the domain was verified at any time. */
  verified_at?: Date
  /** Marked verified by an admin, or the sandbox: checks inform, they do not decide. */
  pinned: boolean
  /** We repair the records. */
  managed: boolean
  attempts: number
  failures: number
  failing_since?: Date
  lost_at?: Date
}

/** What changes with a check. */
export interface NextState {
  status: CheckState['status']
  attempts: number
  failures: number
  failing_since?: Date
  lost_at?: Date
  event?: 'domain.verified' | 'domain.failing' | 'domain.lost' | 'domain.failed' | 'domain.recovered'
  /** Absent: no more checks until one is requested. */
  next_check_at?: Date
}

/** Intervals for a pending domain, then hourly. */
const PENDING_WAITS = [1, 2, 5, 15].map(minutes => minutes * MINUTE_MS)
const PENDING_LIFE = 14 * DAY_MS
const VERIFIED_EVERY = 6 * HOUR_MS
const MANAGED_EVERY = 15 * MINUTE_MS
/** A managed domain with all records: looked at for changes, and checked completely. */
const QUICK_EVERY = 5 * MINUTE_MS
const SETTLED_EVERY = 30 * MINUTE_MS
/** A loss is announced after so many definite failures over at least this time, and takes effect after the grace. */
const LOSS_FAILURES = 3
const LOSS_TIME = DAY_MS
/** How long a domain that is announced as lost still sends. */
export const GRACE_MS = 72 * HOUR_MS

/** The state after a check. `jitter` in [0, 1) spreads domains that were added together by ±10 %. */
export function nextState(state: CheckState, outcome: CheckOutcome, now: Date, jitter: number): NextState {
  const next = state.status === 'verified' ? ofVerified(state, outcome, now) : ofUnverified(state, outcome, now)
  const wait = waitOf(state, next)
  if (next.status === 'suspended' || wait === undefined) return next
  return { ...next, next_check_at: new Date(now.getTime() + Math.round(wait * (0.9 + 0.2 * jitter))) }
}

/** Times of the next run; `quick_check_at` is set when that one only looks for changes. */
export interface QuickSchedule {
  next_check_at: Date
  quick_check_at?: Date
}

/** The run after one at `now` that found the records of a managed domain all right; `checkedAt` is that of the last full check. */
export function afterSettled(checkedAt: Date, now: Date, jitter: number): QuickSchedule {
  const at = new Date(now.getTime() + Math.round(QUICK_EVERY * (0.9 + 0.2 * jitter)))
  return at.getTime() - checkedAt.getTime() >= SETTLED_EVERY
    ? { next_check_at: at }
    : { next_check_at: at, quick_check_at: at }
}

function ofUnverified(state: CheckState, outcome: CheckOutcome, now: Date): NextState {
  const { status, verified_at } = state
  if (status === 'suspended') return { status, attempts: state.attempts, failures: 0 }
  if (outcome === 'verified')
    return {
      status: 'verified',
      attempts: 0,
      failures: 0,
      event: verified_at ? 'domain.recovered' : 'domain.verified',
    }
  const attempts = state.attempts + 1
  const expired = status === 'pending' && now.getTime() - state.created_at.getTime() >= PENDING_LIFE
  if (expired) return { status: 'failed', attempts, failures: 0, event: 'domain.failed' }
  return { status, attempts, failures: 0 }
}

function ofVerified(state: CheckState, outcome: CheckOutcome, now: Date): NextState {
  const { status, attempts, failures, failing_since, lost_at, pinned } = state
  if (outcome === 'verified')
    return { status, attempts: 0, failures: 0, ...(failing_since ? { event: 'domain.recovered' as const } : {}) }
  const memory = { ...(failing_since ? { failing_since } : {}), ...(lost_at ? { lost_at } : {}) }
  if (outcome !== 'failed' || pinned) return { status, attempts, failures, ...memory }
  return countFailure(state, failures + 1, failing_since ?? now, now)
}

function countFailure(state: CheckState, failures: number, since: Date, now: Date): NextState {
  const { status, attempts, lost_at } = state
  const counted = { status, attempts, failures, failing_since: since }
  if (lost_at) {
    if (now.getTime() - lost_at.getTime() < GRACE_MS) return { ...counted, lost_at }
    return { ...counted, status: 'failed', lost_at, event: 'domain.failed' }
  }
  const lost = failures >= LOSS_FAILURES && now.getTime() - since.getTime() >= LOSS_TIME
  if (lost) return { ...counted, lost_at: now, event: 'domain.lost' }
  return { ...counted, ...(failures === 1 ? { event: 'domain.failing' as const } : {}) }
}

/** Milliseconds to the next check; undefined for registrations that expired without ever being verified. */
function waitOf(before: CheckState, next: NextState): number | undefined {
  if (next.status === 'verified') return before.managed ? MANAGED_EVERY : VERIFIED_EVERY
  if (next.status === 'failed') return before.verified_at ? VERIFIED_EVERY : undefined
  return PENDING_WAITS[next.attempts - 1] ?? HOUR_MS
}
