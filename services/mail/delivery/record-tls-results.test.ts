import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { type TestClock, testClock } from '../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes } from '../../platform/database/mongo.ts'
import { DAY_MS, utcDayOf } from '../../platform/durations.ts'
import { TlsResultRecorder } from './record-tls-results.ts'
import { reportDueAt } from './rules/report-schedule.ts'
import { type FailedTls, NO_POLICY, reportedPolicyOf, type TlsResult } from './rules/tls-results.ts'
import { addTlsCounts, MAX_FAILURES, TLS_DAYS } from './store/tls-days.ts'

let mongo: TestDatabase
let clock: TestClock
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [TLS_DAYS])
})
afterAll(() => mongo.stop())
beforeEach(async () => {
  await collectionOf(mongo.db, TLS_DAYS).deleteMany({})
  clock = testClock()
})

const STS = reportedPolicyOf({ id: '1', mode: 'enforce', mx: ['mx.a.example'], fetched: 0, expires: DAY_MS })
const EXPIRED: FailedTls = {
  type: 'certificate-expired',
  reason: 'CERT_HAS_EXPIRED',
  mx: 'mx.a.example',
  ip: '192.0.2.1',
}
const recorder = () => new TlsResultRecorder({ db: mongo.db, clock })
const result = (given: Partial<TlsResult> = {}): TlsResult => ({
  ...{ domain: 'a.example', policy: NO_POLICY, failures: [], ...given },
})
const stored = () => collectionOf(mongo.db, TLS_DAYS).find().sort({ _id: 1 }).toArray()
const today = () => utcDayOf(clock.now())

test('sessions of all workers are added up by day, domain and policy, and nothing is written without any', async () => {
  const [one, two] = [recorder(), recorder()]
  await one.flush()
  expect(await stored()).toEqual([])
  for (let n = 0; n < 3; n++) one.count(result())
  one.count(result({ policy: STS, failures: [EXPIRED] }))
  two.count(result({ policy: STS, failures: [EXPIRED] }))
  two.count(result({ policy: STS }))
  two.count(result({ domain: 'b.example' }))
  await Promise.all([one.flush(), two.flush()])
  await one.flush()
  const day = today()
  expect(await stored()).toEqual([
    {
      _id: `${day}/a.example`,
      ...{ day, domain: 'a.example', due_at: reportDueAt(day, 'a.example') },
      exp: new Date(Date.parse(`${day}T00:00:00Z`) + 5 * DAY_MS),
      policies: {
        none: { type: 'no-policy-found', strings: [], successful: 3, failed: 0, failures: {} },
        [STS.key]: {
          ...{ type: 'sts', strings: STS.strings, successful: 1, failed: 2 },
          failures: { [failureKeys(await stored())[0] ?? '']: { ...EXPIRED, sessions: 2 } },
        },
      },
    },
    expect.objectContaining({ _id: `${day}/b.example` }),
  ])
})

const failureKeys = (docs: Awaited<ReturnType<typeof stored>>) =>
  Object.keys(docs[0]?.policies?.[STS.key]?.failures ?? {})

test('a session that failed for several reasons counts once, with each of them', async () => {
  const worker = recorder()
  worker.count(result({ policy: STS, failures: [EXPIRED, { ...EXPIRED, type: 'validation-failure' }] }))
  worker.count(result({ policy: { ...NO_POLICY, failure: 'sts-policy-fetch-error' } }))
  await worker.flush()
  const [doc] = await stored()
  expect(doc?.policies?.[STS.key]).toMatchObject({ successful: 0, failed: 1 })
  expect(failureKeys([doc as never])).toHaveLength(2)
  expect(doc?.policies?.none).toMatchObject({ successful: 0, failed: 1 })
  expect(Object.values(doc?.policies?.none?.failures ?? {})).toEqual([{ type: 'sts-policy-fetch-error', sessions: 1 }])
})

test('a new day begins a new document', async () => {
  const worker = recorder()
  worker.count(result())
  clock.advance(DAY_MS)
  worker.count(result())
  await worker.flush()
  expect((await stored()).map(({ day }) => day)).toEqual([utcDayOf(new Date(clock.now().getTime() - DAY_MS)), today()])
})

describe('bounds', () => {
  test('failures of many kinds are kept up to a number, and all are in the sum', async () => {
    const worker = recorder()
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 70; n++)
        worker.count(result({ policy: STS, failures: [{ ...EXPIRED, mx: `mx${round}-${n}.a.example` }] }))
      await worker.flush()
    }
    const [doc] = await stored()
    expect(doc?.policies?.[STS.key]?.failed).toBe(350)
    expect(failureKeys([doc as never])).toHaveLength(MAX_FAILURES)
    worker.count(result({ policy: STS, failures: [{ ...EXPIRED, mx: 'mx0-0.a.example' }] }))
    await worker.flush()
    const known = Object.values((await stored())[0]?.policies?.[STS.key]?.failures ?? {})
    expect(known.find(({ mx }) => mx === 'mx0-0.a.example')?.sessions).toBe(2)
  })

  test('a domain that changes its policy all the time has five of them', async () => {
    const worker = recorder()
    for (let n = 0; n < 12; n++) {
      worker.count(result({ policy: { ...STS, key: `sts${n}` } }))
      if (n % 3 === 0) await worker.flush()
    }
    await worker.flush()
    expect(Object.keys((await stored())[0]?.policies ?? {})).toHaveLength(5)
  })

  test('so many domains wait for a write, and the next ones are not counted until it is done', async () => {
    const worker = new TlsResultRecorder({ db: mongo.db, clock, maxPending: 700 })
    for (let n = 0; n < 710; n++) worker.count(result({ domain: `d${n}.example` }))
    worker.count(result({ domain: 'd0.example' }))
    await worker.flush()
    expect(await collectionOf(mongo.db, TLS_DAYS).countDocuments()).toBe(700)
    worker.count(result({ domain: 'd709.example' }))
    await worker.flush()
    expect(await collectionOf(mongo.db, TLS_DAYS).countDocuments()).toBe(701)
  })

  test('with too many documents of all days only domains that have one are counted', async () => {
    const day = today()
    const policies = new Map([
      ['none', { ...{ type: 'no-policy-found' as const, strings: [], successful: 1, failed: 0 }, failures: new Map() }],
    ])
    const add = (...domains: string[]) =>
      addTlsCounts(
        mongo.db,
        domains.map(domain => ({ day, domain, policies })),
        { maxDocuments: 1 },
      )
    await add('a.example')
    await add('a.example', 'b.example')
    expect((await stored()).map(({ domain, policies: all }) => [domain, all?.none?.successful])).toEqual([
      ['a.example', 2],
    ])
  })

  test('texts with the signs of the database stay texts', async () => {
    const worker = recorder()
    const mx = '$ROOT.$a'
    worker.count(result({ policy: { ...STS, strings: ['$ROOT', '$$NOW'] }, failures: [{ ...EXPIRED, mx }] }))
    await worker.flush()
    const policy = (await stored())[0]?.policies?.[STS.key]
    expect(policy?.strings).toEqual(['$ROOT', '$$NOW'])
    expect(Object.values(policy?.failures ?? {}).map(one => one.mx)).toEqual([mx])
  })
})

test('what could not be written is written later, with what came until then', async () => {
  const worker = recorder()
  const failing = new TlsResultRecorder({ db: { ...brokenDb() } as never, clock })
  worker.count(result())
  failing.count(result({ policy: STS, failures: [EXPIRED] }))
  await expect(failing.flush()).rejects.toThrow('no database')
  failing.count(result({ policy: STS, failures: [EXPIRED] }))
  repair()
  await failing.flush()
  expect((await stored())[0]?.policies?.[STS.key]).toMatchObject({ failed: 2 })
})

test('counts of a day whose report was made are given up', async () => {
  const failing = new TlsResultRecorder({ db: { ...brokenDb() } as never, clock })
  failing.count(result())
  clock.advance(2 * DAY_MS)
  await expect(failing.flush()).rejects.toThrow('no database')
  repair()
  await failing.flush()
  expect(await stored()).toEqual([])
})

test('counts that come after the end of a report do not begin another one', async () => {
  const worker = recorder()
  worker.count(result())
  await worker.flush()
  await collectionOf(mongo.db, TLS_DAYS).updateOne({}, { $unset: { due_at: '', policies: '' } })
  worker.count(result())
  await worker.flush()
  expect((await stored())[0]).not.toHaveProperty('due_at')
})

let isBroken = false
const repair = () => {
  isBroken = false
}
/** A database that rejects until it is repaired. */
function brokenDb() {
  isBroken = true
  return {
    collection(name: string) {
      if (isBroken) throw new Error('no database')
      return mongo.db.collection(name)
    },
  }
}
