/** The sweep: active subscriptions past their end and grace become expired. Reading never waits for it. */
import { ProblemError } from '../../platform/problems.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { expire } from '../rules/period.ts'
import { secondsOf } from '../rules/time-zone.ts'
import { changePeriod } from './change-subscription.ts'
import { findLapsed } from './store/subscriptions.ts'

const BATCH = 1_000

/** Expires what has lapsed, in batches; gives the number. Two workers at once do each record once. */
export async function expireLapsed(s: Subscriptions, signal: AbortSignal): Promise<number> {
  let count = 0
  for (;;) {
    const lapsed = await findLapsed(s.c, secondsOf(s.clock.now()), BATCH)
    for (const { app_key: appKey, _id: id } of lapsed) {
      if (signal.aborted) return count
      if (await expireOne(s, { appKey, id })) count++
    }
    if (lapsed.length < BATCH) return count
  }
}

async function expireOne(s: Subscriptions, target: { appKey: string; id: number }): Promise<boolean> {
  try {
    await changePeriod(s, systemActor, target, 'subscription.expire', (period, _, now) => expire(period, now))
    return true
  } catch (error) {
    // Renewed or expired by somebody else in this moment.
    if (error instanceof ProblemError && error.code === 'transition_refused') return false
    throw error
  }
}
