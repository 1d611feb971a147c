import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { giveDomain } from '../../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { type TestClock, testClock } from '../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { RefusalRecorder } from './record-refusals.ts'
import { refusalCounts } from './rules/authentication-refusals.ts'
import { domains } from './store/domain-model.ts'
import { findDomainById } from './store/domains.ts'

let mongo: TestDatabase
let clock: TestClock
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [domains])
})
beforeEach(async () => {
  clock = testClock()
  await collectionOf(mongo.db, domains).deleteMany({})
})
afterAll(() => mongo.stop())

const recorder = () => new RefusalRecorder({ db: mongo.db, clock })
const refusal = (site = 'google') => ({ site, code: 550, enhanced: '5.7.26', text: 'no', last_at: clock.now() })
const stored = async (id: string) => (await findDomainById(mongo.db, id))?.authentication
const sites = async (id: string) => (await stored(id))?.refusals.map(({ site }) => site)
const counted = async (id: string) => (await stored(id))?.refusals.map(one => refusalCounts(one, clock.now()).day)

test('refusals are written with their count, and nothing is written without any', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const worker = recorder()
  await worker.flush()
  expect(await stored(_id)).toBeUndefined()
  for (let n = 0; n < 3; n++) worker.refused(_id, refusal())
  await worker.flush()
  expect(await stored(_id)).toMatchObject({
    last_at: clock.now(),
    refusals: [{ site: 'google', code: 550, enhanced: '5.7.26', text: 'no', last_at: clock.now() }],
  })
  expect(await counted(_id)).toEqual([3])
  await worker.flush()
  expect(await counted(_id)).toEqual([3])
})

test('workers that write at the same time lose nothing', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const workers = Array.from({ length: 6 }, recorder)
  for (const [n, worker] of workers.entries()) {
    worker.refused(_id, refusal())
    worker.refused(_id, refusal(`site${n}.example`))
  }
  await Promise.all(workers.map(worker => worker.flush()))
  expect((await sites(_id))?.toSorted()).toEqual(['google', ...workers.map((_, n) => `site${n}.example`)])
  expect((await counted(_id))?.toSorted()).toEqual([1, 1, 1, 1, 1, 1, 6])
})

test('a later delivery to the site removes its refusals, also by another worker', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const first = recorder()
  first.refused(_id, refusal())
  first.refused(_id, refusal('yahoo'))
  await first.flush()
  const second = recorder()
  clock.advance(1_000)
  second.delivered(_id, 'google', clock.now())
  await second.flush()
  expect(await sites(_id)).toEqual(['google', 'yahoo'])
  await second.refresh()
  second.delivered(_id, 'google', clock.now())
  second.delivered(_id, 'apple', clock.now())
  await second.flush()
  expect(await sites(_id)).toEqual(['yahoo'])
  first.delivered(_id, 'yahoo', clock.now())
  await first.flush()
  expect(await stored(_id)).toBeUndefined()
})

test('a delivery before the refusal removes nothing, whatever their order in memory', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const worker = recorder()
  worker.refused(_id, refusal())
  worker.delivered(_id, 'google', new Date(clock.now().getTime() - 1))
  await worker.flush()
  expect(await sites(_id)).toEqual(['google'])
})

test('refusals of a domain that is gone are dropped', async () => {
  const worker = recorder()
  worker.refused('dom_gone', refusal())
  await worker.flush()
  expect(await collectionOf(mongo.db, domains).countDocuments()).toBe(0)
})

test('what the database did not take is written later, together with what came since', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const worker = recorder()
  worker.refused(_id, refusal())
  // A rule of the server that no document with refusals satisfies.
  await mongo.db.command({ collMod: domains.name, validator: { authentication: { $exists: false } } })
  await expect(worker.flush()).rejects.toThrow('validation')
  await mongo.db.command({ collMod: domains.name, validator: {} })
  worker.refused(_id, refusal())
  await worker.flush()
  expect(await counted(_id)).toEqual([2])
})

test('refusals of more pairs than are kept wait for nobody: the first ten thousand are written', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const worker = recorder()
  for (let n = 0; n < 10_010; n++) worker.refused(_id, refusal(`site${n}.example`))
  await worker.flush()
  expect(await sites(_id)).toHaveLength(20)
  worker.refused(_id, refusal('after.example'))
  clock.advance(1_000)
  worker.refused(_id, refusal('after.example'))
  await worker.flush()
  expect(await sites(_id)).toContain('after.example')
})

test('after seven days nothing remains', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'a.example')
  const worker = recorder()
  worker.refused(_id, refusal())
  await worker.flush()
  clock.advance(7 * DAY_MS)
  await worker.refresh()
  expect(await sites(_id)).toEqual(['google'])
  clock.advance(1)
  await worker.refresh()
  expect(await stored(_id)).toBeUndefined()
})
