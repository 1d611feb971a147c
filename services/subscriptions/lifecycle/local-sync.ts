/** Purchases stored on a device while it was offline: restored as they are, never shortening a paid period. */

import { writeAsRead } from '../../platform/concurrency/retry.ts'
import { DAY_SECONDS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { snapshotOf } from '../catalogue/rules/plan.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { type Period, STATUS } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { SubscriptionDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import { stepped, writeChange } from './change-subscription.ts'
import { NO_PAYMENT_ID } from './start-or-renew.ts'
import { findPayment } from './store/payments.ts'
import { findCurrent, findSubscription } from './store/subscriptions.ts'

/** One purchase as the device stored it. */
export interface LocalPurchase {
  appKey: string
  userId: number
  plan: PlanDoc
  /** The device's own reference; a repeat changes nothing. */
  clientRef: string
  start: number
  /** 0 = permanent. */
  end: number
}

/** Restores one purchase. Throws `payment_taken` when the reference belongs to another user or plan. */
export async function restorePurchase(
  context: Subscriptions,
  actor: Actor,
  purchase: LocalPurchase,
): Promise<{ subscription: SubscriptionDoc; repeated: boolean }> {
  const clientKey = `${purchase.appKey}/${purchase.clientRef}`
  return writeAsRead(async () => {
    const known = await findPayment(context.collections, { client_key: clientKey })
    if (known) {
      const subscription = await findSubscription(context.collections, purchase.appKey, known.subscription_id)
      if (!subscription || known.user_id !== purchase.userId || known.plan_id !== purchase.plan._id)
        throw new ProblemError('payment_taken')
      return { subscription, repeated: true }
    }
    const before = await findCurrent(context.collections, purchase.userId, purchase.plan._id)
    const after = await restored(context, before, purchase)
    const first = !before || before.status === STATUS.pending
    const written = await writeChange(context, actor, {
      action: 'subscription.sync',
      before,
      after,
      payment: {
        _id: await context.ids.next('payment'),
        app_key: purchase.appKey,
        subscription_id: after._id,
        user_id: purchase.userId,
        plan_id: purchase.plan._id,
        kind: 'payment',
        method: 'local_sync',
        client_key: clientKey,
        payment_id: NO_PAYMENT_ID,
        amount_cents: 0,
        paid_at: new Date(purchase.start * 1000),
        refunded_cents: 0,
        new_period: first ? 'first' : 'none',
        created_at: context.clock.now(),
      },
      day: first ? { new_subs: 1 } : {},
    })
    return written && { subscription: written, repeated: false }
  })
}

async function restored(
  context: Subscriptions,
  before: SubscriptionDoc | undefined,
  purchase: LocalPurchase,
): Promise<SubscriptionDoc> {
  const now = context.clock.now()
  const plan = snapshotOf(purchase.plan)
  const kept = keptPeriod(purchase, plan.grace_days, secondsOf(now))
  if (before) return stepped(before, longer(before, kept), now)
  return {
    _id: await context.ids.next('subscription'),
    app_key: purchase.appKey,
    user_id: purchase.userId,
    plan_id: purchase.plan._id,
    plan,
    current: true,
    payment_method: 'local_sync',
    payment_id: NO_PAYMENT_ID,
    paid_cents: 0,
    ...kept,
    since: kept.start,
    version: 1,
    created_at: now,
    updated_at: now,
  }
}

function keptPeriod({ start, end }: LocalPurchase, graceDays: number, now: number): Period {
  const lapseAt = end === 0 ? 0 : end + graceDays * DAY_SECONDS
  const base = { start, end, lapse_at: lapseAt, auto_renew: false }
  const over = end !== 0 && lapseAt <= now
  return over ? { ...base, status: STATUS.expired, ended_at: lapseAt } : { ...base, status: STATUS.active }
}

/** The later end of the two: a paid period is never shortened, and a longer period on the device counts. */
function longer(before: SubscriptionDoc, kept: Period): Period {
  const paid = before.status === STATUS.active || before.status === STATUS.expired
  if (!paid) return kept
  const gains = before.end !== 0 && (kept.end === 0 || kept.end > before.end)
  if (!gains) return before
  const auto_renew = before.status === STATUS.active && kept.end !== 0 && before.auto_renew
  return { ...kept, start: Math.min(before.start, kept.start), auto_renew }
}
