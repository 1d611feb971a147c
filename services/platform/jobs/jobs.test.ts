import { expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { until } from '../../../test/support/time/until.ts'
import { systemClock } from '../clock.ts'
import type { Mongo } from '../database/mongo.ts'
import { type Log, silentLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import { createJobs, type Jobs } from './jobs.ts'

async function jobsOf(mongo: Mongo, metrics = createMetrics('test'), log = silentLog) {
  return createJobs(mongo, log, metrics, { collection: 'jobs', pollMs: 50, clock: systemClock })
}

test('a job that was stored once runs once, with its data', async () => {
  const mongo = await databaseForThisTest()
  const jobs = await jobsOf(mongo)
  const seen = Promise.withResolvers<unknown>()
  jobs.define<{ n: number }>('greet', { concurrency: 1, lockLifetimeMs: 10_000 }, async run => seen.resolve(run.data))
  await jobs.once('greet', new Date(), { n: 7 })
  await jobs.start()
  expect(await seen.promise).toEqual({ n: 7 })
  await jobs.stop()
})

test('seeding twice from two processes leaves one recurring job', async () => {
  const mongo = await databaseForThisTest()
  const [one, two] = await Promise.all([jobsOf(mongo), jobsOf(mongo)])
  await Promise.all(
    [one, two].flatMap(jobs => [jobs.seed('sweep', '', { everyMs: 1000 }), jobs.seed('sweep', '', { everyMs: 1000 })]),
  )
  expect(await mongo.db.collection('jobs').countDocuments({ name: 'sweep' })).toBe(1)
})

test('a recurring job that is seeded with another rhythm follows it, and keeps its time and its lock', async () => {
  const mongo = await databaseForThisTest()
  const jobs = await jobsOf(mongo)
  const stored = () => mongo.db.collection('jobs').findOne({ name: 'remind' })
  await jobs.seed('remind', '', { cron: '0 10 * * *', timeZone: 'Asia/Shanghai' })
  const lockedAt = new Date()
  await mongo.db.collection('jobs').updateOne({ name: 'remind' }, { $set: { lockedAt } })
  const before = await stored()
  await jobs.seed('remind', '', { cron: '0 10 * * *', timeZone: 'Europe/Berlin' })
  expect(await stored()).toEqual({ ...before, repeatTimezone: 'Europe/Berlin' })
  await jobs.seed('remind', '', { everyMs: 1_000 })
  const { repeatTimezone: _, ...rest } = { ...before, repeatTimezone: undefined }
  expect(await stored()).toEqual({ ...rest, repeatInterval: 1_000 })
})

test('a recurring job is repeated', async () => {
  const mongo = await databaseForThisTest()
  const jobs = await jobsOf(mongo)
  let runs = 0
  const thrice = Promise.withResolvers<void>()
  jobs.define('tick', { concurrency: 1, lockLifetimeMs: 10_000 }, async () => {
    if (++runs === 3) thrice.resolve()
  })
  await jobs.seed('tick', '', { everyMs: 100 })
  await jobs.start()
  await thrice.promise
  await jobs.stop()
})

test('a failing job stores no reason that could hold a secret', async () => {
  const mongo = await databaseForThisTest()
  const jobs = await jobsOf(mongo)
  const failed = Promise.withResolvers<void>()
  jobs.define('fail', { concurrency: 1, lockLifetimeMs: 10_000 }, async () => {
    setImmediate(() => failed.resolve())
    throw new Error('password=hunter2')
  })
  await jobs.once('fail', new Date(), {})
  await jobs.start()
  await failed.promise
  await jobs.stop()
  expect(JSON.stringify(await mongo.db.collection('jobs').find().toArray())).not.toContain('hunter2')
})

/** A process that runs jobs until the test ends. */
async function worker(mongo: Mongo, define: (jobs: Jobs) => void, ...more: [ReturnType<typeof createMetrics>?, Log?]) {
  const jobs = await jobsOf(mongo, ...more)
  define(jobs)
  onTestFinished(() => jobs.stop())
  await jobs.start()
  return jobs
}
const stored = (mongo: Mongo) => mongo.db.collection('jobs')
const HOUR = 3_600_000

test('of two processes one runs a job, whichever is faster', async () => {
  const mongo = await databaseForThisTest()
  const ran: number[] = []
  const define = (jobs: Jobs) =>
    jobs.define<{ n: number }>('count', { concurrency: 3, lockLifetimeMs: 60_000 }, async ({ data }) => {
      ran.push(data.n)
    })
  const seed = await jobsOf(mongo)
  const all = Array.from({ length: 30 }, (_, n) => n)
  await Promise.all(all.map(n => seed.once('count', new Date(), { n })))
  await Promise.all([worker(mongo, define), worker(mongo, define)])
  await until(async () => (await stored(mongo).countDocuments()) === 0)
  expect(ran.toSorted((a, b) => a - b)).toEqual(all)
})

test('a job of a process that died runs again when its lock is over, and not before', async () => {
  const mongo = await databaseForThisTest()
  const seed = await jobsOf(mongo)
  for (const key of ['dead', 'alive']) await seed.seed('sweep', key, { everyMs: HOUR })
  const locked = (key: string, ago: number) =>
    stored(mongo).updateOne(
      { 'data.key': key },
      { $set: { lockedAt: new Date(Date.now() - ago), nextRunAt: new Date(Date.now() - ago) } },
    )
  await locked('dead', 61_000)
  await locked('alive', 30_000)
  const ran: string[] = []
  await worker(mongo, jobs =>
    jobs.define<{ key: string }>('sweep', { concurrency: 5, lockLifetimeMs: 60_000 }, async ({ data }) => {
      ran.push(data.key)
    }),
  )
  await until(async () => (await stored(mongo).countDocuments({ lastFinishedAt: { $type: 'date' } })) === 1)
  expect(ran).toEqual(['dead'])
})

test('runs that were missed while nothing ran are made up for once', async () => {
  const mongo = await databaseForThisTest()
  const seed = await jobsOf(mongo)
  await seed.seed('remind', '', { everyMs: HOUR })
  await stored(mongo).updateOne({}, { $set: { nextRunAt: new Date(Date.now() - 50 * HOUR) } })
  let runs = 0
  await worker(mongo, jobs =>
    jobs.define('remind', { concurrency: 1, lockLifetimeMs: 60_000 }, async () => void runs++),
  )
  await until(async () => (await stored(mongo).findOne({}))?.lastFinishedAt instanceof Date)
  const again = (await stored(mongo).findOne({}))?.nextRunAt.getTime() - Date.now()
  expect(runs).toBe(1)
  expect(again).toBeGreaterThan(HOUR - 60_000)
  expect(again).toBeLessThanOrEqual(HOUR)
})

test('a job that is in a hurry runs now; one that runs already is let be', async () => {
  const mongo = await databaseForThisTest()
  const ran: string[] = []
  const jobs = await worker(mongo, each =>
    each.define<{ key: string }>('check', { concurrency: 5, lockLifetimeMs: 60_000 }, async ({ data }) => {
      ran.push(data.key)
    }),
  )
  const later = new Date(Date.now() + HOUR)
  for (const key of ['waits', 'runs']) {
    await jobs.seed('check', key, { everyMs: HOUR })
    await until(() => ran.includes(key))
  }
  await until(async () => (await stored(mongo).countDocuments({ lockedAt: null })) === 2)
  await stored(mongo).updateMany({}, { $set: { nextRunAt: later } })
  await stored(mongo).updateOne({ 'data.key': 'runs' }, { $set: { lockedAt: new Date() } })
  await jobs.seed('other', '', { everyMs: HOUR })
  await stored(mongo).updateOne({ name: 'other' }, { $set: { nextRunAt: later } })
  await jobs.hurry('check')
  await until(() => ran.length === 3)
  expect(ran).toEqual(['waits', 'runs', 'waits'])
  const untouched = await stored(mongo).countDocuments({ nextRunAt: later })
  expect(untouched).toBe(2)
})

test('a stop notifies a running job, waits for it and starts no other', async () => {
  const mongo = await databaseForThisTest()
  const started = Promise.withResolvers<void>()
  const logged = Promise.withResolvers<void>()
  let [runs, ended] = [0, false]
  const jobs = await worker(mongo, each =>
    each.define('long', { concurrency: 1, lockLifetimeMs: 60_000 }, async ({ signal }) => {
      runs++
      signal.addEventListener('abort', () => logged.resolve())
      started.resolve()
      await logged.promise
      await mongo.db.collection('work').insertOne({ done: true }) // the database is still there
      ended = true
    }),
  )
  for (let n = 0; n < 3; n++) await jobs.once('long', new Date(), { n })
  await started.promise
  await jobs.stop()
  expect([runs, ended]).toEqual([1, true])
  expect(await stored(mongo).countDocuments({ lockedAt: null, nextRunAt: { $ne: null } })).toBe(2) // for the next process, immediately
})

test('a failing job runs again at its next time, and is counted and logged with its name', async () => {
  const mongo = await databaseForThisTest()
  const metrics = createMetrics('test')
  const warned: object[] = []
  let runs = 0
  await worker(
    mongo,
    jobs =>
      jobs.define('shaky', { concurrency: 1, lockLifetimeMs: 60_000 }, async () => {
        if (++runs < 3) throw new Error('the database is away')
      }),
    metrics,
    { ...silentLog, warn: fields => void warned.push(fields) },
  )
  const seed = await jobsOf(mongo)
  await seed.seed('shaky', '', { everyMs: 100 })
  await until(() => runs >= 3)
  const counts = async () => {
    const { values } = await metrics.jobs.get()
    return values
      .filter(({ metricName }) => metricName === 'postwright_job_duration_seconds_count')
      .map(({ labels, value }) => [labels.job_name, labels.outcome, value])
  }
  await until(async () => (await counts()).length === 2)
  expect(await counts()).toEqual([
    ['shaky', 'failed', 2],
    ['shaky', 'ok', expect.any(Number)],
  ])
  expect(warned.slice(0, 2)).toMatchObject([
    { job: 'shaky', err: { message: 'the database is away' } },
    { job: 'shaky' },
  ])
})

test('a long run that keeps its lock is not given to another process', async () => {
  const mongo = await databaseForThisTest()
  const go = Promise.withResolvers<void>()
  let runs = 0
  const define = (jobs: Jobs) =>
    jobs.define('long', { concurrency: 1, lockLifetimeMs: 4_000 }, async ({ touch }) => {
      runs++
      for (const end = Date.now() + 6_000; Date.now() < end; ) {
        await touch()
        const touched = Date.now()
        await until(() => Date.now() > touched + 100)
      }
      go.resolve()
    })
  await Promise.all([worker(mongo, define), worker(mongo, define)])
  await (await jobsOf(mongo)).once('long', new Date(), {})
  await go.promise
  await until(async () => (await stored(mongo).countDocuments()) === 0)
  expect(runs).toBe(1)
})
