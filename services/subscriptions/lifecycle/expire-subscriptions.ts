/** The expiry job: active subscriptions past their end and grace become expired. Reads do not depend on it. */
import { ProblemError } from '../../platform/problems.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { expire } from '../rules/subscription-lifecycle.ts'
import { secondsOf } from '../rules/time-zone.ts'
import { changePeriod } from './change-subscription.ts'
import { findLapsed } from './store/subscriptions.ts'

const BATCH = 1_000

/** Expires lapsed subscriptions in batches; returns how many. Two parallel workers process each record once. */
export async function expireLapsed(context: Subscriptions, signal: AbortSignal): Promise<number> {
  let count = 0
  for (;;) {
    const lapsed = await findLapsed(context.collections, secondsOf(context.clock.now()), BATCH)
    for (const { app_key: appKey, _id: id } of lapsed) {
      if (signal.aborted) return count
      if (await expireOne(context, { appKey, id })) count++
    }
    if (lapsed.length < BATCH) return count
  }
}

async function expireOne(context: Subscriptions, target: { appKey: string; id: number }): Promise<boolean> {
  try {
    await changePeriod(context, systemActor, target, 'subscription.expire', (period, _, now) => expire(period, now))
    return true
  } catch (error) {
    // Renewed or expired in parallel.
    if (error instanceof ProblemError && error.code === 'transition_refused') return false
    throw error
  }
}
