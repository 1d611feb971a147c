/** A real mongod for tests: a replica set of one member in a temporary folder. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { SAFE_FLAGS } from '../../../services/platform/mongod/embedded-mongod.ts'
import { cacheFolder, findMongod } from '../../../services/platform/mongod/find-mongod.ts'
import { aptInstall, MissingProgram } from '../programs/missing-program.ts'

/** A running mongod and its connection string. */
export interface TestMongod {
  uri: string
  /** Process id of the current process. */
  readonly pid: number
  /** Kills it as a power failure would; the data are kept. */
  crash(): Promise<void>
  /** Restarts it with its data and port. */
  start(): Promise<void>
  /** Kills it and removes the data. */
  stop(): Promise<void>
}

const search = {
  binary: process.env.MONGOD_BINARY,
  path: process.env.PATH ?? '',
  cache: cacheFolder(process.env.XDG_CACHE_HOME),
  report: (text: string) => process.stderr.write(`tests: ${text}\n`),
}

/** The mongod for tests. Rejects with {@link MissingProgram} if none is found or downloaded. */
export async function mongodBinary(): Promise<string> {
  try {
    return await findMongod(search)
  } catch (error) {
    // The first line names what is missing, the last the remedy, those between why each source has none.
    const lines = String(error instanceof Error ? error.message : error).split('\n')
    const reasons = (lines.length > 1 ? lines.slice(0, -1) : lines).map(line => line.replace(/^ *- /, ''))
    const reason = reasons.join('; ').replace(':; ', ': ')
    throw new MissingProgram(reason, `${aptInstall('curl python3-pip')}, or set MONGOD_BINARY to a mongod`)
  }
}

/** Starts a mongod and initiates its replica set. `more`: additional server parameters. */
export async function startTestMongod(more: Readonly<Record<string, string>> = {}): Promise<TestMongod> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-mongod-'))
  const port = await freePort()
  const binary = await mongodBinary()
  // Tests have their own clocks: what is new to them must not be removed because it is old by the machine's clock.
  const network = ['--replSet', 'test', '--port', String(port), '--bind_ip', '127.0.0.1']
  // Each test has a database, and mongod exits when it cannot open more files: dropped ones are deleted immediately, idle ones
  // closed after 15 s, where the defaults are five and ten minutes.
  const parameters = {
    ttlMonitorEnabled: 'false',
    minSnapshotHistoryWindowInSeconds: '0',
    wiredTigerFileHandleCloseIdleTime: '15',
    ...more,
  }
  const settings = [
    ...['--wiredTigerCacheSizeGB', '0.5', '--syncdelay', '15', ...SAFE_FLAGS],
    ...Object.entries(parameters).flatMap(([name, value]) => ['--setParameter', `${name}=${value}`]),
  ]
  const launch = () => {
    const child = spawn(binary, [...network, '--dbpath', folder, ...settings], { stdio: 'ignore' })
    return { child, exited: new Promise<void>(resolve => child.once('exit', () => resolve())) }
  }
  let running = launch()
  const connection = await mongoose
    .createConnection(`mongodb://127.0.0.1:${port}/admin?directConnection=true`, { serverSelectionTimeoutMS: 60_000 })
    .asPromise()
  await connection.db
    ?.admin()
    .command({ replSetInitiate: { _id: 'test', members: [{ _id: 0, host: `127.0.0.1:${port}` }] } })
  await connection.close()
  return {
    uri: `mongodb://127.0.0.1:${port}/?replicaSet=test`,
    get pid() {
      return running.child.pid ?? 0
    },
    async crash() {
      running.child.kill('SIGKILL')
      await running.exited
    },
    async start() {
      running = launch()
    },
    async stop() {
      running.child.kill('SIGKILL')
      await running.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Below the ports that systems choose themselves (Linux: 32768 and up, others: 49152 and up), from which listeners on port 0
 * and connections of other tests come; above those that `fetch` and browsers refuse.
 */
const PORTS = { first: 11_000, last: 29_999 }
const given = new Set<number>()

/** A port that is currently unused, and that no process gets that does not ask for it by number. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.last + 1)
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
