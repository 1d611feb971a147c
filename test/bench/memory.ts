/**
 * Memory of the SMTP process, a worker and mongod: at rest, and while messages pass through them at full speed.
 * `node test/bench/memory.ts [messages, default 100,000] [octets] [points]`; the flags of the image, a cache of 1 GiB.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { importDkimKey } from '../../services/mail/domains/dkim-keys.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { createSecrets } from '../../services/platform/security/secrets.ts'
import { PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { openSender } from '../support/mail/load-sender.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { IMAGE_FLAGS } from '../support/processes/image-flags.ts'
import { note, printTable, type Row } from './direct/table.ts'
import { residentMiB, SESSION_SECRET, startSink, startWorker, until } from './rig.ts'

const [count = 100_000, bytes = 4_096, points = 20] = process.argv.slice(2).map(Number)
const CONNECTIONS = 20
const REST_MS = 20_000
const env = { SESSION_SECRET, MAIL_HOSTNAME: 'mail.bench.example', LOG_LEVEL: 'info' }
const submission = await startSubmissionProcess(env, { flags: IMAGE_FLAGS })
const { mongo, mongod } = submission
await mongo.db.admin().command({ setParameter: 1, wiredTigerEngineRuntimeConfig: 'cache_size=1G' })
const domain = await collectionOf(mongo.db, domains).findOne({ name: 'example.org' })
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = String(privateKey.export({ format: 'pem', type: 'pkcs1' }))
const key = importDkimKey(createSecrets(SESSION_SECRET), domain?._id ?? '', 's1', pem, new Date())
await collectionOf(mongo.db, domains).updateOne(
  { name: 'example.org' },
  { $set: { dkim: [{ ...key, state: 'active' }] } },
)
const sink = await startSink()
const worker = await startWorker({ uri: mongod.uri.replace('/?', '/postwright?') }, sink.port, IMAGE_FLAGS)
const workerPid = worker.pid ?? 0

const started = performance.now()
const rows: Row[] = []
function point(messages: number | string): void {
  rows.push({
    ...{ messages, seconds: Math.round((performance.now() - started) / 1_000) },
    ...{
      'SMTP MiB': residentMiB(submission.service.pid),
      'worker MiB': residentMiB(workerPid),
      'mongod MiB': residentMiB(mongod.pid),
    },
  })
  note(JSON.stringify(rows.at(-1)))
}

await sleep(REST_MS)
point('at rest')
const envelope = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'
const text = `${randomBytes(bytes).toString('base64').slice(0, bytes).replaceAll(/.{72}/g, '$&\r\n')}\r\n.\r\n`
let sent = 0
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const sender = await openSender(submission.port, LOGIN_NAME, PASSWORD)
    while (sent < count) {
      const n = ++sent
      const head = `From: a@example.org\r\nTo: b@example.net\r\nMessage-ID: <${n}@bench.example>\r\nSubject: bench ${n}\r\n\r\n`
      const reply = await sender.send(envelope, head + text)
      if (!reply.startsWith('250')) throw new Error(reply)
      if (n % Math.ceil(count / points) === 0) point(n)
    }
    sender.close()
  }),
)
// Clients submit faster than the worker signs, so most of a million waits when the last is accepted.
await until(async () => (await sink.counts()).received >= count, Math.max(600_000, count * 3))
point(`all ${count} delivered`)
await sleep(REST_MS)
point('at rest again')
const { received, duplicates, signed } = await sink.counts()
printTable(
  `memory while ${count} messages of ${bytes} octets pass, ${received} received, ${signed} signed, ${duplicates} twice`,
  rows,
)
const exited = once(worker, 'exit')
worker.kill('SIGTERM')
await exited
sink.stop()
await submission.stop()
