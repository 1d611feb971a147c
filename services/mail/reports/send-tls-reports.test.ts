import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { giveDomain } from '../../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { startTlsReportReceiver, type TlsReportReceiver } from '../../../test/support/mail/tls-report-receiver.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { type TestClock, testClock } from '../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS, utcDayOf } from '../../platform/durations.ts'
import { createGuardedPost } from '../../platform/network/guarded-fetch.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { TlsResultRecorder } from '../delivery/record-tls-results.ts'
import { NO_POLICY } from '../delivery/rules/tls-results.ts'
import { TLS_DAYS, type TlsDayDoc } from '../delivery/store/tls-days.ts'
import { deliveryCollections } from '../delivery-collections.ts'
import { BODIES } from '../store/bodies.ts'
import { DELIVERIES } from '../store/deliveries.ts'
import { MESSAGES } from '../store/messages.ts'
import { readReport } from './reading/read-report.ts'
import { sendTlsReports, type TlsReportDeps } from './send-tls-reports.ts'
import { createTlsReportDeps, publicAddress } from './tls-report-job.ts'

let mongo: TestDatabase
let clock: TestClock
let foundation: Foundation
let receiver: TlsReportReceiver
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, deliveryCollections)
  await giveDomain(mongo.db, 'usr_a', 'sender.example', { status: 'verified' })
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  for (const { name } of [TLS_DAYS, MESSAGES, BODIES, DELIVERIES]) await mongo.db.collection(name).deleteMany({})
  clock = testClock()
  foundation = testFoundation(
    mongo,
    { DELIVERY_ALLOW_PRIVATE: 'true', SYSTEM_MAIL_FROM: 'tls@sender.example', TLS_REPORT_ORGANIZATION: 'Sender Ltd' },
    clock,
  )
  receiver = await startTlsReportReceiver()
})

const never = new AbortController().signal
const days = () => collectionOf(mongo.db, TLS_DAYS)
const dayOf = async (domain: string) => (await days().findOne({ domain })) as TlsDayDoc
const queued = async () => {
  const messages = await collectionOf(mongo.db, MESSAGES).find().sort({ _id: 1 }).toArray()
  return messages.map(({ rcpts, mail_from, lane, tls_report, subject }) => ({
    ...{ to: rcpts.map(({ email }) => email).join(), mail_from, lane, tls_report, subject },
  }))
}
const addresses = async () => (await queued()).map(({ to }) => to).toSorted()
const metric = async () =>
  (await foundation.metrics.registry.getSingleMetricAsString('postwright_tls_reports_total'))
    .split('\n')
    .flatMap(line => /channel="(\w+)",outcome="(\w+)".*\} (\d+)/.exec(line)?.slice(1).join(' ') ?? [])

/** Counts sessions with the servers of these domains, and lets the day and the spread of its reports pass. */
async function countFor(...domains: string[]): Promise<string> {
  const worker = new TlsResultRecorder({ db: mongo.db, clock })
  for (const domain of domains) {
    worker.count({ domain, policy: NO_POLICY, failures: [] })
    worker.count({
      ...{ domain, policy: NO_POLICY },
      failures: [{ type: 'starttls-not-supported', mx: `mx.${domain}`, ip: '192.0.2.7', from: '10.0.0.7' }],
    })
  }
  await worker.flush()
  const day = utcDayOf(clock.now())
  clock.advance(DAY_MS + 7 * HOUR_MS)
  return day
}

type Txt = string[] | 'SERVFAIL' | undefined

/** Dependencies with this DNS: the TXT records by domain. */
async function depsWith(records: Readonly<Record<string, Txt>>, change: Partial<TlsReportDeps> = {}) {
  const asked: string[] = []
  const deps: TlsReportDeps = {
    ...(await createTlsReportDeps(foundation, { ca: receiver.ca })),
    async lookupTxt(name) {
      asked.push(name)
      const found = records[name.replace('_smtp._tls.', '')]
      if (found === 'SERVFAIL') throw Object.assign(new Error('no answer'), { code: 'ESERVFAIL' })
      if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return found.map(text => text.match(/[\s\S]{1,255}/g))
    },
    ...change,
  }
  return { asked, deps, run: () => sendTlsReports(deps, never, 60_000) }
}
const rua = (...uris: string[]) => [`v=TLSRPTv1; rua=${uris.join(',')}`]

describe('a report that is due', () => {
  test('goes to each destination by mail and over HTTPS, once, and its counts are removed', async () => {
    const day = await countFor('a.example')
    const { run, asked } = await depsWith({ 'a.example': rua('mailto:tls@a.example', `${receiver.url}/v1/tlsrpt?x=1`) })
    await run()
    await run()
    expect(asked).toEqual(['_smtp._tls.a.example'])
    expect(await queued()).toEqual([
      {
        ...{ to: 'tls@a.example', mail_from: '', lane: 'system', tls_report: true },
        subject: expect.stringMatching(
          `^Report Domain: a\\.example Submitter: sender\\.example Report-ID: <${day}\\.[\\da-f]{20}@mail\\.example\\.net>$`,
        ),
      },
    ])
    const [posted, ...more] = receiver.posted
    expect(more).toEqual([])
    expect(posted).toMatchObject({ path: '/v1/tlsrpt?x=1', headers: { 'content-type': 'application/tlsrpt+gzip' } })
    expect(await readReport(posted?.file ?? Buffer.alloc(0), clock.now().getTime())).toMatchObject({
      ...{ kind: 'tls', org: 'Sender Ltd', contact: 'tls@sender.example', skipped: 0 },
      begin: Date.parse(`${day}T00:00:00Z`),
      policies: [
        {
          ...{ type: 'no-policy-found', domain: 'a.example', successful: 1, failed: 1 },
          failures: [{ type: 'starttls-not-supported', mx: 'mx.a.example', sessions: 1 }],
        },
      ],
    })
    const doc = await dayOf('a.example')
    expect([doc.due_at, doc.policies, doc.finished?.length]).toEqual([undefined, undefined, 2])
    expect(await metric()).toEqual(['mail sent 1', 'https sent 1'])
  })

  test('is not made before its time', async () => {
    const worker = new TlsResultRecorder({ db: mongo.db, clock })
    worker.count({ domain: 'a.example', policy: NO_POLICY, failures: [] })
    await worker.flush()
    const { run, asked } = await depsWith({ 'a.example': rua('mailto:tls@a.example') })
    await run()
    expect([asked, await queued()]).toEqual([[], []])
  })

  test.each<[string, Txt]>([
    ['no record', undefined],
    ['another record', ['v=spf1 -all']],
    ['two records', [...rua('mailto:a@a.example'), ...rua('mailto:b@a.example')]],
    ['a record that is not valid', ['v=TLSRPTv1; rua=mailto:a@a.example!10m']],
    ['a thousand destinations', rua(...Array.from({ length: 1_000 }, (_, n) => `mailto:long-name-${n}@a.example`))],
    ['plain HTTP', rua('http://127.0.0.1/')],
  ])('is dropped with %s', async (_, records) => {
    await countFor('a.example')
    const { run } = await depsWith({ 'a.example': records })
    await run()
    expect([await queued(), receiver.posted]).toEqual([[], []])
    const doc = await dayOf('a.example')
    expect([doc.due_at, doc.policies]).toEqual([undefined, undefined])
    expect(doc.exp.getTime()).toBeLessThan(clock.now().getTime() + 4 * DAY_MS)
  })

  test('goes to five of many destinations', async () => {
    await countFor('a.example')
    const all = Array.from({ length: 100 }, (_, n) => `mailto:t${n}@a.example`)
    const { run } = await depsWith({ 'a.example': rua(...all) })
    await run()
    expect(await addresses()).toEqual(['t0', 't1', 't2', 't3', 't4'].map(local => `${local}@a.example`))
  })
})

describe('one of several workers', () => {
  test('sends a report: each of a hundred once', async () => {
    const domains = Array.from({ length: 100 }, (_, n) => `d${n}.example`)
    await countFor(...domains)
    const records = Object.fromEntries(domains.map(domain => [domain, rua(`mailto:tls@${domain}`)]))
    const workers = await Promise.all([depsWith(records), depsWith(records), depsWith(records)])
    await Promise.all(workers.map(({ run }) => run()))
    expect(workers.flatMap(({ asked }) => asked).toSorted()).toEqual(
      domains.map(name => `_smtp._tls.${name}`).toSorted(),
    )
    expect(await addresses()).toEqual(domains.map(domain => `tls@${domain}`).toSorted())
  })

  test('that dies after the mail is queued leaves a report that another one does not send again', async () => {
    await countFor('a.example')
    const records = { 'a.example': rua('mailto:tls@a.example', 'mailto:second@a.example') }
    const dying = new Promise<never>(() => {})
    const first = await depsWith(records)
    const queue = first.deps.queueMail
    let hasQueued = () => {}
    const isQueued = new Promise<void>(resolve => {
      hasQueued = resolve
    })
    first.deps.queueMail = async (report, file, to) => {
      await queue(report, file, to)
      hasQueued()
      return dying
    }
    void first.run()
    await isQueued
    const second = await depsWith(records)
    await second.run()
    expect(second.asked).toEqual([])
    clock.advance(11 * 60_000)
    await second.run()
    expect(second.asked).toHaveLength(1)
    expect(await addresses()).toEqual(['second@a.example', 'tls@a.example'])
  })

  test('that dies after one destination has the report leaves the others', async () => {
    await countFor('a.example')
    const { run } = await depsWith({ 'a.example': rua(`${receiver.url}/`, 'mailto:tls@a.example') })
    receiver.answer.status = 503
    await run()
    expect([receiver.posted.length, await addresses()]).toEqual([1, ['tls@a.example']])
    receiver.answer.status = 200
    clock.advance(HOUR_MS)
    await run()
    expect(receiver.posted.map(({ document }) => document['report-id'])).toEqual(
      Array(2).fill(receiver.posted[0]?.document['report-id']),
    )
    expect(await addresses()).toEqual(['tls@a.example'])
    expect((await dayOf('a.example')).due_at).toBeUndefined()
    expect(await metric()).toEqual(['https retried 1', 'mail sent 1', 'https sent 1'])
  })

  test('does not begin another report once it is to stop', async () => {
    await countFor('a.example')
    const { deps } = await depsWith({ 'a.example': rua('mailto:tls@a.example') })
    await sendTlsReports(deps, AbortSignal.abort(), 60_000)
    expect(await queued()).toEqual([])
  })
})

describe('a report that is not delivered', () => {
  test.each<[string, number, string?]>([
    ['an error', 500],
    ['a refusal', 403],
    ['a redirect', 307, '/elsewhere'],
  ])('over HTTPS because of %s is tried eight times within a day', async (_, status, location) => {
    await countFor('a.example')
    Object.assign(receiver.answer, { status, ...(location && { location }) })
    const { run } = await depsWith({ 'a.example': rua(`${receiver.url}/first`) })
    const from = clock.now().getTime()
    let last = from
    for (let n = 0; n < 200 && (await dayOf('a.example')).due_at; n++) {
      const before = receiver.posted.length
      await run()
      if (receiver.posted.length > before) last = clock.now().getTime()
      clock.advance(15 * 60_000)
    }
    expect(receiver.posted.map(({ path }) => path)).toEqual(Array(8).fill('/first'))
    expect(last - from).toBeLessThan(DAY_MS)
    expect(await metric()).toEqual(['https retried 7', 'https failed 1'])
  })

  test('because DNS gives no answer is tried again, and given up after a day', async () => {
    await countFor('a.example')
    const records: Record<string, Txt> = { 'a.example': 'SERVFAIL' }
    const { run, asked } = await depsWith(records)
    for (let n = 0; n < 120; n++) {
      await run()
      clock.advance(15 * 60_000)
    }
    expect(asked).toHaveLength(8)
    expect((await dayOf('a.example')).due_at).toBeUndefined()
  })

  test('because the certificate of the destination is not valid is not posted', async () => {
    await countFor('a.example')
    const { ca: _, ...untrusting } = { ca: receiver.ca }
    const { deps } = await depsWith(
      { 'a.example': rua(`${receiver.url}/`) },
      { post: (await createTlsReportDeps(foundation, untrusting)).post },
    )
    await sendTlsReports(deps, never, 60_000)
    expect([receiver.posted, await metric()]).toEqual([[], ['https retried 1']])
  })

  test.each(['https://127.0.0.1', 'https://[::1]', 'https://10.0.0.1', 'https://localhost', 'https://2130706433'])(
    'because %s is private is not posted there',
    async host => {
      await countFor('a.example')
      const port = new URL(receiver.url).port
      const post = createGuardedPost({ allowPrivate: false, ca: receiver.ca })
      const { run } = await depsWith({ 'a.example': rua(`${host}:${port}/`) }, { post })
      await run()
      expect([receiver.posted, await metric()]).toEqual([[], ['https retried 1']])
    },
  )

  test('by mail because no verified domain signs it is given up', async () => {
    await countFor('a.example')
    foundation = { ...foundation, config: { ...foundation.config, SYSTEM_MAIL_FROM: 'tls@other.example' } }
    const { run } = await depsWith({ 'a.example': rua('mailto:tls@a.example', `${receiver.url}/`) })
    await run()
    expect([await queued(), receiver.posted.length]).toEqual([[], 1])
    expect(await metric()).toEqual(['mail failed 1', 'https sent 1'])
    expect((await dayOf('a.example')).due_at).toBeUndefined()
  })

  test('by mail because the queue is closed is tried again', async () => {
    await countFor('a.example')
    const closed = async () => {
      throw new Error('the queue cannot take a TLS report')
    }
    const { deps, run } = await depsWith({ 'a.example': rua('mailto:tls@a.example') })
    const { queueMail } = deps
    deps.queueMail = closed
    await run()
    deps.queueMail = queueMail
    clock.advance(15 * 60_000)
    await run()
    expect(await addresses()).toEqual(['tls@a.example'])
  })
})

test.each<[string[], string | undefined, string | undefined, string | undefined]>([
  [[], '10.0.0.1', '8.8.8.8', undefined],
  [[], '9.9.9.9', '8.8.8.8', '9.9.9.9'],
  [['192.0.2.1'], '10.0.0.1', '8.8.8.8', '192.0.2.1'],
  [['192.0.2.1', '2001:db8::1'], 'fd00::1', '2606:4700::1', '2001:db8::1'],
  [['192.0.2.1', '192.0.2.2'], '10.0.0.1', '8.8.8.8', undefined],
  [['192.0.2.1', '192.0.2.2'], '192.0.2.2', '8.8.8.8', '192.0.2.2'],
  [['192.0.2.1'], undefined, undefined, undefined],
])('with SENDING_IP %j a session from %s to %s came from %s', (sendingIps, from, to, expected) => {
  expect(publicAddress(sendingIps, from, to)).toBe(expected)
})
