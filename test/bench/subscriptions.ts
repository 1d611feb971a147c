/**
 * Subscription Administration API over 32 connections, at full speed and at a rate, compared with naive queries.
 * `SIZE` (default 200000) users with one subscription each, `SECONDS` (5) of load per row, `RATE` (100) requests
 * a second (a twentieth of it for the deepest pages), `ONLY` a part of a row's name. `MONGODB_URI` names the server; the database `bench_subscriptions` on it is
 * filled once per size, and stays. The service runs in a process of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { atRate, createClient, fullSpeed, type Load, type Send } from './load.ts'
import { BIG, benchEnv, LOGIN, openSeeded } from './subscriptions-seed.ts'

const SIZE = Number(process.env.SIZE ?? 200_000)
const SECONDS = Number(process.env.SECONDS ?? 5)
const RATE = Number(process.env.RATE ?? 100)
const ONLY = process.env.ONLY ?? ''
const CONNECTIONS = 32
const PORT = 33_126
const origin = `http://127.0.0.1:${PORT}`
const uri = process.env.MONGODB_URI ?? 'mongodb://127.0.0.1:27017/?replicaSet=rs0'

async function startService(): Promise<ChildProcess> {
  const env = { ...process.env, ...benchEnv(uri), ADMIN_API_PORT: String(PORT) }
  const child = spawn(process.execPath, ['services/admin.ts'], { env, stdio: 'inherit' })
  for (let attempt = 0; attempt < 200; attempt++) {
    const up = await fetch(`${origin}/readyz`).then(
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
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${origin}/token`, { method: 'POST', headers, body: JSON.stringify(LOGIN) })
  const { data } = (await response.json()) as { data: { token: string } }
  return data.token
}

const { mongo, subscriptions, publishableKey, secret } = await openSeeded(uri, SIZE)
const service = await startService()
const client = createClient(origin, CONNECTIONS)
try {
  const token = { token: await logIn() }
  const get = (path: string) => () => client.call(`${path}${path.includes('?') ? '&' : '?'}app_key=${BIG}`, token)
  const bearer = { authorization: `Bearer ${secret}` }
  /** The n-th user of the big app: every fifth belongs to another. */
  const member = (n: number) => Math.floor((n % (SIZE * 0.8)) / 4) * 5 + (n % 4) + 1
  const flags = (n: number) => JSON.stringify({ context: { targetingKey: `u${n}` } })
  const rows: [name: string, send: Send, rate?: number][] = [
    ['users, first page', get('/user')],
    ['users, page 100', get('/user?page=100')],
    ['users, page 5000', get('/user?page=5000'), RATE / 20],
    ['users, status 0', get('/user?status=0')],
    ['users, platform ios', get('/user?platform=ios')],
    ['users, searched', n => get(`/user?search=u${1_000 + (n % 5_000)}`)()],
    ['user statistics', get('/user_stats')],
    ['subscriptions, first page', get('/subscription')],
    ['subscriptions, page 100', get('/subscription?page=100')],
    ['subscriptions, page 5000', get('/subscription?page=5000'), RATE / 20],
    ['subscriptions, status 1', get('/subscription?status=1')],
    ['subscriptions, alipay, renewing', get('/subscription?payment_method=alipay&auto_renew=1')],
    ['subscriptions, ending soon', get('/subscription?expiring=1')],
    ['subscriptions, searched', n => get(`/subscription?search=u${1_000 + (n % 5_000)}`)()],
    ['overview', get('/overview')],
    ['entitlement', n => client.call(`/server/entitlement?openid=openid-${member(n)}`, bearer)],
    ['switches, all 20', n => client.call('/ofrep/v1/evaluate/flags', { 'x-api-key': publishableKey }, flags(n))],
  ]
  console.log(`| request | per second | p50 ms | p99 ms | CPU ms of the service | p50 ms at ${RATE}/s | p99 ms at it |`)
  console.log('|---|---|---|---|---|---|---|')
  for (const [name, send, rate = RATE] of rows.filter(([name]) => name.includes(ONLY))) {
    const pid = service.pid ?? 0
    await fullSpeed(CONNECTIONS, 1, pid, send) // warms up
    show(name, await fullSpeed(CONNECTIONS, SECONDS, pid, send), await atRate(rate, SECONDS, pid, send))
  }
  if (ONLY === '') await naive()
} finally {
  await client.stop()
  const stopped = once(service, 'exit')
  service.kill('SIGTERM')
  await stopped
  await mongo.stop()
}

function show(name: string, full: Load, paced: Load): void {
  const cells = [full.p50, full.p99].map(ms => ms.toFixed(1))
  const more = [paced.p50, paced.p99].map(ms => ms.toFixed(1))
  console.log(`| ${[name, full.rps.toFixed(0), ...cells, full.cpu.toFixed(2), ...more].join(' | ')} |`)
}

/** The same queries in their simplest form, one at a time against the database. */
async function naive(): Promise<void> {
  const month = new Date(Date.now() - 30 * 86_400_000)
  const soon = Date.now() / 1000 + 7 * 86_400
  const contains = /u1234/i
  const match = { $match: { app_key: BIG } }
  const count = { $count: 'n' }
  const user = {
    from: subscriptions.collections.users.collectionName,
    localField: 'user_id',
    foreignField: '_id',
    as: 'user',
  }
  const questions: [string, () => Promise<unknown>][] = [
    ['users, first page, with its count', () => subscriptions.collections.users.countDocuments({ app_key: BIG })],
    [
      'users, "contains"',
      () =>
        subscriptions.collections.users
          .find({ app_key: BIG, $or: [{ nickname: contains }, { phone: contains }, { email: contains }] })
          .sort({ created_at: -1 })
          .limit(20)
          .toArray(),
    ],
    [
      'user statistics by $facet',
      () =>
        subscriptions.collections.users
          .aggregate([
            match,
            {
              $facet: {
                total: [count],
                active: [{ $match: { status: '1' } }, count],
                month: [{ $match: { created_at: { $gte: month } } }, count],
              },
            },
          ])
          .toArray(),
    ],
    [
      'subscriptions, page 100, with $lookup before the page',
      () =>
        subscriptions.collections.subscriptions
          .aggregate([match, { $lookup: user }, { $sort: { created_at: -1 } }, { $skip: 1980 }, { $limit: 20 }], {
            allowDiskUse: true,
            maxTimeMS: 60_000,
          })
          .toArray(),
    ],
    [
      'overview by $group',
      () =>
        subscriptions.collections.subscriptions
          .aggregate([
            match,
            {
              $group: {
                _id: { plan: '$plan_id', method: '$payment_method', status: '$status' },
                n: { $sum: 1 },
                soon: { $sum: { $cond: [{ $lte: ['$end', soon] }, 1, 0] } },
              },
            },
          ])
          .toArray(),
    ],
  ]
  console.log('\n| asked naively | ms, one at a time |\n|---|---|')
  for (const [name, ask] of questions) {
    const times: number[] = []
    for (let i = 0; i < 3; i++) {
      const started = performance.now()
      await ask().catch((error: unknown) => console.log(`${name}: ${error}`))
      times.push(performance.now() - started)
    }
    console.log(`| ${name} | ${times.sort((a, b) => a - b)[1]?.toFixed(0)} |`)
  }
}
