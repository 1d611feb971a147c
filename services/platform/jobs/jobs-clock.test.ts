/** Jobs on machines whose clocks are an hour wrong: the database's time decides, whatever Agenda reads on the machine. */
import { expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { setMachineClock } from '../../../test/support/time/machine-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { readDatabaseTime, startDatabaseClock } from '../database/database-clock.ts'
import type { Mongo } from '../database/mongo.ts'
import { silentLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import { createJobs, type RepeatInterval } from './jobs.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How far the stored times may be off: the tests run on busy machines. */
const CLOSE = 10_000

const MACHINES: [string, number][] = [
  ['an hour ahead', HOUR],
  ['an hour behind', -HOUR],
]

/** The jobs of a process on such a machine. */
async function jobsOn(aheadMs: number) {
  const mongo = await databaseForThisTest()
  onTestFinished(setMachineClock(aheadMs))
  const metrics = createMetrics('test')
  const clock = await startDatabaseClock({ read: () => readDatabaseTime(mongo.db), log: silentLog, metrics })
  const jobs = await createJobs(mongo, silentLog, metrics, { collection: 'jobs', pollMs: 50, clock })
  const from = async (date: Date | undefined) =>
    (date?.getTime() ?? Number.NaN) - (await readDatabaseTime(mongo.db)).getTime()
  return { mongo, jobs, from, stored: (key: string) => mongo.db.collection('jobs').findOne({ 'data.key': key }) }
}

/** Sets dates of a job, in milliseconds from the database's time. */
async function set(mongo: Mongo, key: string, dates: Record<string, number>): Promise<void> {
  const times = Object.entries(dates).map(([field, ms]) => [field, { $add: ['$$NOW', ms] }])
  await mongo.db.collection('jobs').updateOne({ 'data.key': key }, [{ $set: Object.fromEntries(times) }])
}

test.each(MACHINES)(
  '%s: what is due runs, what is not waits, and what runs elsewhere stays there',
  async (_, ahead) => {
    const { mongo, jobs, from, stored } = await jobsOn(ahead)
    const ran: string[] = []
    jobs.define<{ key: string }>('sweep', { concurrency: 9, lockLifetimeMs: MINUTE }, async ({ data }) => {
      ran.push(data.key)
    })
    for (const key of ['due', 'later', 'held', 'dead', 'fresh'])
      await jobs.seed('sweep', key, { everyMs: key === 'due' ? 2 * HOUR : HOUR })
    await set(mongo, 'due', { nextRunAt: -1_000 })
    await set(mongo, 'later', { nextRunAt: 30 * MINUTE })
    await set(mongo, 'held', { nextRunAt: -30_000, lockedAt: -30_000 })
    await set(mongo, 'dead', { nextRunAt: -90_000, lockedAt: -90_000 })
    await jobs.start()
    const finished = { lastFinishedAt: { $ne: null }, lockedAt: null }
    await until(async () => (await mongo.db.collection('jobs').countDocuments(finished)) === 3)
    await jobs.stop()
    expect(ran.toSorted()).toEqual(['dead', 'due', 'fresh'])
    const again = await stored('due')
    expect(Math.abs((await from(again?.nextRunAt)) - 2 * HOUR)).toBeLessThan(CLOSE)
    expect(Math.abs(await from(again?.lastFinishedAt))).toBeLessThan(CLOSE)
  },
)

test.each(MACHINES)('%s: a process that dies leaves a lock and a next run of the present', async (_, ahead) => {
  const { jobs, from, stored } = await jobsOn(ahead)
  const running = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  jobs.define('long', { concurrency: 1, lockLifetimeMs: MINUTE }, async ({ touch }) => {
    await touch()
    running.resolve()
    await release.promise
  })
  await jobs.seed('long', 'it', { everyMs: MINUTE })
  await jobs.start()
  await running.promise
  const held = await stored('it') // what would be left after a kill
  expect(Math.abs(await from(held?.lockedAt))).toBeLessThan(CLOSE)
  expect(Math.abs((await from(held?.nextRunAt)) - MINUTE)).toBeLessThan(CLOSE)
  release.resolve()
  await jobs.stop()
})

test.each<[string, number, RepeatInterval, number]>([
  ['a clock that is set right', HOUR, { everyMs: MINUTE }, MINUTE],
  ['a clock that is set wrong', 0, { everyMs: MINUTE }, MINUTE],
])('%s while a job runs moves its next run nowhere', async (_, ahead, interval, wait) => {
  const { jobs, from, stored } = await jobsOn(ahead)
  const [running, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  jobs.define('long', { concurrency: 1, lockLifetimeMs: MINUTE }, async () => {
    running.resolve()
    await release.promise
  })
  await jobs.seed('long', 'it', interval)
  await jobs.start()
  await running.promise
  onTestFinished(setMachineClock(HOUR - ahead))
  release.resolve()
  await until(async () => (await stored('it'))?.lockedAt === null)
  await jobs.stop()
  expect(Math.abs((await from((await stored('it'))?.nextRunAt)) - wait)).toBeLessThan(CLOSE)
})

test.each(MACHINES)("%s: cron follows the time zone by the database's clock", async (_, ahead) => {
  const { mongo, jobs, stored } = await jobsOn(ahead)
  jobs.define('remind', { concurrency: 1, lockLifetimeMs: MINUTE }, async () => undefined)
  // In half an hour, which has passed for a clock that is ahead; half an hour ago, which is in the future for a clock
  // that is slow.
  const at = new Date((await readDatabaseTime(mongo.db)).getTime() + ahead / 2)
  at.setUTCSeconds(0, 0)
  await jobs.seed('remind', 'it', { cron: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, timeZone: 'UTC' })
  await jobs.start()
  await until(async () => (await stored('it'))?.lastFinishedAt instanceof Date)
  await jobs.stop()
  expect((await stored('it'))?.nextRunAt).toEqual(ahead > 0 ? at : new Date(at.getTime() + 24 * HOUR))
})
