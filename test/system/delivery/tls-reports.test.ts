/** TLS reports from the sessions of a worker to the mailbox and the HTTPS server that a recipient domain names in DNS. */
import { expect, onTestFinished, test } from 'vitest'
import { TLS_DAYS } from '../../../services/mail/delivery/store/tls-days.ts'
import { readReport } from '../../../services/mail/reports/reading/read-report.ts'
import { sendTlsReports } from '../../../services/mail/reports/send-tls-reports.ts'
import { createTlsReportDeps, registerTlsReports } from '../../../services/mail/reports/tls-report-job.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../../services/platform/durations.ts'
import { createJobs } from '../../../services/platform/jobs/jobs.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { createFakeStore, startAnswerer } from '../../support/dns/fake-provider-zones.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { startTlsReportReceiver } from '../../support/mail/tls-report-receiver.ts'
import { until } from '../../support/time/until.ts'

const never = new AbortController().signal

/** A recipient domain in DNS, whose only server is this machine. */
async function startRecipientDomain(...uris: string[]) {
  const store = createFakeStore(['dest.example'], 60)
  store.put('dest.example', { name: 'dest.example', type: 'MX', value: '10 mx.dest.example' })
  store.put('dest.example', { name: 'mx.dest.example', type: 'A', value: '127.0.0.1' })
  store.put('dest.example', {
    name: '_smtp._tls.dest.example',
    type: 'TXT',
    value: `v=TLSRPTv1; rua=${uris.join(',')}`,
  })
  const answerer = await startAnswerer(store)
  onTestFinished(() => answerer.stop())
  return { DNS_SERVERS: `127.0.0.1:${answerer.port}` }
}

const days = ({ mongo }: DeliveryEnvironment) => collectionOf(mongo.db, TLS_DAYS).find().toArray()
const isDone = async (environment: DeliveryEnvironment, id: string) => (await environment.message(id)).left === 0
/** The first session of a run, with its TLS, takes seconds on a busy machine. */
const FIRST_MS = 40_000
const depsOf = ({ config, mongo, clock, metrics }: DeliveryEnvironment, ca: string) =>
  createTlsReportDeps({ config, mongo, clock, metrics, log: silentLog }, { ca })

test('sessions are counted, reported by signed mail and over HTTPS, and the report itself is not counted', async () => {
  const https = await startTlsReportReceiver()
  const dns = await startRecipientDomain('mailto:tls@dest.example', `${https.url}/tlsrpt`)
  const certificate = await makeCertificate(['mx.dest.example'], 30, new Date())
  const environment = await startDeliveryEnvironment({
    receiver: { tls: 'good', certificate },
    env: { ...dns, SYSTEM_MAIL_FROM: 'tls-reports@example.com', SENDING_IP: '192.0.2.99' },
  })
  const worker = await environment.work()
  const id = await environment.submit({ to: ['a@dest.example', 'b@dest.example', at('c')] })
  await until(() => isDone(environment, id), FIRST_MS)
  await worker.stop()
  expect(await days(environment)).toMatchObject([
    { domain: 'dest.example', policies: { none: { successful: 1, failed: 0 } } },
  ])

  environment.clock.advance(DAY_MS + 7 * HOUR_MS)
  const deps = await depsOf(environment, https.ca)
  await sendTlsReports(deps, never, 60_000)
  await sendTlsReports(deps, never, 60_000)
  expect(https.posted).toHaveLength(1)
  const second = await environment.work()
  await until(async () => (await environment.deliveries()).length === 0)
  await second.stop()

  const reports = environment.receiver.received.filter(({ rcpts }) => rcpts[0]?.email === 'tls@dest.example')
  const content = reports[0]?.content.toString('latin1') ?? ''
  expect([reports.length, reports[0]?.from]).toEqual([1, ''])
  expect(content).toMatch(/^DKIM-Signature: [\s\S]*?d=example\.com;/m)
  expect(content).toContain('TLS-Required: No\r\n')
  expect(content).toContain('TLS-Report-Domain: dest.example\r\n')
  const attachment = /Content-Type: application\/tlsrpt\+gzip[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(content)?.[1] ?? ''
  const file = Buffer.from(attachment, 'base64')
  expect(file).toEqual(https.posted[0]?.file)
  expect(await readReport(file, environment.clock.now().getTime())).toMatchObject({
    ...{ kind: 'tls', org: 'mail.test', skipped: 0 },
    policies: [{ type: 'no-policy-found', domain: 'dest.example', successful: 1, failed: 0, failures: [] }],
  })
  // The report went to a server of the same domain.
  expect(await days(environment)).toHaveLength(1)
})

test('a report whose delivery fails is reported to no one', async () => {
  const dns = await startRecipientDomain('mailto:rcpt-550-5.1.1@dest.example')
  const environment = await startDeliveryEnvironment({ env: { ...dns, SYSTEM_MAIL_FROM: 'tls-reports@example.com' } })
  const worker = await environment.work()
  const id = await environment.submit({ to: ['a@dest.example'] })
  await until(() => isDone(environment, id))
  await until(async () => (await days(environment)).length === 1)
  const [day] = await days(environment)
  expect(Object.values(day?.policies?.none?.failures ?? {})).toMatchObject([
    { type: 'starttls-not-supported', mx: 'mx.dest.example', ip: '127.0.0.1', sessions: 1 },
  ])
  environment.clock.advance(DAY_MS + 7 * HOUR_MS)
  await sendTlsReports(await depsOf(environment, ''), never, 60_000)
  const messages = () => environment.mongo.db.collection('messages').find().toArray()
  await until(async () => (await messages()).length === 2 && (await messages()).every(({ left }) => left === 0))
  await until(async () => (await environment.deliveries()).length === 0)
  await worker.stop()
  expect(await messages()).toHaveLength(2)
  expect(environment.receiver.received).toHaveLength(1)
})

test.each([
  ['TLS_REPORTS=false', { TLS_REPORTS: 'false' }],
  ['DELIVERY_MODE=capture', { DELIVERY_MODE: 'capture' }],
])('with %s nothing is counted, and the job does nothing', async (_, env) => {
  const dns = await startRecipientDomain('mailto:tls@dest.example')
  const environment = await startDeliveryEnvironment({ env: { ...dns, ...env } })
  const worker = await environment.work()
  const id = await environment.submit({ to: ['a@dest.example'] })
  await until(() => isDone(environment, id))
  await worker.stop()
  expect(await days(environment)).toEqual([])
})

test('the job of a worker sends what is due', async () => {
  const dns = await startRecipientDomain('mailto:tls@dest.example')
  const environment = await startDeliveryEnvironment({ env: { ...dns, SYSTEM_MAIL_FROM: 'tls-reports@example.com' } })
  const { mongo, metrics, clock, config } = environment
  const now = clock.now()
  await collectionOf(mongo.db, TLS_DAYS).insertOne({
    ...{
      _id: '2026-11-23/dest.example',
      day: '2026-11-23',
      domain: 'dest.example',
      due_at: now,
      exp: new Date(now.getTime() + DAY_MS),
    },
    policies: { none: { type: 'no-policy-found', strings: [], successful: 2, failed: 0, failures: {} } },
  })
  const jobs = await createJobs(mongo, silentLog, metrics, { collection: 'jobs', pollMs: 100, clock })
  await registerTlsReports(jobs, { config, mongo, clock, metrics, log: silentLog })
  await jobs.start()
  onTestFinished(() => jobs.stop())
  await until(async () => (await mongo.db.collection('messages').countDocuments()) === 1)
})
