import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import type { Collection } from '../../platform/database/mongo.ts'
import { CHEAP_COUNT, type Count, createCount } from './list-totals.ts'

interface Row {
  kind: string
}

let mongo: TestDatabase
let rows: Collection<Row>
let count: Count
const clock = testClock()
const LARGE = CHEAP_COUNT + 5
beforeAll(async () => {
  mongo = await freshDatabase()
  rows = mongo.db.collection<Row>('rows')
  await rows.createIndex({ kind: 1 })
  await rows.insertMany(Array.from({ length: LARGE }, () => ({ kind: 'large' })))
  await rows.insertMany(Array.from({ length: CHEAP_COUNT }, () => ({ kind: 'small' })))
})
afterAll(() => mongo.stop())
beforeEach(() => {
  count = createCount()
  clock.advance(1_000_000)
})

const totalOf = (kind: string, key = kind) =>
  count({ collection: rows, filter: { kind }, key, hint: { kind: 1 } }, clock.now())

/** Counts; resolves to the time for which a total is remembered at most, which is longer after a slow count. */
async function rememberedFor(counting: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await counting()
  return Math.min(299_999, Math.max(15_000, Math.ceil((performance.now() - began) * 200)))
}

test('a small total is exact at every moment', async () => {
  expect(await totalOf('small')).toEqual({ total: CHEAP_COUNT })
  await rows.deleteOne({ kind: 'small' })
  expect(await totalOf('small')).toEqual({ total: CHEAP_COUNT - 1 })
  await rows.insertOne({ kind: 'small' })
})

test('a large total is exact, and remembered for 15 seconds', async () => {
  expect(await totalOf('large')).toEqual({ total: LARGE })
  await rows.insertOne({ kind: 'large' })
  clock.advance(14_999)
  expect(await totalOf('large')).toEqual({ total: LARGE })
  expect(await totalOf('large', 'another question')).toEqual({ total: LARGE + 1 })
  await rows.deleteOne({ kind: 'large' })
})

test('then it is recounted in the background, and after five minutes before the response', async () => {
  const freshMs = await rememberedFor(() => totalOf('large'))
  await rows.insertOne({ kind: 'large' })
  clock.advance(freshMs)
  expect(await totalOf('large')).toEqual({ total: LARGE })
  await expect.poll(() => totalOf('large')).toEqual({ total: LARGE + 1 })
  await rows.deleteOne({ kind: 'large' })
  clock.advance(300_000)
  expect(await totalOf('large')).toEqual({ total: LARGE })
})

test('a slow count is repeated less often', async () => {
  await rows.insertOne({ kind: 'slow' })
  // The server sleeps at this row: 100 ms for each count.
  const body = "function (kind) { if (kind === 'slow') sleep(100); return true }"
  const filter = { kind: { $ne: 'large' }, $expr: { $function: { body, args: ['$kind'], lang: 'js' } } }
  const slowTotal = () => count({ collection: rows, filter, key: 'slow' }, clock.now())
  const { total } = await slowTotal()
  await rows.insertOne({ kind: 'fast' })
  clock.advance(19_999)
  expect(await slowTotal()).toEqual({ total })
  await totalOf('large') // as long as a count in the background would have taken
  expect(await slowTotal()).toEqual({ total })
  clock.advance(279_000)
  await slowTotal()
  await expect.poll(slowTotal).toEqual({ total: total + 1 })
  await rows.deleteMany({ kind: { $in: ['slow', 'fast'] } })
})

test('a total that became small is forgotten', async () => {
  clock.advance(await rememberedFor(() => totalOf('large', 'shrinking')))
  await totalOf('small', 'shrinking')
  await expect.poll(() => totalOf('small', 'shrinking')).toEqual({ total: CHEAP_COUNT })
})

test('parallel callers of the same total share one count, also when it fails', async () => {
  const away = await freshDatabase()
  const broken = away.db.collection<Row>('rows')
  await away.stop()
  const question = { collection: broken, filter: {}, key: 'away' }
  const both = await Promise.allSettled([count(question, clock.now()), count(question, clock.now())])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await totalOf('small', 'away')).toEqual({ total: CHEAP_COUNT })
})
