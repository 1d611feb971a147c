import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { setMachineClock } from '../../../test/support/time/machine-clock.ts'
import { silentLog } from '../observability/log.ts'
import { readDatabaseTime } from './database-clock.ts'
import { type Migration, migrate } from './migrate.ts'
import type { Db } from './mongo.ts'

function counting(schema: number, minReader = 1): Migration & { runs: number } {
  return {
    schema,
    minReader,
    runs: 0,
    async up() {
      this.runs++
    },
  }
}

const stored = (db: Db) => db.collection<{ _id: string }>('meta').findOne({ _id: 'schema' })

test('runs the missing steps in order and stores the reached version', async () => {
  const { db } = await databaseForThisTest()
  const steps = [counting(1), counting(2)]
  await migrate(db, steps, silentLog)
  await migrate(db, steps, silentLog)
  expect(steps.map(step => step.runs)).toEqual([1, 1])
  expect(await stored(db)).toMatchObject({ schema: 2, minReader: 1 })
})

test('ten parallel processes run a step once', async () => {
  const { db } = await databaseForThisTest()
  const step = counting(1)
  await Promise.all(Array.from({ length: 10 }, () => migrate(db, [step], silentLog)))
  expect(step.runs).toBe(1)
})

test('a process that hung past its lock neither takes the lock of another nor reverts the schema', async () => {
  const { db } = await databaseForThisTest()
  let tries = 0
  const step: Migration = {
    schema: 1,
    minReader: 1,
    async up() {
      if (++tries === 1) throw new Error('the disk was full')
    },
  }
  await expect(migrate(db, [step], silentLog)).rejects.toThrow('the disk was full')
  await migrate(db, [step], silentLog)
  expect(tries).toBe(2)
})

test('the lock of a process that died does not hold for ever', async () => {
  const { db } = await databaseForThisTest()
  await db.collection<{ _id: string; until: Date }>('meta').insertOne({ _id: 'lock', until: new Date(Date.now() - 1) })
  const step = counting(1)
  await migrate(db, [step], silentLog)
  expect(step.runs).toBe(1)
})

test('a process that hung past its lock neither takes the lock of another nor the schema back', async () => {
  const { db } = await databaseForThisTest()
  const meta = db.collection<{ _id: string; until?: Date }>('meta')
  const [hung, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow: Migration = {
    schema: 1,
    minReader: 1,
    async up() {
      hung.resolve()
      await goOn.promise
    },
  }
  const first = migrate(db, [slow], silentLog)
  await hung.promise
  await meta.updateOne({ _id: 'lock' }, { $set: { until: new Date(0) } })
  const [reached, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const third: Migration = {
    schema: 3,
    minReader: 3,
    async up() {
      reached.resolve()
      await end.promise
    },
  }
  const second = migrate(db, [counting(1), counting(2, 2), third], silentLog)
  await reached.promise
  goOn.resolve()
  await expect(first).rejects.toThrow(/written by a newer Postwright/)
  expect(await stored(db)).toMatchObject({ schema: 2, minReader: 2 })
  expect(await meta.findOne({ _id: 'lock' })).not.toBeNull()
  end.resolve()
  await second
  expect(await stored(db)).toMatchObject({ schema: 3, minReader: 3 })
})

test.each([
  ['one release back runs: the data can be read', 1, undefined],
  ['two releases back does not, with the reason', 2, /written by a newer Postwright/],
])('%s', async (_, minReader, refusal) => {
  const { db } = await databaseForThisTest()
  await migrate(db, [counting(1), counting(2, minReader)], silentLog)
  const older = migrate(db, [counting(1)], silentLog)
  if (refusal) await expect(older).rejects.toThrow(refusal)
  else await older
})

test.each([
  ['ahead', 3_600_000],
  ['behind', -3_600_000],
])(
  'a process whose clock is an hour %s takes the lock of another after its expiry, and not before',
  async (_, ahead) => {
    const { db } = await databaseForThisTest()
    const runsOut = new Date((await readDatabaseTime(db)).getTime() + 1_000)
    await db.collection<{ _id: string }>('meta').insertOne({ _id: 'lock', by: 'another', until: runsOut } as never)
    let ranAt = new Date(0)
    const step: Migration = {
      schema: 1,
      minReader: 1,
      async up() {
        ranAt = await readDatabaseTime(db)
      },
    }
    const setBack = setMachineClock(ahead)
    await migrate(db, [step], silentLog).finally(setBack)
    expect(ranAt.getTime()).toBeGreaterThanOrEqual(runsOut.getTime())
    expect(ranAt.getTime()).toBeLessThan(runsOut.getTime() + 20_000)
  },
)
