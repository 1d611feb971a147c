/**
 * The embedded database: a real mongod as a replica set of one, in a process group of its own so that Ctrl-C reaches
 * only us and it is stopped last. It listens on the loopback with a password, and is started again when it dies.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mongoose from 'mongoose'
import { poll, retry } from '../concurrency/retry.ts'
import { isMongoCode } from '../database/mongo.ts'
import type { Log } from '../observability/log.ts'
import { whyMongodEnded } from './diagnose-exit.ts'
import { type EmbeddedState, loadState, saveState } from './embedded-state.ts'
import { isRunning } from './is-process-running.ts'

/** A running embedded database. */
export interface EmbeddedMongod {
  uri: string
  /** Process id of the present mongod; another one after a crash. */
  pid(): number
  stop(): Promise<void>
}

/**
 * For every mongod that this project starts. A compressed message with a wrong length made releases before 6.0.27,
 * 7.0.28 and 8.0.17 send uninitialised memory to any client that can connect (CVE-2025-14847).
 */
export const SAFE_FLAGS = ['--networkMessageCompressors', 'disabled'] as const

const USER = 'postwright'
const SET = 'postwright'
/** How long a mongod may take to answer: a recovery after a crash replays the journal first. */
const START_MS = 60_000
const STOP_MS = 30_000

/** Absolute path of the database's files below DATA_DIR. */
export function embeddedFolder(dataDir: string): string {
  return resolve(dataDir, 'mongo')
}

/** Starts the mongod at `binary` on the data below `dataDir`. Rejects with a sentence that contains the remedy. */
export async function startEmbeddedMongod(binary: string, dataDir: string, log: Log): Promise<EmbeddedMongod> {
  const folder = embeddedFolder(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const state = await loadState(folder)
  await stopOrphan(state, folder, log)
  state.port = await usablePort(state.configured ?? 0)
  if (state.configured !== undefined && state.configured !== state.port) await moveToPort(binary, folder, state)
  state.configured = state.port
  let stopping = false
  let child = await launch()
  const stopped = Promise.withResolvers<void>()

  async function launch(): Promise<ChildProcess> {
    const started = spawnMongod(binary, folder, state.port, ['--replSet', SET])
    const end = endOf(started, folder)
    state.pid = started.pid ?? 0
    await saveState(folder, state)
    const ready = prepare(state).then(() => saveState(folder, state))
    await Promise.race([ready, end.then(fail)]).catch((error: unknown) => {
      ready.catch(() => undefined)
      started.kill('SIGKILL')
      throw error
    })
    end.then(onEnd, () => undefined)
    return started
  }

  async function onEnd(reason: string): Promise<void> {
    if (stopping) return stopped.resolve()
    log.error({ reason }, 'the embedded database ended; starting it again')
    for (let wait = 500; !stopping; wait = Math.min(wait * 2, 10_000)) {
      try {
        child = await launch()
        if (stopping) child.kill('SIGTERM') // a stop during the start found no child to end
        log.info({ pid: child.pid }, 'the embedded database is back')
        return
      } catch (error) {
        log.error({ err: error }, 'the embedded database does not start; trying again')
        await sleep(wait)
      }
    }
    stopped.resolve()
  }

  return {
    uri: uriOf(state),
    pid: () => child.pid ?? 0,
    async stop() {
      stopping = true
      child.kill('SIGTERM')
      const forced = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await stopped.promise
      clearTimeout(forced)
      delete state.pid
      await saveState(folder, state)
    },
  }
}

/** Where a running Postwright of this data folder has its database; undefined when none runs. */
export async function runningEmbeddedUri(dataDir: string): Promise<string | undefined> {
  const folder = embeddedFolder(dataDir)
  const text = await readFile(join(folder, 'postwright.json'), 'utf8').catch(() => undefined)
  const state = text === undefined ? undefined : (JSON.parse(text) as EmbeddedState)
  return state?.pid !== undefined && (await isOurs(state.pid, folder)) ? uriOf(state) : undefined
}

function uriOf({ port, password }: EmbeddedState): string {
  return `mongodb://${USER}:${password}@127.0.0.1:${port}/postwright?replicaSet=${SET}&authSource=admin`
}

function spawnMongod(binary: string, folder: string, port: number, set: readonly string[]): ChildProcess {
  const log = openSync(join(folder, 'mongod.log'), 'w', 0o600)
  const child = spawn(
    binary,
    [
      ...['--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
      ...[...set, '--keyFile', join(folder, 'keyfile'), '--wiredTigerCacheSizeGB', '0.5', '--quiet'],
      ...SAFE_FLAGS,
      // The only member of its set has no successor; the default waits 15 s for one.
      ...[
        '--setParameter',
        'shutdownTimeoutMillisForSignaledShutdown=100',
        '--setParameter',
        'diagnosticDataCollectionEnabled=false',
      ],
    ],
    { detached: true, stdio: ['ignore', log, log] },
  )
  closeSync(log)
  return child
}

/** Resolves to the reason when the process ends. */
function endOf(child: ChildProcess, folder: string): Promise<string> {
  return new Promise(done => {
    child.once('error', error => done(error.message))
    child.once('exit', (code, signal) => {
      readFile(join(folder, 'mongod.log'), 'utf8').then(
        text => done(whyMongodEnded({ code, signal, tail: text.trimEnd().split('\n').slice(-200) }, folder)),
        () => done(whyMongodEnded({ code, signal, tail: [] }, folder)),
      )
    })
  })
}

/** Ensures the set, the user and the port: everything on the first start, later only changes. */
async function prepare(state: EmbeddedState): Promise<void> {
  const deadline = Date.now() + START_MS
  await untilAnswering(state.port, deadline)
  if (!(await withAdmin(state, true, async () => true).catch(() => false))) await createUser(state, deadline)
  await untilPrimary(state, deadline)
  state.dataRelease = await withAdmin(state, true, compatibilityVersion)
}

async function compatibilityVersion(admin: Admin): Promise<string> {
  const answer = await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 })
  return String(answer.featureCompatibilityVersion.version)
}

/**
 * The port of the last run was taken, and a member that does not find itself in its set answers nothing: the stored
 * address is changed while the mongod runs alone, with the right that only the holder of the key file has.
 */
async function moveToPort(binary: string, folder: string, state: EmbeddedState): Promise<void> {
  const alone = spawnMongod(binary, folder, state.port, [])
  const ended = endOf(alone, folder)
  try {
    await Promise.race([untilAnswering(state.port, Date.now() + START_MS), ended.then(fail)])
    const password = (await readFile(join(folder, 'keyfile'), 'utf8')).trim()
    await withDatabase(`__system:${encodeURIComponent(password)}@`, state.port, 'local', db =>
      db.collection('system.replset').updateOne({}, { $set: { 'members.0.host': `127.0.0.1:${state.port}` } }),
    )
  } finally {
    alone.kill('SIGTERM')
    await ended
  }
}

function fail(reason: string): never {
  throw new Error(`the embedded database did not start: ${reason}`)
}

/** Repeats `work` while it fails with one of these codes of MongoDB. */
function again<T>(codes: readonly number[], deadline: number, work: () => Promise<T>): Promise<T> {
  const on = (error: unknown) => codes.some(code => isMongoCode(error, code))
  return retry(work, { on, pauseMs: 50, timeoutMs: deadline - Date.now() })
}

/** The first start: the localhost exception lets one user be made without a login, once the set has a primary. */
async function createUser(state: EmbeddedState, deadline: number): Promise<void> {
  await withAdmin(state, false, admin =>
    admin
      .command({ replSetInitiate: { _id: SET, members: [{ _id: 0, host: `127.0.0.1:${state.port}` }] } })
      .catch((error: unknown) => {
        // 23 AlreadyInitialized, 13 Unauthorized: an earlier start got this far and then stopped.
        if (!isMongoCode(error, 23) && !isMongoCode(error, 13)) throw error
        return undefined
      }),
  )
  // 10107 NotWritablePrimary: the election of the only member takes a moment.
  await again([10_107], deadline, () =>
    withAdmin(state, false, admin => admin.command({ createUser: USER, pwd: state.password, roles: ['root'] })),
  )
}

type Db = NonNullable<mongoose.Connection['db']>
type Admin = ReturnType<Db['admin']>

function withAdmin<T>(state: EmbeddedState, login: boolean, work: (admin: Admin) => Promise<T>): Promise<T> {
  return withDatabase(login ? `${USER}:${state.password}@` : '', state.port, 'admin', db => work(db.admin()))
}

async function withDatabase<T>(login: string, port: number, name: string, work: (db: Db) => Promise<T>): Promise<T> {
  const uri = `mongodb://${login}127.0.0.1:${port}/${name}?directConnection=true`
  const connection = await mongoose.createConnection(uri, { serverSelectionTimeoutMS: 5_000 }).asPromise()
  try {
    if (!connection.db) throw new Error('no database')
    return await work(connection.db)
  } finally {
    await connection.close()
  }
}

async function untilAnswering(port: number, deadline: number): Promise<void> {
  const answers = () =>
    mongoose
      .createConnection(`mongodb://127.0.0.1:${port}/admin?directConnection=true`, { serverSelectionTimeoutMS: 1_000 })
      .asPromise()
      .then(
        connection => connection.close().then(() => true),
        () => false,
      )
  if (!(await poll(answers, { pauseMs: 50, timeoutMs: deadline - Date.now() })))
    throw new Error(`the embedded database does not answer on port ${port} after ${START_MS / 1000} s`)
}

async function untilPrimary(state: EmbeddedState, deadline: number): Promise<void> {
  const isPrimary = (admin: Admin) => admin.command({ hello: 1 }).then(answer => answer.isWritablePrimary === true)
  const checkPrimary = () => withAdmin(state, true, isPrimary).catch(() => false)
  if (!(await poll(checkPrimary, { pauseMs: 50, timeoutMs: deadline - Date.now() })))
    throw new Error('the embedded database does not become primary')
}

/** A mongod that outlived its Postwright (kill -9) still holds the data: it is ours by pid and path, so it is stopped. */
async function stopOrphan(state: EmbeddedState, folder: string, log: Log): Promise<void> {
  const { pid } = state
  if (!pid || !(await isOurs(pid, folder))) {
    // A lock file without a process is what a killed mongod leaves; it recovers by itself.
    return
  }
  log.warn({ pid }, 'stopping the database of a Postwright that was killed')
  process.kill(pid, 'SIGTERM')
  for (const deadline = Date.now() + STOP_MS; await isOurs(pid, folder); await sleep(50))
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL')
  await rm(join(folder, 'mongod.lock'), { force: true })
}

const isOurs = (pid: number, folder: string) => isRunning(pid, words => words.includes(folder))

/** The port of the last run when it is free, else another: clients read it from the connection string only. */
function usablePort(wanted: number): Promise<number> {
  return new Promise((done, reject) => {
    const probe = createServer()
    probe.once('error', error => (wanted === 0 ? reject(error) : usablePort(0).then(done, reject)))
    probe.listen(wanted, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => done(port))
    })
  })
}
