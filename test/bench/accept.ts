/**
 * Durable accepts over SMTP: messages a second, latency, and CPU of the SMTP process and of mongod for each message.
 * `node test/bench/accept.ts [bytes] [connections] [seconds]`; starts a mongod and a service of its own.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from '../../services/platform/certificates.ts'
import { silentLog } from '../../services/platform/log.ts'
import { connectMongo } from '../../services/platform/mongo.ts'
import { freePort, startTestMongod } from '../support/mongod.ts'
import { cpuMs, residentMiB, startService } from '../support/process.ts'
import { giveCredential, giveDomain, giveUser, PASSWORD } from '../support/tenants.ts'
import { openSender } from './submit.ts'

const [bytes = 4096, connections = 20, seconds = 10] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'pw-bench-'))
const mongod = await startTestMongod()
const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
const user = await giveUser(mongo.db)
await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
await giveCredential(mongo.db, user._id, 'bench')
const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
await writeFile(join(folder, 'tls.crt'), cert)
await writeFile(join(folder, 'tls.key'), key)
const port = await freePort()
const service = startService('smtp', {
  MAIL_HOSTNAME: 'mail.example.com',
  SESSION_SECRET: randomBytes(32).toString('hex'),
  MONGODB_URI: mongod.uri,
  SUBMISSION_LISTEN: `${port}:tls`,
  SUBMISSION_TLS_CERT: join(folder, 'tls.crt'),
  SUBMISSION_TLS_KEY: join(folder, 'tls.key'),
  METRICS_PORT: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'info',
})
await service.line('ready')

const line = `${randomBytes(54).toString('base64').slice(0, 72)}\r\n`
const head =
  'From: Bench <a@example.org>\r\nTo: b@example.net\r\nSubject: bench\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n'
const mail = `${head}${line.repeat(Math.ceil((bytes - head.length) / line.length))}.\r\n`
const envelope = 'MAIL FROM:<bounce@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'

const count = { accepted: 0, refused: 0 }
/** From the first command to the reply to the final dot, in milliseconds. */
let latencies: number[] = []
const stop = { at: Number.POSITIVE_INFINITY }

async function client(): Promise<void> {
  const sender = await openSender(port, 'bench', PASSWORD)
  while (performance.now() < stop.at) {
    const started = performance.now()
    const reply = await sender.send(envelope, mail)
    if (reply.startsWith('250')) count.accepted++
    else count.refused++
    latencies.push(performance.now() - started)
  }
  sender.close()
}

const clients = Array.from({ length: connections }, client)
await sleep(3_000) // until code is compiled and caches are warm
const before = { accepted: count.accepted, smtp: cpuMs(service.pid), mongod: cpuMs(mongod.pid), at: performance.now() }
latencies = []
await sleep(seconds * 1_000)
const messages = count.accepted - before.accepted
const elapsed = (performance.now() - before.at) / 1_000
const smtp = cpuMs(service.pid) - before.smtp
const database = cpuMs(mongod.pid) - before.mongod
const memory = residentMiB(service.pid)
const sorted = latencies.sort((a, b) => a - b)
const percentile = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
stop.at = performance.now()
await Promise.all(clients)
process.stdout.write(
  `${bytes} bytes, ${connections} connections: ${(messages / elapsed).toFixed(0)} messages/s, ` +
    `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, refused ${count.refused}, ` +
    `CPU a message: smtp ${(smtp / messages).toFixed(3)} ms, mongod ${(database / messages).toFixed(3)} ms, ` +
    `smtp holds ${memory.toFixed(0)} MiB\n`,
)
service.kill('SIGTERM')
await service.exited
await mongo.stop()
await mongod.stop()
await rm(folder, { recursive: true })
