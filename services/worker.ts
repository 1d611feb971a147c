/** The process that delivers mail and does all timed work. */

import { startConfiguredDelivery } from './mail/delivery/setup.ts'
import { deliveryCollections } from './mail/delivery-collections.ts'
import { createDnsDeps } from './mail/dns/dns-context.ts'
import { registerDnsJobs } from './mail/domains/checks/dns-check-job.ts'
import { dnsCollections } from './mail/domains/store/dns-collections.ts'
import { countStatistics } from './mail/log/store/count-stats.ts'
import { indexLog } from './mail/log/store/log-blocks.ts'
import { STATS_DAYS, STATS_HOURS } from './mail/log/store/stats.ts'
import { resealMail } from './mail/reseal.ts'
import { sweepFinalBodies, sweepOrphanBodies } from './mail/store/retention.ts'
import { createSystemMail } from './mail/submission/system-mail.ts'
import { readDatabaseTime } from './platform/database/database-clock.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { createJobs, type Jobs, type RepeatInterval } from './platform/jobs/jobs.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'
import { openSubscriptions } from './subscriptions/context.ts'
import { registerSubscriptionJobs } from './subscriptions/jobs/register-jobs.ts'
import { resealSubscriptions } from './subscriptions/jobs/reseal-secrets.ts'
import { subscriptionCollections } from './subscriptions/store/collections.ts'

/** Timed work: runs on one worker at a time, and may run twice, so every `run` is idempotent. */
interface TimedWork {
  name: string
  interval: RepeatInterval
  run(foundation: Foundation, signal: AbortSignal): Promise<unknown>
}

const MINUTE = 60_000

/** Everything that the worker does by the clock. A new kind of timed work is one entry here. */
const jobs: readonly TimedWork[] = [
  {
    name: 'sweep-final-bodies',
    interval: { everyMs: 10 * MINUTE },
    async run({ mongo, config }) {
      const days = { bodyDays: config.RETENTION_BODY_DAYS, logDays: config.RETENTION_LOG_DAYS }
      await sweepFinalBodies(mongo, days, await readDatabaseTime(mongo.db))
    },
  },
  {
    name: 'sweep-orphan-bodies',
    interval: { everyMs: 60 * MINUTE },
    run: async ({ mongo }) => sweepOrphanBodies(mongo, await readDatabaseTime(mongo.db)),
  },
  {
    name: 'index-log',
    interval: { everyMs: 10_000 },
    run: ({ mongo, clock }, signal) => indexLog(mongo.db, { now: clock.now(), signal, mostMs: 5 * MINUTE }),
  },
  {
    name: 'count-statistics',
    interval: { everyMs: 5 * MINUTE },
    run: ({ mongo, clock, config }, signal) =>
      countStatistics(mongo.db, {
        now: () => clock.now(),
        logDays: config.RETENTION_LOG_DAYS,
        signal,
        mostMs: 4 * MINUTE,
      }),
  },
  {
    // Finds something only after a rotation of SESSION_SECRET.
    name: 'seal-again',
    interval: { everyMs: 60 * MINUTE },
    async run(foundation) {
      if (foundation.config.SESSION_SECRET_PREVIOUS === undefined) return
      const mail = await resealMail(foundation.mongo.db, foundation.secrets)
      const subscriptions = await resealSubscriptions(openSubscriptions(foundation))
      foundation.log.info({ values: mail + subscriptions }, 'stored secrets are sealed with the current SESSION_SECRET')
    },
  },
]

/** Starts delivery and timed work. */
export async function worker(foundation: Foundation): Promise<Running> {
  const { mongo, log, metrics, clock } = foundation
  await ensureIndexes(mongo.db, [
    ...deliveryCollections,
    STATS_DAYS,
    STATS_HOURS,
    ...dnsCollections,
    ...subscriptionCollections,
  ])
  const timed = await createJobs(mongo, log, metrics, { collection: 'jobs', pollMs: 5_000, clock })
  await registerDnsJobs(timed, createDnsDeps(foundation))
  await register(timed, foundation)
  const delivery = await startConfiguredDelivery(foundation)
  // Last, because nothing after it can fail: a start that is repeated must not leave jobs running.
  await timed.start()
  return {
    async stop() {
      await Promise.all([timed.stop(), delivery.stop()])
    },
  }
}

async function register(timed: Jobs, foundation: Foundation): Promise<void> {
  for (const { name, interval, run: work } of jobs) {
    timed.define(name, { concurrency: 1, lockLifetimeMs: 10 * MINUTE }, async ({ signal }) => {
      await work(foundation, signal)
    })
    await timed.seed(name, 'only', interval)
  }
  await registerSubscriptionJobs(timed, {
    subscriptions: openSubscriptions(foundation),
    sendReminder: await createSystemMail(foundation),
  })
}

if (import.meta.main) await run('worker', process.env, worker)
