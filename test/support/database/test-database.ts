/** A fresh database for each test file, dropped afterwards. */
import { randomBytes } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { MissingProgram } from '../programs/missing-program.ts'

/** Connection string of the mongod that all test files of a run share. Throws {@link MissingProgram}. */
export function sharedMongoUri(): string {
  const mongo = inject('mongo')
  if ('reason' in mongo) throw new MissingProgram(mongo.reason, mongo.install)
  return mongo.uri
}

/** Connects to a new, empty database, by default of the run's mongod. Call {@link TestDatabase.stop} in `afterAll`. */
export async function freshDatabase(uri = sharedMongoUri()): Promise<TestDatabase> {
  const mongo = await connectMongo(uri, silentLog, { dbName: `t_${randomBytes(8).toString('hex')}` })
  return {
    ...mongo,
    async stop() {
      await mongo.db.dropDatabase()
      await mongo.stop()
    },
  }
}

/** A database that exists for one test. */
export async function databaseForThisTest(uri?: string): Promise<Mongo> {
  const mongo = await freshDatabase(uri)
  onTestFinished(() => mongo.stop())
  return mongo
}

/** A connection whose `stop` also drops the database. */
export type TestDatabase = Mongo
