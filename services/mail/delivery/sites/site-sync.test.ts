/** Two workers over a real database. */
import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { collectionOf } from '../../../platform/database/mongo.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { reserveProbe, SITES, troubledSites } from '../../store/sites.ts'
import { createSiteExchange } from './site-sync.ts'
import type { SiteState, Sites } from './sites.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)

async function scene() {
  const mongo = await databaseForThisTest()
  let now = NOW
  const worker = (owner: string) => {
    const learned: Parameters<Sites['learn']>[0][] = []
    const exchange = createSiteExchange({ mongo, owner, now: () => now, learn: news => learned.push(news) })
    return { ...exchange, learned }
  }
  return { mongo, worker, advance: (ms: number) => (now = new Date(now.getTime() + ms)) }
}

const down: SiteState = {
  ...{ site: 'a.example', status: 'down', since: NOW.getTime(), reason: 'ECONNREFUSED' },
  ...{ resumeAt: NOW.getTime() + 60_000, window: 2 },
}

test('a change reaches the other worker once, and not the one that wrote it', async () => {
  const { worker, advance } = await scene()
  const [one, other] = [worker('one'), worker('other')]
  one.note(down)
  await one.exchange()
  await one.exchange()
  for (let n = 0; n < 3; n++) {
    await other.exchange()
    advance(1_000)
  }
  expect(one.learned).toEqual([])
  const { window: _, ...news } = down
  expect(other.learned).toEqual([{ ...news, rate: undefined, at: expect.any(Number) }])
  one.note({ ...down, status: 'up', reason: undefined, resumeAt: 0, rate: 12 })
  await one.exchange()
  await other.exchange()
  expect(other.learned.at(-1)).toMatchObject({ site: 'a.example', status: 'up', resumeAt: 0, rate: 12 })
})

test('a reason of ours reaches the other worker with its code, and previous releases read its text', async () => {
  const { mongo, worker } = await scene()
  const [one, other] = [worker('one'), worker('other')]
  const reason = sentence('delivery.no_host_reached', { hosts: ['mx1.a.example', 'mx2.a.example'] })
  one.note({ ...down, reason })
  await one.exchange()
  await other.exchange()
  expect(other.learned).toMatchObject([{ site: 'a.example', reason }])
  const stored = await collectionOf(mongo.db, SITES).findOne({ _id: 'a.example' })
  expect(stored?.reason).toBe('no host of mx1.a.example, mx2.a.example could be reached')
})

test('a worker that starts learns what still holds, also of a pause that the previous release wrote', async () => {
  const { mongo, worker } = await scene()
  await collectionOf(mongo.db, SITES).insertOne({
    ...{ _id: 'old.example', suspended_until: at(90_000), limit: 5, updated_at: at(-1_000) },
  })
  const fresh = worker('fresh')
  await fresh.exchange()
  expect(fresh.learned).toMatchObject([
    { site: 'old.example', status: 'throttled', since: at(-1_000).getTime(), resumeAt: at(90_000).getTime() },
  ])
})

test('a worker that starts learns of every site, however many changed in the last hour', async () => {
  const { mongo, worker } = await scene()
  await collectionOf(mongo.db, SITES).insertMany(
    Array.from({ length: 6_000 }, (_, n) => ({
      ...{ _id: `s${n}.example`, suspended_until: at(90_000), limit: 5, updated_at: at(n - 6_001) },
    })),
  )
  const fresh = worker('fresh')
  await fresh.exchange()
  expect(fresh.learned.map(({ site }) => site)).toEqual(Array.from({ length: 6_000 }, (_, n) => `s${n}.example`))
})

test('of many workers one probes a site in a minute', async () => {
  const { mongo, worker } = await scene()
  const one = worker('one')
  one.note({ ...down, resumeAt: NOW.getTime() + 1 })
  await one.exchange()
  const tries = (now: Date) =>
    Promise.all(Array.from({ length: 8 }, () => reserveProbe(mongo, 'a.example', now, 60_000)))
  expect((await tries(at(1))).filter(Boolean)).toHaveLength(1)
  expect((await tries(at(60_000))).filter(Boolean)).toHaveLength(0)
  expect((await tries(at(60_001))).filter(Boolean)).toHaveLength(1)
  expect(await reserveProbe(mongo, 'unknown.example', NOW, 60_000)).toBe(true)
})

test('sites in trouble are shown, also between two probes, but not those without mail for half an hour', async () => {
  const { mongo, worker } = await scene()
  const one = worker('one')
  one.note(down)
  one.note({ ...down, site: 'b.example', status: 'throttled', since: NOW.getTime() - 5, resumeAt: 0, rate: 3 })
  one.note({ ...down, site: 'c.example', status: 'up', resumeAt: 0 })
  await one.exchange()
  const names = async (now: Date) => (await troubledSites(mongo, now)).map(({ _id }) => _id)
  expect(await names(at(61_000))).toEqual(['b.example', 'a.example'])
  expect(await names(at(31 * 60_000))).toEqual([])
})
