/**
 * `npm run admin -- reset-password <username>`: uses MONGODB_URI, or the database of the `npm start` that runs from
 * DATA_DIR, or starts that database for the command.
 */
import { existsSync } from 'node:fs'
import { resetPasswordByName } from '../services/accounts/reset-password.ts'
import { readDatabaseTime } from '../services/platform/database/database-clock.ts'
import { connectMongo } from '../services/platform/database/mongo.ts'
import { embeddedFolder, runningEmbeddedUri, startEmbeddedMongod } from '../services/platform/mongod/embedded-mongod.ts'
import { cacheFolder, findMongod } from '../services/platform/mongod/find-mongod.ts'
import { releaseOfData } from '../services/platform/mongod/mongodb-release.ts'
import { createLog } from '../services/platform/observability/log.ts'
import type { Running } from '../services/platform/running.ts'

/** Exit code for wrong arguments (EX_USAGE of sysexits.h). */
const EX_USAGE = 64
/** Only warnings of the database are logged: the output is the result of the command. */
const log = createLog('warn', 'admin')

const [command, username, ...rest] = process.argv.slice(2)
if (command !== 'reset-password' || username === undefined || rest.length > 0) {
  process.stderr.write('usage: npm run admin -- reset-password <username>\n')
  process.exit(EX_USAGE)
}
if (existsSync('.env')) process.loadEnvFile('.env')
process.exitCode = await reset(username).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return 1
})

async function reset(name: string): Promise<number> {
  const { uri, database } = await findDatabase()
  try {
    const mongo = await connectMongo(uri, log)
    try {
      const now = await readDatabaseTime(mongo.db)
      return report(name, await resetPasswordByName({ mongo, clock: { now: () => now } }, name))
    } finally {
      await mongo.stop()
    }
  } finally {
    await database?.stop()
  }
}

function report(name: string, outcome: Awaited<ReturnType<typeof resetPasswordByName>>): number {
  if (outcome.kind === 'unknown') {
    process.stderr.write(`There is no account ${JSON.stringify(name)}.\n`)
    return 1
  }
  process.stdout.write(`New password: ${outcome.password}\nAll sessions of the account are ended.\n`)
  if (outcome.suspended) process.stdout.write('The account is suspended: an admin has to make it active again.\n')
  return 0
}

async function findDatabase(): Promise<{ uri: string; database?: Running }> {
  const { MONGODB_URI, MONGOD_BINARY, PATH, XDG_CACHE_HOME, DATA_DIR } = process.env
  if (MONGODB_URI) return { uri: MONGODB_URI }
  const dataDir = DATA_DIR || '.data'
  const running = await runningEmbeddedUri(dataDir)
  if (running !== undefined) return { uri: running }
  if (!existsSync(dataDir))
    throw new Error(`there is no database: ${dataDir} (DATA_DIR) does not exist; npm start makes it`)
  const report = (text: string) => process.stderr.write(`${text}\n`)
  const data = await releaseOfData(embeddedFolder(dataDir))
  const source = {
    binary: MONGOD_BINARY || undefined,
    path: PATH ?? '',
    cache: cacheFolder(XDG_CACHE_HOME),
    data,
    report,
  }
  const database = await startEmbeddedMongod(await findMongod(source), dataDir, log)
  return { uri: database.uri, database }
}
