/** Processes on machines whose clocks are an hour ahead or slow: nothing is delayed and nothing is lost. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { readDatabaseTime } from '../../../services/platform/database/database-clock.ts'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { giveCredential, giveDomain, giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { openSender } from '../../support/mail/load-sender.ts'
import { startReceiver } from '../../support/mail/receiving-server.ts'
import { startScriptedServer } from '../../support/mail/scripted-server.ts'
import { type ServiceProcess, startServiceWithClock } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
/** Far below the hour by which clocks differ. */
const PROMPT_MS = 180_000
const SECRET = 'a secret of at least thirty-two bytes'
const LOGIN = 'clocks'
const ENVELOPE = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'

/** A database with an account that may send, and functions that start services for it. */
async function installation() {
  const folder = await mkdtemp(join(tmpdir(), 'pw-clock-'))
  const mongod = await startTestMongod()
  const uri = mongod.uri.replace('/?', '/clock?')
  const mongo = await connectMongo(uri, silentLog)
  const processes: ServiceProcess[] = []
  onTestFinished(async () => {
    for (const process of processes) process.kill('SIGKILL')
    await Promise.all(processes.map(({ exited }) => exited))
    await mongo.stop()
    await mongod.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const user = await giveUser(mongo.db)
  const domain = await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
  const key = await createDkimKey(createSecrets(SECRET), domain._id, 's1', 'ed25519-sha256', new Date())
  await mongo.db
    .collection('domains')
    .updateOne({ name: 'example.org' }, { $set: { dkim: [{ ...key, state: 'active' }] } })
  await giveCredential(mongo.db, user._id, LOGIN)
  const { cert, key: tlsKey } = await makeCertificate(['127.0.0.1'], 1, new Date())
  await writeFile(join(folder, 'tls.crt'), cert)
  await writeFile(join(folder, 'tls.key'), tlsKey)
  const start = async (name: string, aheadMs: number, env: Record<string, string>) => {
    const probes = await freePort()
    const process = startServiceWithClock(name, aheadMs, {
      MAIL_HOSTNAME: 'mail.example.com',
      SESSION_SECRET: SECRET,
      MONGODB_URI: uri,
      METRICS_PORT: String(probes),
      DELIVERY_MODE: 'relay',
      SUBMISSION_TLS_CERT: join(folder, 'tls.crt'),
      SUBMISSION_TLS_KEY: join(folder, 'tls.key'),
      ...env,
    })
    processes.push(process)
    await process.line('ready')
    return { process, probe: async (path: string) => (await fetch(`http://127.0.0.1:${probes}${path}`)).text() }
  }
  return {
    mongo,
    smtp: async (aheadMs: number) => {
      const port = await freePort()
      const { probe } = await start('smtp', aheadMs, {
        SUBMISSION_LISTEN: `${port}:tls`,
        RELAY_URL: 'smtp://127.0.0.1:9',
      })
      return { port, probe }
    },
    worker: (aheadMs: number, relay: number) =>
      start('worker', aheadMs, { RELAY_URL: `smtp://127.0.0.1:${relay}`, SLOTS: '16' }),
  }
}

/** Sends `count` messages over one connection, every tenth so large that its body is stored while it is received. */
async function submit(port: number, name: string, count: number): Promise<string[]> {
  const sender = await openSender(port, LOGIN, PASSWORD)
  const accepted: string[] = []
  for (let n = 0; n < count; n++) {
    const subject = `${name}-${n}`
    const text = n % 10 === 0 ? `${'x'.repeat(70)}\r\n`.repeat(75_000) : 'hello\r\n'
    const reply = await sender.send(ENVELOPE, `From: a@example.org\r\nSubject: ${subject}\r\n\r\n${text}.\r\n`)
    if (reply.startsWith('250')) accepted.push(subject)
  }
  sender.close()
  return accepted
}

const subjectsOf = (contents: readonly string[]) =>
  contents.map(content => /^Subject: (\S+)\r$/m.exec(content)?.[1] ?? 'none').toSorted()

/** Stored times that differ from the database's time by more than delivery ever plans ahead. */
async function wrongTimes(mongo: Mongo): Promise<object[]> {
  const now = (await readDatabaseTime(mongo.db)).getTime()
  const looked: [string, string[], number][] = [
    ['messages', ['created_at'], 5 * MINUTE],
    ['deliveries', ['created_at', 'due'], 10 * MINUTE],
    ['events', ['at'], 5 * MINUTE],
    ['slots', ['until'], 5 * MINUTE],
    ['slot_jobs', ['nextRunAt', 'lockedAt', 'lastRunAt'], 5 * MINUTE],
    ['jobs', ['lockedAt', 'lastRunAt'], 5 * MINUTE],
  ]
  const found = await Promise.all(
    looked.map(async ([collection, fields, limit]) => {
      const docs = await mongo.db.collection(collection).find().toArray()
      return docs.flatMap(doc =>
        fields
          .filter(field => doc[field] instanceof Date && doc[field].getTime() > 0)
          .filter(field => Math.abs(doc[field].getTime() - now) > limit)
          .map(field => ({ collection, field, minutes: Math.round((doc[field].getTime() - now) / MINUTE) })),
      )
    }),
  )
  return found.flat()
}

test('SMTP processes and workers an hour ahead and slow deliver everything, while sweeps run all the time', async () => {
  const { mongo, smtp, worker } = await installation()
  const receiver = await startReceiver({ extensions: ['PIPELINING', 'SIZE 30000000', '8BITMIME'] })
  onTestFinished(() => receiver.stop())
  const [ahead, slow, first] = await Promise.all([smtp(HOUR), smtp(-HOUR), worker(HOUR, receiver.port)])
  await worker(-HOUR, receiver.port)
  const sweeping = setInterval(() => {
    const sweeps = { name: { $in: ['sweep-orphan-bodies', 'sweep-final-bodies'] }, lockedAt: null }
    void mongo.db
      .collection('jobs')
      .updateMany(sweeps, [{ $set: { nextRunAt: '$$NOW' } }])
      .catch(() => undefined)
  }, 100)
  onTestFinished(() => clearInterval(sweeping))

  const started = performance.now()
  const accepted = await Promise.all([
    submit(ahead.port, 'ahead-1', 20),
    submit(ahead.port, 'ahead-2', 20),
    submit(slow.port, 'slow-1', 20),
    submit(slow.port, 'slow-2', 20),
  ])
  const all = accepted.flat().toSorted()
  expect(all.length).toBe(80)
  await until(() => receiver.received.length >= all.length, PROMPT_MS)
  expect(performance.now() - started).toBeLessThan(PROMPT_MS)
  expect(subjectsOf(receiver.received.map(({ content }) => content.toString('latin1')))).toEqual(all)
  expect(await wrongTimes(mongo)).toEqual([])

  // Every process reports the wrong clock, and nothing is rejected because of it.
  for (const [process, skew] of [
    [ahead, 3_600],
    [slow, -3_600],
    [first, 3_600],
  ] as const) {
    // As precise as the answers of a busy database.
    const words = new RegExp(
      `^(ready|ok)\n.*(3599\\.[5-9]|3600\\.\\d) s ${skew > 0 ? 'ahead of' : 'behind'} the database's`,
    )
    expect(await process.probe('/readyz')).toMatch(words)
    expect(await process.probe('/healthz')).toMatch(words)
    const metric = /^postwright_clock_skew_seconds\{[^}]*\} (\S+)$/m.exec(await process.probe('/metrics'))
    expect(Number(metric?.[1])).toBeCloseTo(skew, 0)
  }
  expect(first.process.lines.filter(({ msg }) => /clock is (3599\.[5-9]|3600)/.test(String(msg)))).toHaveLength(1)
}, 300_000)

test('a killed worker an hour ahead leaves nothing that is due only in an hour', async () => {
  const { mongo, smtp, worker } = await installation()
  const silent = await startScriptedServer({ greeting: '' })
  onTestFinished(() => silent.stop())
  const receiver = await startReceiver()
  onTestFinished(() => receiver.stop())
  const [{ port }, killed] = await Promise.all([smtp(0), worker(HOUR, silent.port)])
  const sender = await openSender(port, LOGIN, PASSWORD)
  for (let n = 0; n < 20; n++)
    await sender.send(ENVELOPE, `From: a@example.org\r\nSubject: killed-${n}\r\n\r\nhello\r\n.\r\n`)
  sender.close()
  const deliveries = mongo.db.collection('deliveries')
  await until(async () => (await deliveries.countDocuments({ tok: { $exists: true } })) === 20, 60_000)
  killed.process.kill('SIGKILL')
  await killed.process.exited
  expect(await wrongTimes(mongo)).toEqual([])

  await worker(-HOUR, receiver.port)
  await until(() => receiver.received.length >= 20, 120_000) // the lease expires within a minute, not after an hour
  expect(await wrongTimes(mongo)).toEqual([])
}, 300_000)
