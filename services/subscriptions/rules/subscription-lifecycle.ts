/**
 * The states of a subscription and the transitions between them, as pure functions. Numbers are those of {@link STATUS}.
 *
 *     - -> 0   order opened            0 -> 1  paid            1 -> 1  renewed, or cancelled at the end of the period
 *     - -> 1   paid, granted, synced   0 -> 3  closed          1 -> 2  end and grace passed
 *     2 -> 1   paid late: starts again from now                1 -> 3  revoked now,  1 -> 4  refunded
 *
 * 3 and 4 are final. Times are Unix seconds; an end of 0 means permanent.
 */

import { DAY_SECONDS } from '../../platform/durations.ts'

/** Stored status: pending payment, active, expired, cancelled, refunded. */
export const STATUS = { pending: 0, active: 1, expired: 2, cancelled: 3, refunded: 4 } as const

/** One of {@link STATUS}. */
export type Status = (typeof STATUS)[keyof typeof STATUS]

/** The plan at the time of purchase: later changes of its price do not apply. */
export interface PlanSnapshot {
  plan_id: number
  version: number
  name: string
  price_cents: number
  /** Days; 0 = permanent. */
  duration: number
  /** Days of access after the end. */
  grace_days: number
  features: string[]
}

/** The part of a subscription that the steps below change. */
export interface Period {
  status: Status
  start: number
  /** 0 = permanent. */
  end: number
  /** `end` plus grace: when the expiry job ends it; 0 = never. */
  lapse_at: number
  auto_renew: boolean
  /** When it became inactive; absent while active. */
  ended_at?: number
  /** The end before a cancellation or refund shortened it. */
  previous_end?: number
}

/** The period after a step, or the reason why the step is invalid. */
export type Step = { ok: true; period: Period } | { ok: false; reason: 'permanent' | 'final' | 'not_active' }

const refuse = (reason: 'permanent' | 'final' | 'not_active'): Step => ({ ok: false, reason })
const final = (period: Period) => period.status === STATUS.cancelled || period.status === STATUS.refunded

/** Builds the period that runs from `start`. */
export function begin(plan: PlanSnapshot, start: number, autoRenew: boolean, days = plan.duration): Period {
  const end = days === 0 ? 0 : start + days * DAY_SECONDS
  return { status: STATUS.active, start, end, lapse_at: lapse(end, plan), auto_renew: end !== 0 && autoRenew }
}

/** The period of a pending order; gives no access. */
export function pending(plan: PlanSnapshot, now: number): Period {
  return { ...begin(plan, now, false), status: STATUS.pending }
}

/** A payment for an existing record: starts a pending or expired one now, prolongs an active one. */
export function renew(period: Period, plan: PlanSnapshot, now: number, autoRenew = period.auto_renew): Step {
  if (final(period)) return refuse('final')
  if (period.status === STATUS.active && period.end === 0) return refuse('permanent')
  if (period.status !== STATUS.active || hasLapsed(period, now))
    return { ok: true, period: begin(plan, now, autoRenew) }
  if (plan.duration === 0) return { ok: true, period: { ...begin(plan, period.start, false), start: period.start } }
  return { ok: true, period: withEnd(period, plan, Math.max(now, period.end) + plan.duration * DAY_SECONDS, autoRenew) }
}

/** Moves the end by days, as a courtesy of support. */
export function extend(period: Period, plan: PlanSnapshot, days: number, now: number): Step {
  if (final(period)) return refuse('final')
  if (period.status === STATUS.pending) return refuse('not_active')
  if (period.end === 0) return refuse('permanent')
  if (period.status === STATUS.expired || hasLapsed(period, now))
    return { ok: true, period: begin(plan, now, period.auto_renew, days) }
  return { ok: true, period: withEnd(period, plan, Math.max(now, period.end) + days * DAY_SECONDS, period.auto_renew) }
}

/**
 * Sets the end that a payment channel reports, never before now. An ended subscription is not reactivated by its grace
 * days.
 */
export function setEnd(period: Period, plan: PlanSnapshot, end: number, now: number): Step {
  if (final(period)) return refuse('final')
  if (period.status === STATUS.pending) return refuse('not_active')
  if (period.end === 0) return refuse('permanent')
  if (end <= now && period.status === STATUS.expired) return refuse('not_active')
  return { ok: true, period: withEnd(period, plan, Math.max(now, end), period.auto_renew) }
}

/** Ends the renewals (`period_end`) or the access itself (`now`). */
export function cancel(period: Period, at: 'now' | 'period_end', now: number): Step {
  if (final(period)) return refuse('final')
  if (at === 'now' || period.status === STATUS.pending) return { ok: true, period: cut(period, STATUS.cancelled, now) }
  if (period.status !== STATUS.active) return refuse('not_active')
  if (period.end === 0) return refuse('permanent')
  return { ok: true, period: { ...period, auto_renew: false } }
}

/** Ends the access after a refund. */
export function refund(period: Period, now: number): Step {
  if (final(period)) return refuse('final')
  if (period.status === STATUS.pending) return refuse('not_active')
  return { ok: true, period: cut(period, STATUS.refunded, now) }
}

/** Turns automatic renewal on or off; invalid for a permanent subscription. */
export function setAutoRenew(period: Period, on: boolean): Step {
  if (final(period)) return refuse('final')
  if (period.status !== STATUS.active) return refuse('not_active')
  if (on && period.end === 0) return refuse('permanent')
  return { ok: true, period: { ...period, auto_renew: on } }
}

/** The step of the expiry job: active, past end and grace. */
export function expire(period: Period, now: number): Step {
  if (period.status !== STATUS.active || !hasLapsed(period, now)) return refuse('not_active')
  return { ok: true, period: { ...period, status: STATUS.expired, ended_at: period.lapse_at } }
}

/** Ends an active subscription that its channel reports as expired. */
export function endNow(period: Period, now: number): Step {
  if (period.status !== STATUS.active) return refuse('not_active')
  if (period.end === 0) return refuse('permanent')
  const end = Math.min(period.end, now)
  return {
    ok: true,
    period: { ...period, status: STATUS.expired, end, lapse_at: end, auto_renew: false, ended_at: now },
  }
}

/** True once end and grace have passed, whether or not the expiry job has run. */
export function hasLapsed(period: Pick<Period, 'lapse_at'>, now: number): boolean {
  return period.lapse_at !== 0 && period.lapse_at <= now
}

/** True while the subscription gives access. */
export function givesAccess(period: Pick<Period, 'status' | 'lapse_at'>, now: number): boolean {
  return period.status === STATUS.active && !hasLapsed(period, now)
}

function withEnd(period: Period, plan: PlanSnapshot, end: number, autoRenew: boolean): Period {
  const { ended_at: _, previous_end: __, ...rest } = period
  return { ...rest, status: STATUS.active, end, lapse_at: lapse(end, plan), auto_renew: autoRenew }
}

/**
 * Moves the end to now, never later than it was, and keeps the old one. Only active subscriptions get a new `ended_at`.
 */
function cut(period: Period, status: Status, now: number): Period {
  const end = period.end === 0 ? now : Math.min(period.end, now)
  const ended = period.status === STATUS.active ? { ended_at: now } : {}
  return { ...period, status, end, lapse_at: end, auto_renew: false, ...ended, previous_end: period.end }
}

function lapse(end: number, plan: PlanSnapshot): number {
  return end === 0 ? 0 : end + plan.grace_days * DAY_SECONDS
}
