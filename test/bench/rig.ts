/** The common part of the benchmarks: a mongod, a sink, a sending domain, processes of the product, and CPU times. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { users } from '../../services/accounts/store/users.ts'
import { deliveryCollections } from '../../services/mail/delivery-collections.ts'
import { dkimPlace } from '../../services/mail/domains/dkim-keys.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { collectionOf, connectMongo, ensureIndexes, type Mongo } from '../../services/platform/database/mongo.ts'
import { newId } from '../../services/platform/ids.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createSecrets } from '../../services/platform/security/secrets.ts'
import { startTestMongod } from '../support/database/test-mongod.ts'
import type { SinkCounts } from './sink.ts'

const root = join(import.meta.dirname, '..', '..')

/** One secret for all processes of a run. */
export const SESSION_SECRET = randomBytes(48).toString('base64')

/** A sink process. */
export interface Sink {
  port: number
  pid: number
  counts(): Promise<SinkCounts>
  stop(): void
}

/** Starts the sink. */
export async function startSink(): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink.ts'), { stdio: 'inherit' })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    pid: child.pid ?? 0,
    async counts() {
      child.send('counts')
      const [{ counts }] = (await once(child, 'message')) as [{ counts: SinkCounts }]
      return counts
    },
    stop: () => child.disconnect(),
  }
}

/** A database with one account and one domain that may send. */
export interface Rig {
  mongo: Mongo
  uri: string
  mongodPid: number
  userId: string
  domainId: string
  stop(): Promise<void>
}

/** Starts mongod and prepares the account. */
export async function startRig(): Promise<Rig> {
  const mongod = await startTestMongod()
  const uri = mongod.uri.replace('/?', '/bench?')
  const mongo = await connectMongo(uri, silentLog)
  await ensureIndexes(mongo.db, deliveryCollections)
  const secrets = createSecrets(SESSION_SECRET)
  const [userId, domainId] = [newId('usr'), newId('dom')]
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const now = new Date()
  await collectionOf(mongo.db, users).insertOne({
    _id: userId,
    username: 'bench',
    status: 'active',
    role: 'user',
  } as never)
  await collectionOf(mongo.db, domains).insertOne({
    _id: domainId,
    user_id: userId,
    name: 'bench.example',
    status: 'verified',
    verification_token: 'bench',
    dkim: [
      {
        selector: 's1',
        algorithm: 'rsa-sha256',
        public_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
        sealed_private_key: secrets.seal(
          'dkim',
          dkimPlace(domainId, 's1'),
          String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
        ),
        state: 'active',
        created_at: now,
      },
    ],
    created_at: now,
    updated_at: now,
  })
  return {
    mongo,
    uri,
    mongodPid: mongod.pid,
    userId,
    domainId,
    async stop() {
      await mongo.stop()
      await mongod.stop()
    },
  }
}

/** Starts a worker process that relays to a port of this machine, and waits until it is ready. */
export async function startWorker(
  rig: Pick<Rig, 'uri'>,
  port: number,
  flags: readonly string[] = [],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...flags, join(root, 'services', 'worker.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      MONGODB_URI: rig.uri,
      SESSION_SECRET,
      MAIL_HOSTNAME: 'mail.bench.example',
      DELIVERY_MODE: 'relay',
      RELAY_URL: `smtp://127.0.0.1:${port}`,
      METRICS_PORT: '0',
      LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info',
    },
  })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the worker ended with ${code}`)))
    child.stdout?.on('data', (text: Buffer) => {
      if (text.includes('"ready"')) resolve()
    })
  })
  return child
}

/** CPU seconds of a process until now, user and system. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

/** Waits for a condition, checked every 20 ms. */
export async function until(condition: () => Promise<boolean>, timeoutMs = 600_000): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the benchmark did not finish in time')
    await sleep(20)
  }
}
