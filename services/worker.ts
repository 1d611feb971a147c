/** The process that delivers mail and does all timed work. */

import { loginLimits } from './accounts/login-limiter.ts'
import { createMailAllowance } from './accounts/recovery-limiter.ts'
import { resealAccounts } from './accounts/reseal.ts'
import { sendAccountMails } from './accounts/send-account-mails.ts'
import { accountMailCollections } from './accounts/store/collections.ts'
import { users } from './accounts/store/users.ts'
import { startConfiguredDelivery } from './mail/delivery/setup.ts'
import { refreshSharedStsPolicies } from './mail/delivery/shared-sts-policies.ts'
import { deliveryCollections } from './mail/delivery-collections.ts'
import { createDnsDeps } from './mail/dns/dns-context.ts'
import { registerDnsJobs } from './mail/domains/checks/dns-check-job.ts'
import { dnsCollections } from './mail/domains/store/dns-collections.ts'
import { createSimulatedComplaints } from './mail/inbound/simulated-complaints.ts'
import { countStatistics } from './mail/log/store/count-stats.ts'
import { indexLog } from './mail/log/store/log-blocks.ts'
import { STATS_DAYS, STATS_HOURS } from './mail/log/store/stats.ts'
import { registerTlsReports } from './mail/reports/tls-report-job.ts'
import { resealMail } from './mail/reseal.ts'
import { cellsOf } from './mail/store/cells.ts'
import { adoptStrays } from './mail/store/change-cells.ts'
import { sweepFinalBodies, sweepOrphanBodies } from './mail/store/retention.ts'
import { createSystemMail, type SendSystemMail } from './mail/submission/system-mail.ts'
import { announceDisabled, startMailWebhooks } from './mail/webhooks/send-mail-webhooks.ts'
import { readDatabaseTime } from './platform/database/database-clock.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { createJobs, type Jobs, type RepeatInterval } from './platform/jobs/jobs.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'
import { openSubscriptions, type Subscriptions } from './subscriptions/context.ts'
import { registerSubscriptionJobs } from './subscriptions/jobs/register-jobs.ts'
import { resealSubscriptions } from './subscriptions/jobs/reseal-secrets.ts'
import { subscriptionCollections } from './subscriptions/store/collections.ts'
import { startWebhooks } from './subscriptions/webhooks/send-webhooks.ts'

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
    // What a process of an earlier release has added since cells are named.
    name: 'adopt-stray-mail',
    interval: { everyMs: MINUTE },
    async run({ mongo, log }) {
      const adopted = cellsOf(mongo.db).isNamed ? await adoptStrays(mongo) : 0
      if (adopted > 0) log.warn({ adopted }, 'mail had no cell: a process of an earlier release is running')
    },
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
    name: 'announce-disabled-webhooks',
    interval: { everyMs: MINUTE },
    async run(foundation) {
      const { mongo, config } = foundation
      await announceDisabled(mongo.db, await createSystemMail(foundation), config.APP_BASE_URL)
    },
  },
  {
    name: 'refresh-sts-policies',
    interval: { everyMs: 10 * MINUTE },
    run: refreshSharedStsPolicies,
  },
  {
    // Finds something only after a rotation of SESSION_SECRET.
    name: 'seal-again',
    interval: { everyMs: 60 * MINUTE },
    async run(foundation) {
      if (foundation.config.SESSION_SECRET_PREVIOUS === undefined) return
      const accounts = await resealAccounts(foundation.mongo.db, foundation.secrets)
      const mail = await resealMail(foundation.mongo.db, foundation.secrets)
      const subscriptions = await resealSubscriptions(openSubscriptions(foundation))
      foundation.log.info(
        { values: accounts + mail + subscriptions },
        'stored secrets are sealed with the current SESSION_SECRET',
      )
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
    users,
    loginLimits,
    ...accountMailCollections,
    ...subscriptionCollections,
  ])
  const timed = await createJobs(mongo, log, metrics, { collection: 'jobs', pollMs: 5_000, clock })
  await registerDnsJobs(timed, createDnsDeps(foundation))
  await registerTlsReports(timed, foundation)
  const subscriptions = openSubscriptions(foundation)
  await register(timed, foundation, subscriptions)
  const delivery = await startConfiguredDelivery(foundation, {
    complain: createSimulatedComplaints({ mongo, clock, logDays: foundation.config.RETENTION_LOG_DAYS }),
  })
  // Last, because nothing after it can fail: a start that is repeated must not leave jobs running.
  await timed.start()
  const parts = [timed, delivery, startWebhooks(subscriptions), startMailWebhooks(foundation)]
  return {
    async stop() {
      await Promise.all(parts.map(part => part.stop()))
    },
  }
}

async function register(timed: Jobs, foundation: Foundation, subscriptions: Subscriptions): Promise<void> {
  for (const { name, interval, run: work } of jobs) {
    timed.define(name, { concurrency: 1, lockLifetimeMs: 10 * MINUTE }, async ({ signal }) => {
      await work(foundation, signal)
    })
    await timed.seed(name, 'only', interval)
  }
  const send = await createSystemMail(foundation)
  await registerAccountMails(timed, foundation, send)
  await registerSubscriptionJobs(timed, { subscriptions, sendReminder: send })
}

async function registerAccountMails(timed: Jobs, foundation: Foundation, send: SendSystemMail): Promise<void> {
  const deps = { ...foundation, baseUrl: foundation.config.APP_BASE_URL, send }
  const mayMail = createMailAllowance(foundation.mongo.db)
  timed.define('account-mails', { concurrency: 1, lockLifetimeMs: MINUTE }, async ({ signal }) => {
    await sendAccountMails({ ...deps, mayMail }, signal)
  })
  await timed.seed('account-mails', 'only', { everyMs: 2_000 })
}

if (import.meta.main) await run('worker', process.env, worker)
