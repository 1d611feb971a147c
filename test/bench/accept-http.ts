/**
 * Durable accepts over HTTP: messages a second, latency, and CPU of the send process and of mongod for each message.
 * `node test/bench/accept-http.ts [bytes] [connections] [seconds]`; starts a mongod and a service of its own.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectMongo } from '../../services/platform/database/mongo.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { giveDomain, giveToken, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../support/database/test-mongod.ts'
import { cpuMs, residentMiB, startService } from '../support/processes/service-process.ts'

const [bytes = 4096, connections = 20, seconds = 10] = process.argv.slice(2).map(Number)

const mongod = await startTestMongod()
const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
const user = await giveUser(mongo.db)
await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
const { value: token } = await giveToken(mongo.db, user._id)
const port = await freePort()
const service = startService('send', {
  MAIL_HOSTNAME: 'mail.example.com',
  SESSION_SECRET: randomBytes(32).toString('hex'),
  MONGODB_URI: mongod.uri,
  APP_PORT: String(port),
  SEND_REQUESTS_PER_SECOND: '0',
  METRICS_PORT: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'info',
})
await service.line('ready')

const line = `${randomBytes(54).toString('base64').slice(0, 72)}\n`
const text = line.repeat(Math.ceil((bytes - 300) / line.length))
const body = JSON.stringify({ from: 'a@example.org', to: 'b@example.net', subject: 'bench', text })
const agent = new Agent({ keepAlive: true, maxSockets: connections })

/** Sends one message; resolves with the status when the answer is read. */
function send(): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    request({ host: '127.0.0.1', port, path: '/api/send', method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .once('error', reject)
      .end(body)
  })
}

const count = { accepted: 0, refused: 0 }
let latencies: number[] = []
const stop = { at: Number.POSITIVE_INFINITY }

async function client(): Promise<void> {
  while (performance.now() < stop.at) {
    const started = performance.now()
    if ((await send()) === 202) count.accepted++
    else count.refused++
    latencies.push(performance.now() - started)
  }
}

const clients = Array.from({ length: connections }, client)
await sleep(3_000) // until code is compiled and caches are warm
const before = { accepted: count.accepted, http: cpuMs(service.pid), mongod: cpuMs(mongod.pid), at: performance.now() }
latencies = []
await sleep(seconds * 1_000)
const messages = count.accepted - before.accepted
const elapsed = (performance.now() - before.at) / 1_000
const http = cpuMs(service.pid) - before.http
const database = cpuMs(mongod.pid) - before.mongod
const memory = residentMiB(service.pid)
const sorted = latencies.sort((a, b) => a - b)
const percentile = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
stop.at = performance.now()
await Promise.all(clients)
process.stdout.write(
  `${bytes} bytes, ${connections} connections: ${(messages / elapsed).toFixed(0)} messages/s, ` +
    `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, refused ${count.refused}, ` +
    `CPU a message: send ${(http / messages).toFixed(3)} ms, mongod ${(database / messages).toFixed(3)} ms, ` +
    `send holds ${memory.toFixed(0)} MiB\n`,
)
service.kill('SIGTERM')
await service.exited
agent.destroy()
await mongo.stop()
await mongod.stop()
