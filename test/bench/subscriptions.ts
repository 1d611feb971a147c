/**
 * Latency and throughput of the Subscription Administration API over 32 connections, beside the same questions asked
 * naively. `SIZE` (default 200000) users with one subscription each; `MONGODB_URI` names the server, the database
 * `bench_subscriptions` on it is made anew. The service runs in a process of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createUser } from '../../services/accounts/manage-users.ts'
import { users } from '../../services/accounts/store/users.ts'
import { systemClock } from '../../services/platform/clock.ts'
import { readConfig } from '../../services/platform/config.ts'
import { silentLog } from '../../services/platform/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { connectMongo, ensureIndexes } from '../../services/platform/mongo.ts'
import { createSecrets } from '../../services/platform/secrets.ts'
import { openSubscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { createApp } from '../../services/subscriptions/manage-apps.ts'
import { createPlan } from '../../services/subscriptions/manage-plans.ts'
import { createSwitch } from '../../services/subscriptions/manage-switches.ts'
import { mergePlan } from '../../services/subscriptions/rules/plan.ts'
import { NEW_SWITCH } from '../../services/subscriptions/rules/switch-spec.ts'
import { subscriptionCollections } from '../../services/subscriptions/store/collections.ts'
import { BIG, seed } from './subscriptions-seed.ts'

const SIZE = Number(process.env.SIZE ?? 200_000)
const SECONDS = Number(process.env.SECONDS ?? 5)
const CONNECTIONS = 32
const DB = 'bench_subscriptions'
const PORT = 33_126
const uri = process.env.MONGODB_URI ?? 'mongodb://127.0.0.1:27017/?replicaSet=rs0'
const PASSWORD = 'correct horse battery'
const env = {
  MAIL_HOSTNAME: 'localhost.localdomain',
  SESSION_SECRET: '0123456789'.repeat(4),
  MONGODB_URI: uri.replace(/\/(\?|$)/, `/${DB}$1`),
  ADMIN_API_PORT: String(PORT),
  METRICS_PORT: '0',
  LOG_LEVEL: 'warn',
  ADMIN_REQUESTS_PER_MINUTE: '100000000',
  SERVER_REQUESTS_PER_MINUTE: '100000000',
  OFREP_REQUESTS_PER_MINUTE: '100000000',
}

interface Result {
  name: string
  rps: number
  p50: number
  p99: number
  /** Milliseconds of CPU that the service spent on one request: what a busy machine does not distort. */
  cpu: number
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function call(path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const method = body === undefined ? 'GET' : 'POST'
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    request({ agent, host: '127.0.0.1', port: PORT, path, method, headers: { ...headers, ...type } }, response => {
      response.resume().on('end', () => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
        else resolve(performance.now() - started)
      })
    })
      .on('error', reject)
      .end(body)
  })
}

/** Keeps all connections busy for some seconds. */
async function measure(name: string, one: (n: number) => Promise<number>): Promise<Result> {
  const times: number[] = []
  const end = performance.now() + SECONDS * 1000
  let n = 0
  const started = performance.now()
  const cpuBefore = cpuOfService()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) times.push(await one(n++))
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const cpu = (cpuOfService() - cpuBefore) / times.length
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { name, rps: times.length / seconds, p50: at(0.5), p99: at(0.99), cpu }
}

function show({ name, rps, p50, p99, cpu }: Result): void {
  console.log(`| ${name} | ${rps.toFixed(0)} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${cpu.toFixed(2)} |`)
}

/** CPU milliseconds of the service so far: user and system ticks of 10 ms (proc(5), fields 14 and 15). */
function cpuOfService(): number {
  const fields = readFileSync(`/proc/${service.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function prepare() {
  const mongo = await connectMongo(uri, silentLog, { dbName: DB })
  await mongo.db.dropDatabase()
  await ensureIndexes(mongo.db, [...subscriptionCollections, users])
  const foundation = {
    config: readConfig(env),
    log: silentLog,
    metrics: createMetrics('bench'),
    mongo,
    clock: systemClock,
  }
  const s = openSubscriptions({ ...foundation, secrets: createSecrets(env.SESSION_SECRET) })
  await createUser(s, { username: 'bench', password: PASSWORD, role: 'admin', lang: 'en', tz: 'Asia/Shanghai' })
  const spec = (app_name: string) => ({ app_name, app_description: '', status: '1' as const })
  const big = await createApp(s, systemActor, spec(BIG), { appKey: BIG })
  for (const n of [1, 2, 3, 4]) await createApp(s, systemActor, spec(`bench-${n}`), { appKey: `bench-${n}` })
  const plans: number[] = []
  for (const name of ['A', 'B', 'C']) {
    const plan = mergePlan(undefined, { name, price: 1990, duration: 30, features: ['export'] })
    plans.push((await createPlan(s, systemActor, BIG, plan))._id)
  }
  for (let n = 0; n < 20; n++)
    await createSwitch(
      s,
      systemActor,
      { appKey: BIG, name: `switch_${n}` },
      { ...NEW_SWITCH, value: '1', rollout: n * 5 },
    )
  const started = performance.now()
  await seed(s, SIZE, plans)
  console.log(`seeded ${SIZE} users and subscriptions in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return { mongo, s, key: big.publishable.shown, secret: big.secret.shown }
}

async function startService(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['services/admin.ts'], { env: { ...process.env, ...env }, stdio: 'inherit' })
  for (let attempt = 0; attempt < 200; attempt++) {
    const up = await fetch(`http://127.0.0.1:${PORT}/readyz`).then(
      response => response.ok,
      () => false,
    )
    if (up) return child
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  child.kill()
  throw new Error('the service does not start')
}

async function logIn(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${PORT}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password: PASSWORD }),
  })
  const { data } = (await response.json()) as { data: { token: string } }
  return data.token
}

const { mongo, s, key, secret } = await prepare()
const service = await startService()
try {
  const token = { token: await logIn() }
  const get = (path: string) => () => call(`${path}${path.includes('?') ? '&' : '?'}app_key=${BIG}`, token)
  /** The n-th user of the big app: every fifth belongs to another. */
  const member = (n: number) => Math.floor((n % (SIZE * 0.8)) / 4) * 5 + (n % 4) + 1
  console.log('| request | per second | p50 ms | p99 ms | CPU ms of the service |\n|---|---|---|---|---|')
  show(await measure('users, first page', get('/user')))
  show(await measure('users, page 100', get('/user?page=100')))
  show(await measure('users, status 0', get('/user?status=0')))
  show(await measure('users, platform ios', get('/user?platform=ios')))
  show(await measure('users, searched', n => get(`/user?search=u${1_000 + (n % 5_000)}`)()))
  show(await measure('user statistics', get('/user_stats')))
  show(await measure('subscriptions, first page', get('/subscription')))
  show(await measure('subscriptions, page 100', get('/subscription?page=100')))
  show(await measure('subscriptions, status 1', get('/subscription?status=1')))
  show(await measure('subscriptions, searched', n => get(`/subscription?search=u${1_000 + (n % 5_000)}`)()))
  show(await measure('overview', get('/overview')))
  const bearer = { authorization: `Bearer ${secret}` }
  show(await measure('entitlement', n => call(`/server/entitlement?openid=openid-${member(n)}`, bearer)))
  show(
    await measure('switches, all 20', n =>
      call('/ofrep/v1/evaluate/flags', { 'x-api-key': key }, JSON.stringify({ context: { targetingKey: `u${n}` } })),
    ),
  )
  console.log('\nNaively, one at a time against the database:')
  await naive('statistics by $facet', () =>
    s.c.users
      .aggregate([
        { $match: { app_key: BIG } },
        {
          $facet: {
            total: [{ $count: 'n' }],
            active: [{ $match: { status: '1' } }, { $count: 'n' }],
            month: [{ $match: { created_at: { $gte: new Date(Date.now() - 30 * 86_400_000) } } }, { $count: 'n' }],
          },
        },
      ])
      .toArray(),
  )
  await naive('search by "contains"', () =>
    s.c.users
      .find({ app_key: BIG, $or: [{ nickname: /u1234/i }, { phone: /u1234/i }, { email: /u1234/i }] })
      .sort({ created_at: -1 })
      .limit(20)
      .toArray(),
  )
  await naive('total of a list by counting', () => s.c.users.countDocuments({ app_key: BIG }))
} finally {
  const stopped = new Promise(resolve => service.once('exit', resolve))
  service.kill('SIGTERM')
  await stopped
  agent.destroy()
  await mongo.db.dropDatabase()
  await mongo.stop()
}

async function naive(name: string, query: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const started = performance.now()
    await query()
    times.push(performance.now() - started)
  }
  console.log(`- ${name}: ${times.sort((a, b) => a - b)[2]?.toFixed(0)} ms`)
}
