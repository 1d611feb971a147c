import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../test/support/database.ts'
import { createJobs } from './jobs.ts'
import { silentLog } from './log.ts'
import { createMetrics } from './metrics.ts'

async function jobsOf(mongo: Awaited<ReturnType<typeof databaseForThisTest>>) {
  return createJobs(mongo, silentLog, createMetrics('test'), { collection: 'jobs', pollMs: 50 })
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

test('a recurring job comes again', async () => {
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
