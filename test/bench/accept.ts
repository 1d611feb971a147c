/**
 * Durable accepts over SMTP: messages a second, latency, and CPU of the SMTP process and of mongod for each message.
 * `node test/bench/accept.ts [bytes] [connections] [seconds]`; starts a mongod and a service of its own.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { openSender } from '../support/mail/load-sender.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { cpuMs, residentMiB } from '../support/processes/service-process.ts'

const [bytes = 4096, connections = 20, seconds = 10] = process.argv.slice(2).map(Number)

const env = { LOG_LEVEL: process.env.LOG_LEVEL ?? 'info' }
const submission = await startSubmissionProcess(env)
const { mongod, port, service } = submission

const head =
  'From: Bench <a@example.org>\r\nTo: b@example.net\r\nSubject: bench\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n'
const text = randomBytes(bytes)
  .toString('base64')
  .slice(0, bytes - head.length)
  .replaceAll(/.{72}/g, '$&\r\n')
const mail = `${head}${text}\r\n.\r\n`
const envelope = 'MAIL FROM:<bounce@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'

const count = { accepted: 0, refused: 0 }
/** From the first command to the reply to the final dot, in milliseconds. */
let latencies: number[] = []
const stop = { at: Number.POSITIVE_INFINITY }

async function client(): Promise<void> {
  const sender = await openSender(port, LOGIN_NAME, PASSWORD)
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
await submission.stop()
