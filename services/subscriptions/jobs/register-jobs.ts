/** The timed work of the subscription half, for the worker. Every job is idempotent and safe on many workers. */
import type { JobRun, Jobs, RepeatInterval } from '../../platform/jobs/jobs.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { applySchedules } from '../flags/manage-flags.ts'
import { expireLapsed } from '../lifecycle/expire-subscriptions.ts'
import { closeStaleOrders } from '../payments/orders.ts'
import { applyNotices } from '../payments/process-notices.ts'
import { remind, type SendReminder } from '../reminders/send-reminders.ts'
import { sendWebhooks } from '../webhooks/send-webhooks.ts'
import { openMonth, purge, repairFigures } from './nightly-maintenance.ts'

/** What the jobs need. */
export interface SubscriptionJobDeps {
  subscriptions: Subscriptions
  /** Hands a mail to the mail half. */
  sendReminder: SendReminder
}

interface Timed {
  name: string
  every: RepeatInterval
  /** After so long another worker may take it. */
  lockMs: number
  run(run: JobRun<undefined>): Promise<unknown>
}

const MINUTE = 60_000

/** Defines the jobs and makes sure that each exists once; call it before the worker starts its jobs. */
export async function registerSubscriptionJobs(jobs: Jobs, deps: SubscriptionJobDeps): Promise<void> {
  for (const { name, every, lockMs, run } of timedWork(deps)) {
    jobs.define<undefined>(name, { concurrency: 1, lockLifetimeMs: lockMs }, async given => {
      await run(given)
    })
    await jobs.seed(name, '', every)
  }
}

function timedWork({ subscriptions: s, sendReminder }: SubscriptionJobDeps): Timed[] {
  const timeZone = s.config.BUSINESS_TZ
  return [
    job('subscriptions-notices', { everyMs: 2_000 }, MINUTE, ({ signal }) => applyNotices(s, signal)),
    job('subscriptions-webhooks', { everyMs: 2_000 }, MINUTE, ({ signal }) => sendWebhooks(s, s.post, signal)),
    job('subscriptions-expire', { everyMs: MINUTE }, 10 * MINUTE, ({ signal }) => expireLapsed(s, signal)),
    job('subscriptions-switches', { everyMs: MINUTE }, 5 * MINUTE, () => applySchedules(s, systemActor)),
    job('subscriptions-orders', { everyMs: 10 * MINUTE }, 10 * MINUTE, () => closeStaleOrders(s)),
    // From ten on, hourly: what could not be handed over at ten goes out later that day, and nothing goes out twice.
    job('subscriptions-remind', { cron: '0 10-20 * * *', timeZone }, 30 * MINUTE, ({ signal }) =>
      remind(s, sendReminder, signal),
    ),
    job('subscriptions-month', { everyMs: 60 * MINUTE }, 10 * MINUTE, () => openMonth(s)),
    job('subscriptions-repair', { cron: '10 0 * * *', timeZone }, 60 * MINUTE, ({ signal }) =>
      repairFigures(s, signal),
    ),
    job('subscriptions-purge', { cron: '30 3 * * *', timeZone }, 60 * MINUTE, () => purge(s)),
  ]
}

function job(name: string, every: RepeatInterval, lockMs: number, run: Timed['run']): Timed {
  return { name, every, lockMs, run }
}
