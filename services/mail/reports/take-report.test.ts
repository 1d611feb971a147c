import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../test/support/database/fail-commands.ts'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { startTestMongod, type TestMongod } from '../../../test/support/database/test-mongod.ts'
import { dmarcXml, tlsReport, type XmlReport, yesterday } from '../../../test/support/mail/domain-reports.ts'
import { systemClock } from '../../platform/clock.ts'
import { connectMongo, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { ReportError } from './rules/report-values.ts'
import { MAX_SOURCES } from './store/count-report.ts'
import { reportCollections } from './store/report-model.ts'
import { lastDays, summariseDomainDmarc, summariseDomainTls } from './summaries.ts'
import { takeReport } from './take-report.ts'

const DOMAIN = { _id: 'dom_1', user_id: 'usr_1', name: 'example.com' }
const FAILED = { dkim: 'fail', spf: 'fail' }

let mongo: Mongo
beforeEach(async () => {
  mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, reportCollections)
})

const take = (file: string, domain = DOMAIN) =>
  takeReport({ mongo, clock: systemClock }, domain, Buffer.from(file), 'api')
const takeXml = (report: XmlReport = {}) => take(dmarcXml(report))
const range = (days = 30) => lastDays(new Date(), days)
const dmarc = (days?: number) => summariseDomainDmarc(mongo.db, DOMAIN._id, range(days), ['203.0.113.1'])

describe('a DMARC report', () => {
  test('is counted by day, by source and by reporter', async () => {
    const records = [
      { ip: '203.0.113.1', count: '5' },
      { ip: '198.51.100.9', count: '7', ...FAILED, disposition: 'reject' },
    ]
    expect(await takeXml({ records })).toMatchObject({ kind: 'dmarc', total: 12, failed: 7, duplicate: false })
    await takeXml({ records: [{ ip: '203.0.113.1' }], org: 'other.example' })
    const { totals, days, sources, reporters } = await dmarc()
    expect(totals).toMatchObject({ messages: 15, pass: 8, reject: 7 })
    expect(days).toMatchObject([{ day: new Date(yesterday() * 1000).toISOString().slice(0, 10), messages: 15 }])
    expect(sources.map(({ ip, messages, verdict }) => [ip, messages, verdict])).toEqual([
      ['203.0.113.1', 8, 'ours'],
      ['198.51.100.9', 7, 'forged'],
    ])
    expect(reporters.map(({ org, reports, total }) => [org, reports, total])).toEqual([
      ['receiver.example', 1, 12],
      ['other.example', 1, 3],
    ])
  })

  test('that comes again, also at the same time, is counted once', async () => {
    const taken = await Promise.all(Array.from({ length: 6 }, () => takeXml()))
    expect(taken.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect((await takeXml()).duplicate).toBe(true)
    expect((await dmarc()).totals.messages).toBe(3)
  })

  test('reports of the same day at the same time are all counted', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, n) => takeXml({ id: `r${n}` })))
    expect((await dmarc()).totals.messages).toBe(24)
  })

  test('of the day before the period is not part of it', async () => {
    await takeXml({ begin: yesterday() - 29 * 86_400 })
    expect((await dmarc(30)).totals.messages).toBe(0)
    expect((await dmarc(31)).totals.messages).toBe(3)
  })

  test(`keeps ${MAX_SOURCES} sources of a day, and adds up the others`, async () => {
    const records = Array.from({ length: MAX_SOURCES + 10 }, (_, n) => ({
      ip: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
      count: n < MAX_SOURCES ? '2' : '1',
    }))
    await takeXml({ records })
    await takeXml({
      id: 'second',
      records: [
        { ip: '192.0.2.200', count: '100' },
        { ip: '10.0.0.0', count: '50' },
      ],
    })
    const { sources, totals, moreSources } = await dmarc()
    expect(totals.messages).toBe(2 * MAX_SOURCES + 10 + 150)
    expect(sources.slice(0, 2).map(({ ip, messages, verdict }) => [ip, messages, verdict])).toEqual([
      ['', 110, 'other_sources'],
      ['10.0.0.0', 52, 'authorised'],
    ])
    expect([sources.length, moreSources]).toEqual([200, true])
  })
})

test('a TLS report is counted by day, failure and reporter', async () => {
  const report = JSON.stringify(tlsReport())
  expect(await take(report)).toMatchObject({ kind: 'tls', total: 5629, failed: 303, duplicate: false })
  expect((await take(report)).duplicate).toBe(true)
  await take(JSON.stringify(tlsReport('example.com', { 'report-id': 'tls-2' })))
  const { totals, days, failures, reporters } = await summariseDomainTls(mongo.db, DOMAIN._id, range())
  expect(totals).toEqual({ successful: 10_652, failed: 606 })
  expect(days).toMatchObject([{ successful: 10_652, failed: 606 }])
  expect(failures).toEqual([
    { policy: 'sts', result: 'starttls-not-supported', mx: 'mx2.mail.example.com', sessions: 400 },
    { policy: 'sts', result: 'certificate-expired', mx: 'mx1.mail.example.com', sessions: 200 },
    { policy: 'sts', result: 'other', mx: '', sessions: 6 },
  ])
  expect(reporters).toMatchObject([{ org: 'Sender Inc.', reports: 2 }])
})

test.each([
  ['DMARC', () => dmarcXml({ domain: 'example.org' })],
  ['TLS', () => JSON.stringify(tlsReport('example.org'))],
])('a %s report about another domain is refused and counts for nothing', async (_, report) => {
  const refused = await take(report()).catch((error: unknown) => error)
  expect(refused instanceof ReportError && refused.sentence).toEqual({
    code: 'report.other_domain',
    params: { reported: 'example.org', domain: 'example.com' },
  })
  expect((await dmarc()).reporters).toEqual([])
})

test('the same report counts for each domain that it is about', async () => {
  const report = dmarcXml({ records: [{ from: 'example.com' }, { from: 'news.example.com', count: '4' }] })
  await take(report)
  await take(report, { ...DOMAIN, _id: 'dom_2', name: 'news.example.com' })
  const of = (id: string) => summariseDomainDmarc(mongo.db, id, range(), [])
  expect((await of('dom_1')).totals.messages).toBe(7)
  expect((await of('dom_2')).totals.messages).toBe(4)
})

describe('when the database fails in the middle', () => {
  let mongod: TestMongod
  beforeAll(async () => {
    mongod = await startTestMongod({ enableTestCommands: '1' })
  })
  afterAll(() => mongod.stop())
  beforeEach(async () => {
    const failing = await connectMongo(mongod.uri, silentLog, { dbName: newId('t') })
    onTestFinished(() => failing.stop())
    mongo = failing
    await ensureIndexes(mongo.db, reportCollections)
  })

  test('of the counting, nothing of the report is counted, and a repeat counts all of it', async () => {
    // A code that is not repeated within the transaction.
    const restore = await failCommands(mongo.db, { failCommands: ['update'], errorCode: 8000 })
    await expect(takeXml()).rejects.toThrow()
    await restore()
    expect(await dmarc()).toMatchObject({ totals: { messages: 0 }, reporters: [] })
    await takeXml()
    expect(await dmarc()).toMatchObject({ totals: { messages: 3 }, sources: [{ messages: 3 }] })
  })

  test('a connection that is cut at the commit leads to one count', async () => {
    await failCommands(mongo.db, { failCommands: ['commitTransaction'], closeConnection: true }, { times: 1 })
    await takeXml()
    expect((await takeXml()).duplicate).toBe(true)
    expect((await dmarc()).totals.messages).toBe(3)
  })
})
