import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openSession, readSession } from '../services/accounts/login-sessions.ts'
import { createUser } from '../services/accounts/manage-accounts.ts'
import { verifyPassword } from '../services/accounts/password-hashing.ts'
import { listAudit } from '../services/accounts/store/audit-log.ts'
import { findUser, users } from '../services/accounts/store/users.ts'
import { systemClock } from '../services/platform/clock.ts'
import { collectionOf, connectMongo, type Mongo } from '../services/platform/database/mongo.ts'
import { startEmbeddedMongod } from '../services/platform/mongod/embedded-mongod.ts'
import { silentLog } from '../services/platform/observability/log.ts'
import { createSecrets } from '../services/platform/security/secrets.ts'
import { giveUser, PASSWORD } from '../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, sharedMongoUri } from '../test/support/database/test-database.ts'
import { mongodBinary } from '../test/support/database/test-mongod.ts'

interface Result {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command as the launcher does, in a folder without `.env`. */
function admin(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const { PATH = '', HOME = '', XDG_CACHE_HOME = '', MONGOD_BINARY = '' } = process.env
  const options = { cwd: tmpdir(), env: { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY, ...env } }
  return new Promise(done => {
    execFile(process.execPath, [join(import.meta.dirname, 'admin.ts'), ...args], options, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

const printedPassword = ({ stdout }: Result) => /^New password: (\w+)$/m.exec(stdout)?.[1] ?? ''

describe('with the database of MONGODB_URI', () => {
  let mongo: Mongo
  const env = () => {
    const uri = new URL(sharedMongoUri())
    uri.pathname = mongo.db.databaseName
    return { MONGODB_URI: String(uri) }
  }
  beforeAll(async () => {
    mongo = await freshDatabase()
  })
  afterAll(() => mongo.stop())

  test('prints a valid new password, ends all sessions, and is audited', async () => {
    const user = await giveUser(mongo.db, { username: 'ada' })
    const store = { db: mongo.db, secrets: createSecrets('a master secret of more than thirty-two bytes') }
    const token = await openSession(store, user, '127.0.0.1', systemClock.now())
    const result = await admin(['reset-password', 'ADA'], env())
    expect(result).toMatchObject({ code: 0, stderr: '' })
    const hash = (await findUser(mongo.db, user._id))?.password_hash
    expect(await verifyPassword(hash, printedPassword(result))).toBe(true)
    expect(await verifyPassword(hash, PASSWORD)).toBe(false)
    expect(await readSession(store, token, systemClock.now())).toBeUndefined()
    expect(await listAudit(mongo.db, user._id, { limit: 10 })).toMatchObject([
      { action: 'user.password_reset', actor: { via: 'command' } },
    ])
  })

  test('keeps a suspended account suspended and reports it', async () => {
    await giveUser(mongo.db, { username: 'suspended', status: 'suspended' })
    expect(await admin(['reset-password', 'suspended'], env())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('suspended'),
    })
  })

  test.each([
    ['an unknown account', ['reset-password', 'nobody'], 1, 'There is no account "nobody"'],
    ['no account', ['reset-password'], 64, 'usage: npm run admin'],
    ['two accounts', ['reset-password', 'a', 'b'], 64, 'usage: npm run admin'],
    ['another command', ['delete-everything', 'a'], 64, 'usage: npm run admin'],
    ['shard with a value', ['shard', 'a'], 64, 'usage: npm run admin'],
    ['shard, on a replica set', ['shard'], 1, 'MONGODB_URI leads to a replica set'],
    ['add-cell with two values', ['add-cell', 'a', 'b'], 64, 'usage: npm run admin'],
    ['add-cell, in a new database', ['add-cell'], 1, 'no process of Postwright has worked with this database'],
    ['nothing', [], 64, 'usage: npm run admin'],
  ])('%s changes nothing and prints an error', async (_, args, code, text) => {
    const before = await collectionOf(mongo.db, users).find().toArray()
    expect(await admin(args, env())).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) })
    expect(await collectionOf(mongo.db, users).find().toArray()).toEqual(before)
  })
})

describe('with the database of npm start', () => {
  test('works whether it runs or not', async () => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'pw-admin-'))
    onTestFinished(() => rm(DATA_DIR, { recursive: true, force: true }))
    const running = await startEmbeddedMongod(await mongodBinary(), DATA_DIR, silentLog)
    const mongo = await connectMongo(running.uri, silentLog)
    const input = { username: 'admin', role: 'admin', lang: 'en', tz: 'UTC' } as const
    const { user } = await createUser({ mongo, clock: systemClock }, input)
    const first = await admin(['reset-password', 'admin'], { DATA_DIR })
    expect(await verifyPassword((await findUser(mongo.db, user._id))?.password_hash, printedPassword(first))).toBe(true)
    await mongo.stop()
    await running.stop()
    const second = await admin(['reset-password', 'admin'], { DATA_DIR })
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('New password: ') })
    expect(printedPassword(second)).not.toBe(printedPassword(first))
  }, 180_000)

  test('fails if there is no database', async () => {
    const result = await admin(['reset-password', 'admin'], { DATA_DIR: join(tmpdir(), 'pw-there-is-nothing') })
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('npm start makes it') })
  })
})
