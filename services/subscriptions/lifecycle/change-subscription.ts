/** Writes one step in the lifecycle of a subscription: guarded by version, audited, counted. */
import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { tallyChange } from '../counters/rules/counter-changes.ts'
import { addToCounters } from '../counters/running-counters.ts'
import type { DayField } from '../counters/store/counters.ts'
import { type Period, type PlanSnapshot, STATUS, type Step } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { PaymentDoc, SubscriptionDoc } from '../store/documents.ts'
import { insertPayment } from './store/payments.ts'
import { findSubscription, hasOtherActive, insertSubscription, replaceSubscription } from './store/subscriptions.ts'

/**
 * One step: from `before` (absent: a new record) to `after`, with the ledger row and other writes of the same
 * transaction.
 */
export interface SubscriptionChange {
  action: string
  before?: SubscriptionDoc | undefined
  after: SubscriptionDoc
  payment?: PaymentDoc | undefined
  /** More writes of the same transaction. */
  also?: (session: Session) => Promise<void>
  /** The reason that an administrator gave. */
  reason?: string | undefined
  /** Increments of the day's counters. */
  day?: Partial<Record<DayField, number>>
}

/**
 * Stores the step; undefined when the record was changed, or the same payment or record stored, in parallel: the caller
 * reads again and decides again.
 */
export async function writeChange(
  context: Subscriptions,
  actor: Actor,
  change: SubscriptionChange,
): Promise<SubscriptionDoc | undefined> {
  const { before, after, payment } = change
  try {
    await record(context, actor, async session => {
      if (payment) await insertPayment(context.collections, payment, session)
      await change.also?.(session)
      if (!before) await insertSubscription(context.collections, after, session)
      else if (!(await replaceSubscription(context.collections, after, session))) throw new Outdated()
      return {
        result: undefined,
        event: {
          action: change.action,
          appKey: after.app_key,
          target: { kind: 'subscription', id: String(after._id) },
          before,
          after,
          reason: change.reason,
        },
      }
    })
  } catch (error) {
    if (error instanceof Outdated || isDuplicateKey(error)) return undefined
    throw error
  }
  await count(context, change)
  return after
}

class Outdated extends Error {}

async function count(context: Subscriptions, { before, after, day = {} }: SubscriptionChange): Promise<void> {
  const wasActive = before?.status === STATUS.active
  const isActive = after.status === STATUS.active
  const paying = wasActive === isActive || (await hasOtherActive(context.collections, after)) ? 0 : isActive ? 1 : -1
  const counters = { ...tallyChange(before, after), ...(paying === 0 ? {} : { users_paying: paying }) }
  await addToCounters(context, after.app_key, { counters, today: day })
}

/** The record after a step. Only the period fields of `period` are used, even when it is a complete record. */
export function stepped(
  before: SubscriptionDoc,
  { status, start, end, lapse_at, auto_renew, ended_at, previous_end }: Period,
  now: Date,
  more: Partial<SubscriptionDoc> = {},
): SubscriptionDoc {
  const { ended_at: _, previous_end: __, current: ___, ...rest } = before
  const final = status === STATUS.cancelled || status === STATUS.refunded
  return {
    ...rest,
    ...more,
    ...(final ? {} : { current: true as const }),
    ...{ status, start, end, lapse_at, auto_renew },
    ...(ended_at === undefined ? {} : { ended_at }),
    ...(previous_end === undefined ? {} : { previous_end }),
    version: before.version + 1,
    updated_at: now,
  }
}

/**
 * Applies a step without a payment: reads, decides, writes, and repeats after a parallel change. Throws
 * `subscription_not_found`, `version_conflict` (the caller named an older version) and `transition_refused`.
 */
export async function changePeriod(
  context: Subscriptions,
  actor: Actor,
  target: { appKey: string; id: number; version?: number | undefined; reason?: string | undefined },
  action: string,
  decide: (period: SubscriptionDoc, plan: PlanSnapshot, nowSeconds: number) => Step,
): Promise<SubscriptionDoc> {
  return writeAsRead(async () => {
    const before = await findSubscription(context.collections, target.appKey, target.id)
    if (!before) throw new ProblemError('subscription_not_found')
    if (target.version !== undefined && target.version !== before.version) throw new ProblemError('version_conflict')
    const now = context.clock.now()
    const period = periodOf(decide(before, before.plan, secondsOf(now)))
    const after = stepped(before, period, now)
    const ended = before.status === STATUS.active && after.status !== STATUS.active
    const { reason } = target
    return writeChange(context, actor, { action, before, after, reason, day: ended ? { ended: 1 } : {} })
  })
}

/** The period of a step. Throws `transition_refused` for an invalid step. */
export function periodOf(step: Step): Period {
  if (!step.ok) throw new ProblemError('transition_refused', REASONS[step.reason])
  return step.period
}

const REASONS = {
  permanent: sentence('detail.subscription_permanent'),
  final: sentence('detail.subscription_final'),
  not_active: sentence('detail.subscription_not_active'),
} as const
