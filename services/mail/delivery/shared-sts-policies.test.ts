import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest, freshDatabase } from '../../../test/support/database/test-database.ts'
import { type Db, ensureIndexes } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { makeCertificate } from '../../platform/security/self-signed-certificate.ts'
import { refreshStsPolicies } from './refresh-sts-policies.ts'
import type { DownloadedPolicy } from './rules/mta-sts.ts'
import { type FetchPolicy, fetchStsPolicy, withStoredPolicies } from './smtp/sts-policy.ts'
import { createTlsPolicy } from './smtp/tls-policy.ts'
import { createStsPolicies, stsPolicies } from './store/sts-policies.ts'

const START = Date.UTC(2026, 10, 23)
const never = new AbortController().signal

/** The policy host of example.net, with the id that DNS has; `mode` may be changed. */
async function policyHost() {
  const { cert, key } = await makeCertificate(['mta-sts.example.net'], 1, new Date())
  const state = { id: '1', mode: 'enforce', downloads: 0 }
  const server = createServer({ cert, key }, (_, response) => {
    state.downloads++
    const mx = state.mode === 'none' ? '' : `mx: mx${state.id}.example.net\n`
    response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(`version: STSv1\nmode: ${state.mode}\n${mx}max_age: ${(7 * DAY_MS) / 1000}\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const fetchAt = (now: () => number): FetchPolicy =>
    fetchStsPolicy(
      async (_, type) => (type === 'TXT' ? [[`v=STSv1; id=${state.id}`]] : type === 'A' ? ['127.0.0.1'] : []),
      { allowPrivate: true, now, ca: cert, port },
    )
  return { state, fetchAt }
}

/** DNS does not answer and no policy host is reached. */
const offline = (now: () => number): FetchPolicy =>
  fetchStsPolicy(() => Promise.reject(new Error('timeout')), { allowPrivate: true, now })

/** A worker with its own memory and the database that all workers share. */
function worker(db: Db, time: { now: number }, fetchAt: (now: () => number) => FetchPolicy) {
  const now = () => time.now
  const errors: unknown[] = []
  const fetch = withStoredPolicies(fetchAt(now), createStsPolicies(db, now), { now, onError: e => errors.push(e) })
  const policy = createTlsPolicy({ fetch, now })
  return { modeOf: async () => (await policy.policyOf('example.net'))?.mode, policyOf: policy.policyOf, errors }
}

async function database() {
  const { db } = await databaseForThisTest()
  await ensureIndexes(db, [stsPolicies])
  return db
}

describe('a policy that one worker downloaded', () => {
  test('applies to a worker without network until it expires', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    const time = { now: START }
    expect(await worker(db, time, fetchAt).modeOf()).toBe('enforce')
    expect(await worker(db, time, offline).policyOf('example.net')).toEqual({
      mode: 'enforce',
      mx: ['mx1.example.net'],
    })
    time.now = START + 7 * DAY_MS - 1
    expect(await worker(db, time, offline).modeOf()).toBe('enforce')
    time.now += 1
    expect(await worker(db, time, offline).modeOf()).toBeUndefined()
    expect(state.downloads).toBe(1)
  })

  test('is not downloaded by the next worker, or after a restart', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    for (let n = 0; n < 3; n++) expect(await worker(db, { now: START }, fetchAt).modeOf()).toBe('enforce')
    expect(state.downloads).toBe(1)
  })

  test('replaces the earlier one at workers that know it, also with mode none', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    const time = { now: START }
    const other = worker(db, time, offline)
    await worker(db, time, fetchAt).modeOf()
    expect(await other.modeOf()).toBe('enforce')
    Object.assign(state, { id: '2', mode: 'none' })
    time.now += HOUR_MS
    expect(await worker(db, time, fetchAt).modeOf()).toBeUndefined()
    expect(await other.modeOf()).toBeUndefined()
  })
})

test('while the database is away a worker uses what it downloads and knows', async () => {
  const { fetchAt } = await policyHost()
  const mongo = await freshDatabase()
  const time = { now: START }
  const one = worker(mongo.db, time, fetchAt)
  await mongo.stop()
  expect(await one.modeOf()).toBe('enforce')
  time.now += HOUR_MS
  expect(await one.modeOf()).toBe('enforce')
  expect(one.errors.length).toBeGreaterThanOrEqual(2)
})

test('a late write of an earlier download does not replace a later one', async () => {
  const store = createStsPolicies(await database(), () => START)
  const policy = (id: string, fetched: number): DownloadedPolicy => ({
    ...{ id, mode: 'enforce', mx: ['mx.example.net'] },
    ...{ fetched, expires: START + DAY_MS },
  })
  await store.write('example.net', policy('2', START + 1))
  await store.write('example.net', policy('1', START))
  expect((await store.read('example.net'))?.id).toBe('2')
  expect(await store.read('other.example')).toBeUndefined()
})

describe('the refresh', () => {
  test('downloads what is due once over all workers, and only where mail asked for it lately', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    const time = { now: START }
    const now = () => time.now
    const store = createStsPolicies(db, now)
    await worker(db, time, fetchAt).modeOf()
    const run = () => refreshStsPolicies(store, fetchAt(now), never)
    expect(await run()).toBe(0)
    time.now += DAY_MS
    const both = await Promise.all([run(), run()])
    expect(both.toSorted()).toEqual([0, 1])
    expect(state.downloads).toBe(2)
    expect((await store.read('example.net'))?.fetched).toBe(time.now)
    for (let day = 0; day < 40; day++) {
      time.now += DAY_MS
      await run()
    }
    expect(await store.read('example.net')).toMatchObject({ fetched: START + 29 * DAY_MS })
  })

  test('keeps a policy whose host does not answer, and tries it again after an hour', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    const time = { now: START }
    const now = () => time.now
    const store = createStsPolicies(db, now)
    await worker(db, time, fetchAt).modeOf()
    time.now += DAY_MS
    expect(await refreshStsPolicies(store, offline(now), never)).toBe(0)
    expect(await refreshStsPolicies(store, fetchAt(now), never)).toBe(0)
    time.now += HOUR_MS
    expect(await refreshStsPolicies(store, fetchAt(now), never)).toBe(1)
    expect(state.downloads).toBe(2)
  })

  test('ends when the process drains', async () => {
    const [db, { fetchAt, state }] = [await database(), await policyHost()]
    const time = { now: START }
    await worker(db, time, fetchAt).modeOf()
    time.now += DAY_MS
    const now = () => time.now
    expect(await refreshStsPolicies(createStsPolicies(db, now), fetchAt(now), AbortSignal.abort())).toBe(0)
    expect(state.downloads).toBe(1)
  })
})
