/**
 * Delivery alone: fills the queue, starts one worker, and measures until the sink has everything.
 * `node test/bench/deliver.ts [messages] [bytes] [waiting]`; `waiting` deliveries are queued for later.
 */
import { randomBytes } from 'node:crypto'
import { fixSlotCount } from '../../services/mail/store/slots.ts'
import type { NewMessage } from '../../services/mail/submission/store/message-documents.ts'
import { createEnqueue } from '../../services/mail/submission/store/store-accepted.ts'
import { newId } from '../../services/platform/ids.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { cpuSeconds, type Rig, residentMiB, startRig, startSink, startWorker, until } from './rig.ts'

const [messages = 5_000, bytes = 4_096, waiting = 0] = process.argv.slice(2).map(Number)
const rig = await startRig()
const sink = await startSink()
const slots = await fixSlotCount(rig.mongo, 64)
const enqueue = createEnqueue({
  mongo: rig.mongo,
  log: silentLog,
  metrics: createMetrics('bench'),
  wake: () => undefined,
  slots,
  relay: true,
  bodyDays: 7,
  logDays: 30,
})

if (waiting > 0) await fill(rig, waiting, new Date(Date.now() + 86_400_000), 256)
await fill(rig, messages, undefined, bytes)
const flags = process.env.BENCH_PROF ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROF}`] : []
const worker = await startWorker(rig, sink.port, flags)
const pid = worker.pid ?? 0
await until(async () => (await sink.counts()).received > 0)
const start = { at: Date.now(), worker: cpuSeconds(pid), mongod: cpuSeconds(rig.mongodPid) }
await until(async () => (await sink.counts()).received >= messages)
await until(async () => (await rig.mongo.db.collection('deliveries').estimatedDocumentCount()) <= waiting)
const counts = await sink.counts()
const seconds = (counts.lastAt - start.at) / 1000
process.stdout.write(
  `${JSON.stringify({
    messages,
    bytes,
    waiting,
    perSecond: Math.round(messages / seconds),
    workerCpuMs: +(((cpuSeconds(pid) - start.worker) / messages) * 1000).toFixed(3),
    mongodCpuMs: +(((cpuSeconds(rig.mongodPid) - start.mongod) / messages) * 1000).toFixed(3),
    workerMiB: residentMiB(pid),
    duplicates: counts.duplicates,
    signed: counts.signed,
  })}\n`,
)
const exited = new Promise(resolve => worker.once('exit', resolve))
worker.kill('SIGTERM')
await exited
sink.stop()
await rig.stop()

async function fill({ userId, domainId }: Rig, count: number, scheduledAt: Date | undefined, size: number) {
  // Words would compress better and random octets not at all: base64 of random octets resembles attachments.
  const text = (length: number) =>
    `${randomBytes(length).toString('base64').slice(0, length).replaceAll(/.{72}/g, '$&\r\n')}\r\n`
  let next = 0
  await Promise.all(
    Array.from({ length: 200 }, async () => {
      while (next < count) {
        const n = next++
        const outcome = await enqueue(toMessage(n, userId, domainId, text(size), scheduledAt))
        if (outcome.kind !== 'stored') throw new Error('the queue could not be filled')
      }
    }),
  )
}

function toMessage(n: number, user: string, domain: string, body: string, scheduledAt: Date | undefined): NewMessage {
  const id = newId('em')
  const to = `user${n}@d${n % 50}.example`
  const header = `From: a@bench.example\r\nTo: ${to}\r\nSubject: message ${n}\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <${id}@bench.example>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n`
  return {
    id,
    user_id: user,
    domain_id: domain,
    via: { channel: 'smtp', id: 'bench' },
    mail_from: 'a@bench.example',
    from: 'a@bench.example',
    subject: `message ${n}`,
    message_id: `<${id}@bench.example>`,
    lane: 'transactional',
    ambiguous: 'retry',
    created_at: new Date(),
    ...(scheduledAt && { scheduled_at: scheduledAt }),
    raw: Buffer.from(header + body),
    recipients: [{ email: to, type: 'envelope' }],
  }
}
