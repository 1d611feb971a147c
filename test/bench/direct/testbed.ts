/** The environment of one row of a scenario: a mongod, two accounts, the receiving side, and processes of the product. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { fixSlotCount } from '../../../services/mail/store/slots.ts'
import { connectMongo, ensureIndexes, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { giveCredential, giveDomain, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type ReplicaSet, startReplicaSet } from '../../support/database/replica-set.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { IMAGE_FLAGS } from '../../support/processes/image-flags.ts'
import type { Answer, Question } from './internet.ts'
import { addressOf, type ClassCounts, type SiteClass } from './site-class.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const SECRET = 'a secret of the direct benchmark, 32 bytes and more'
const READY_MS = 60_000

/** The receiving side. */
export interface Internet {
  smtpPort: number
  dnsPort: number
  counts(): Promise<Map<string, ClassCounts>>
  /** When each recipient `<tag>.<n>` first got its message (milliseconds), and how often. */
  ledger(tag: string): Promise<Map<number, { at: number; count: number }>>
  /** Ends all failures, limits and delays. */
  heal(): Promise<void>
  stop(): void
}

/** An account that sends from one domain, with a login of the same name. */
export interface Account {
  name: 'a' | 'b'
  userId: string
  domainId: string
  domain: string
}

/** A process of the product. */
export interface Service {
  child: ChildProcess
  pid: number
  /** Connections that it tried to open, by address. */
  connections(): Map<string, number>
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** Everything of one row. */
export interface Testbed {
  mongo: Mongo
  mongodPid: number | undefined
  set: ReplicaSet | undefined
  internet: Internet
  classes: readonly SiteClass[]
  slots: number
  accounts: { a: Account; b: Account }
  startWorker(mode?: 'direct' | 'relay'): Promise<Service>
  /** Starts the SMTP process; `port` has implicit TLS. */
  startSubmission(mode?: 'direct' | 'relay'): Promise<Service & { port: number }>
}

/** What must be stopped if the benchmark is interrupted. */
const interrupted = new Set<() => Promise<void>>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void Promise.allSettled([...interrupted].map(end => end())).then(() => process.exit(1))
  })

/** Runs a row and removes everything afterwards. `members`: a set of three can step down. */
export async function withTestbed<T>(
  classes: readonly SiteClass[],
  work: (bed: Testbed) => Promise<T>,
  { members = 1 }: { members?: 1 | 3 } = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pw-direct-'))
  const set = members === 3 ? await startReplicaSet(3) : undefined
  const mongod = set ? undefined : await startTestMongod()
  const uri = (set?.uri ?? mongod?.uri ?? '').replace('/?', '/bench?')
  const mongo = await connectMongo(uri, silentLog)
  const internet = await startInternet(classes)
  const services: Service[] = []
  const end = async () => {
    interrupted.delete(end)
    await Promise.all(services.map(service => service.kill()))
    internet.stop()
    await mongo.stop()
    await mongod?.stop()
    await set?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  interrupted.add(end)
  try {
    await ensureIndexes(mongo.db, deliveryCollections)
    const slots = await fixSlotCount(mongo, 64)
    const accounts = { a: await giveAccount(mongo, 'a'), b: await giveAccount(mongo, 'b') }
    const start = createStarter({ folder, uri, internet })
    const started = async <S extends Service>(service: Promise<S>): Promise<S> => {
      services.push(await service)
      return service
    }
    return await work({
      mongo,
      mongodPid: mongod?.pid,
      set,
      internet,
      classes,
      slots,
      accounts,
      startWorker: (mode = 'direct') => started(start.worker(mode)),
      startSubmission: (mode = 'direct') => started(start.submission(mode)),
    })
  } finally {
    await end()
  }
}

async function giveAccount(mongo: Mongo, name: 'a' | 'b'): Promise<Account> {
  const { _id: userId } = await giveUser(mongo.db, { username: name })
  const domain = `${name}.example`
  const { _id: domainId } = await giveDomain(mongo.db, userId, domain, { status: 'verified', verified_by: 'admin' })
  const key = await createDkimKey(createSecrets(SECRET), domainId, 's1', 'rsa-sha256', new Date())
  await mongo.db.collection('domains').updateOne({ name: domain }, { $set: { dkim: [{ ...key, state: 'active' }] } })
  await giveCredential(mongo.db, userId, name)
  return { name, userId, domainId, domain }
}

/** Starts the receiving side alone. */
export async function startInternet(classes: readonly SiteClass[]): Promise<Internet> {
  const child = fork(join(import.meta.dirname, 'internet.ts'), { stdio: 'inherit', serialization: 'advanced' })
  const waiting = new Map<number, (answer: Answer) => void>()
  let ids = 0
  const ready = new Promise<Extract<Answer, { kind: 'ready' }>>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the receiving side ended with ${code}`)))
    child.on('message', (answer: Answer) => {
      if (answer.kind === 'ready') resolve(answer)
      else waiting.get(answer.id)?.(answer)
    })
  })
  const ask = async <K extends Answer['kind']>(kind: K, question: Omit<Question, 'id'>) => {
    const id = ++ids
    const { promise, resolve } = Promise.withResolvers<Answer>()
    waiting.set(id, resolve)
    child.send({ ...question, id })
    const answer = await promise
    waiting.delete(id)
    if (answer.kind !== kind) throw new Error(`the receiving side answered ${answer.kind}`)
    return answer as Extract<Answer, { kind: K }>
  }
  child.send([...classes])
  const { smtpPort, dnsPort } = await ready
  return {
    smtpPort,
    dnsPort,
    counts: async () => (await ask('counts', { ask: 'counts' })).classes,
    ledger: async tag => (await ask('ledger', { ask: 'ledger', tag } as Omit<Question, 'id'>)).entries,
    heal: async () => void (await ask('healed', { ask: 'heal' })),
    stop: () => child.disconnect(),
  }
}

function createStarter({ folder, uri, internet }: { folder: string; uri: string; internet: Internet }) {
  let started = 0
  const env = (mode: 'direct' | 'relay') => ({
    PATH: process.env.PATH ?? '',
    MONGODB_URI: uri,
    SESSION_SECRET: SECRET,
    MAIL_HOSTNAME: 'mail.bench.example',
    DNS_SERVERS: `127.0.0.1:${internet.dnsPort}`,
    DELIVERY_PORT: String(internet.smtpPort),
    DELIVERY_ALLOW_PRIVATE: 'true',
    DELIVERY_MODE: mode,
    // The relay is the first host of the first class.
    RELAY_URL: `smtp://${addressOf(0, 0)}:${internet.smtpPort}`,
    METRICS_PORT: '0',
    LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info',
  })
  const start = async (name: string, settings: Record<string, string>): Promise<Service> => {
    const log = join(folder, `${name}-${++started}.log`)
    const connections = join(folder, `${name}-${started}.connections`)
    writeFileSync(connections, '[]')
    const out = openSync(log, 'a')
    const preload = ['--import', join(import.meta.dirname, 'count-connections.ts')]
    const profile = process.env.BENCH_PROF ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROF}`] : []
    const child = spawn(
      process.execPath,
      [...IMAGE_FLAGS, ...preload, ...profile, join(root, 'services', `${name}.ts`)],
      { stdio: ['ignore', out, 'inherit'], env: { ...settings, BENCH_CONNECTIONS: connections } },
    )
    closeSync(out)
    const until = Date.now() + READY_MS
    while (!readFileSync(log).includes('"ready"')) {
      if (child.exitCode !== null || Date.now() > until)
        throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`)
      await sleep(20)
    }
    return {
      child,
      pid: child.pid ?? 0,
      connections: () => new Map(JSON.parse(readFileSync(connections, 'utf8')) as [string, number][]),
      async kill(signal = 'SIGKILL') {
        if (child.exitCode !== null || child.signalCode !== null) return
        const exited = once(child, 'exit')
        child.kill(signal)
        await exited
      },
    }
  }
  return {
    worker: (mode: 'direct' | 'relay') => start('worker', env(mode)),
    async submission(mode: 'direct' | 'relay') {
      const port = await freePort()
      const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
      const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
      writeFileSync(files.cert, cert)
      writeFileSync(files.key, key)
      const settings = {
        ...env(mode),
        SUBMISSION_LISTEN: `127.0.0.1:${port}:tls`,
        SUBMISSION_TLS_CERT: files.cert,
        SUBMISSION_TLS_KEY: files.key,
      }
      return { ...(await start('smtp', settings)), port }
    },
  }
}
