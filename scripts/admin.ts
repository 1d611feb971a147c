/**
 * `npm run admin -- <command>` uses MONGODB_URI, or the database of the `npm start` that runs from DATA_DIR, or starts that
 * database for the command:
 *
 * - `reset-password <username>`: a new password for a person who has lost theirs;
 * - `shard`: shards the hot collections of a cluster by cell (docs/scaling.md);
 * - `add-cell [shard]`: one more cell, on a cluster on this shard or on the one with the fewest.
 */
import { existsSync } from 'node:fs'
import { resetPasswordByName } from '../services/accounts/reset-password.ts'
import { addCell, shardInstallation } from '../services/mail/administration/shard-cluster.ts'
import { readDatabaseTime } from '../services/platform/database/database-clock.ts'
import { connectMongo, type Mongo } from '../services/platform/database/mongo.ts'
import { embeddedFolder, runningEmbeddedUri, startEmbeddedMongod } from '../services/platform/mongod/embedded-mongod.ts'
import { cacheFolder, findMongod } from '../services/platform/mongod/find-mongod.ts'
import { releaseOfData } from '../services/platform/mongod/mongodb-release.ts'
import { createLog } from '../services/platform/observability/log.ts'
import type { Running } from '../services/platform/running.ts'

/** Exit code for wrong arguments (EX_USAGE of sysexits.h). */
const EX_USAGE = 64
/** Only warnings of the database are logged: the output is the result of the command. */
const log = createLog('warn', 'admin')

const USAGE = `usage: npm run admin -- reset-password <username>
       npm run admin -- shard
       npm run admin -- add-cell [shard]
`

const [command = '', ...values] = process.argv.slice(2)
const work = workOf(command, values)
if (!work) {
  process.stderr.write(USAGE)
  process.exit(EX_USAGE)
}
if (existsSync('.env')) process.loadEnvFile('.env')
process.exitCode = await withDatabase(work).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return 1
})

/** What a command line asks for; undefined where it is none. Answers the exit code. */
function workOf(command: string, [value, ...more]: readonly string[]): ((mongo: Mongo) => Promise<number>) | undefined {
  if (more.length > 0) return undefined
  if (command === 'reset-password' && value !== undefined) return mongo => reset(mongo, value)
  if (command === 'shard' && value === undefined) return mongo => change(shardInstallation({ mongo, report: print }))
  if (command === 'add-cell') return mongo => change(addCell({ mongo, report: print }, value))
  return undefined
}

async function withDatabase(work: (mongo: Mongo) => Promise<number>): Promise<number> {
  const { uri, database } = await findDatabase()
  try {
    const mongo = await connectMongo(uri, log)
    try {
      return await work(mongo)
    } finally {
      await mongo.stop()
    }
  } finally {
    await database?.stop()
  }
}

async function reset(mongo: Mongo, name: string): Promise<number> {
  const now = await readDatabaseTime(mongo.db)
  return report(name, await resetPasswordByName({ mongo, clock: { now: () => now } }, name))
}

async function change(done: Promise<unknown>): Promise<number> {
  await done
  return 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
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
