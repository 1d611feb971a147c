/** Scheduled jobs of the subscription module, run by the worker. All are idempotent and safe on several workers. */
import type { JobRun, Jobs, RepeatInterval } from '../../platform/jobs/jobs.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { applySchedules } from '../flags/manage-flags.ts'
import { expireLapsed } from '../lifecycle/expire-subscriptions.ts'
import { closeStaleOrders } from '../payments/orders.ts'
import { applyNotices } from '../payments/process-notices.ts'
import { remind, type SendReminder } from '../reminders/send-reminders.ts'
import { openMonth, purge, repairAllCounters } from './nightly-maintenance.ts'

/** Dependencies of the jobs. */
export interface SubscriptionJobDeps {
  subscriptions: Subscriptions
  /** Submits a mail to the mail module. */
  sendReminder: SendReminder
}

interface Timed {
  name: string
  every: RepeatInterval
  /** Lock lifetime in milliseconds; then another worker may take the job. */
  lockMs: number
  run(run: JobRun<undefined>): Promise<unknown>
}

const MINUTE = 60_000

/** Defines the jobs and ensures that each exists once; call it before the worker starts its jobs. */
export async function registerSubscriptionJobs(jobs: Jobs, deps: SubscriptionJobDeps): Promise<void> {
  for (const { name, every, lockMs, run } of timedWork(deps)) {
    jobs.define<undefined>(name, { concurrency: 1, lockLifetimeMs: lockMs }, async given => {
      await run(given)
    })
    await jobs.seed(name, '', every)
  }
}

function timedWork({ subscriptions: context, sendReminder }: SubscriptionJobDeps): Timed[] {
  const timeZone = context.config.BUSINESS_TZ
  return [
    job('subscriptions-notices', { everyMs: 2_000 }, MINUTE, ({ signal }) => applyNotices(context, signal)),
    job('subscriptions-expire', { everyMs: MINUTE }, 10 * MINUTE, ({ signal }) => expireLapsed(context, signal)),
    job('subscriptions-switches', { everyMs: MINUTE }, 5 * MINUTE, () => applySchedules(context, systemActor)),
    job('subscriptions-orders', { everyMs: 10 * MINUTE }, 10 * MINUTE, () => closeStaleOrders(context)),
    // Hourly from ten: mail that was not accepted at ten is sent later that day, and none is sent twice.
    job('subscriptions-remind', { cron: '0 10-20 * * *', timeZone }, 30 * MINUTE, ({ signal }) =>
      remind(context, sendReminder, signal),
    ),
    job('subscriptions-month', { everyMs: 60 * MINUTE }, 10 * MINUTE, () => openMonth(context)),
    job('subscriptions-repair', { cron: '10 0 * * *', timeZone }, 60 * MINUTE, ({ signal }) =>
      repairAllCounters(context, signal),
    ),
    job('subscriptions-purge', { cron: '30 3 * * *', timeZone }, 60 * MINUTE, () => purge(context)),
  ]
}

function job(name: string, every: RepeatInterval, lockMs: number, run: Timed['run']): Timed {
  return { name, every, lockMs, run }
}
