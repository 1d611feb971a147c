import { expect, test } from 'vitest'
import { databaseForThisTest, freshDatabase } from '../../../../test/support/database/test-database.ts'
import { setMachineClock } from '../../../../test/support/time/machine-clock.ts'
import { until } from '../../../../test/support/time/until.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import type { WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { createRateLimit, type Rate, requestLimits } from './rate-limit.ts'

async function database() {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [requestLimits])
  return mongo
}
/** A process with a limit; `ask` returns the response's limit, remaining, reset and wait. */
function limit({ db }: Mongo, rate: Partial<Rate> = {}) {
  const take = createRateLimit(db, { name: 'test', points: 3, seconds: 60, ...rate })
  return async (key: string) => {
    const headers = new Map<string, string>()
    const context = { set: (name: string, value: string) => void headers.set(name, value) } as unknown as WebContext
    const sent = await take(context, key).catch((error: unknown) => {
      if (error instanceof ProblemError && error.code === 'rate_limited') return error.retryAfter
      throw error
    })
    const number = (name: string) => Number(headers.get(`RateLimit-${name}`))
    return { limit: number('Limit'), left: number('Remaining'), reset: number('Reset'), wait: sent ?? 0, headers }
  }
}
const leftOf = async (ask: ReturnType<typeof limit>, key: string, times: number) => {
  const left: (number | 'refused')[] = []
  for (let n = 0; n < times; n++) {
    const answer = await ask(key)
    left.push(answer.wait > 0 ? 'refused' : answer.left)
  }
  return left
}

test('the remaining budget is sent with each request, down to 0', async () => {
  const ask = limit(await database())
  expect(await leftOf(ask, 'usr_1', 5)).toEqual([2, 1, 0, 'refused', 'refused'])
  const refused = await ask('usr_1')
  expect([refused.limit, refused.left, refused.wait === refused.reset]).toEqual([3, 0, true])
  expect(refused.reset).toBeGreaterThan(30)
  expect(refused.reset).toBeLessThanOrEqual(60)
})

test('processes share a budget, keys and limits of other names do not', async () => {
  const mongo = await database()
  const [one, two, other] = [limit(mongo), limit(mongo), limit(mongo, { name: 'other' })]
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? one : two)('usr_1')))
  expect(
    answers
      .filter(({ wait }) => wait === 0)
      .map(({ left }) => left)
      .toSorted(),
  ).toEqual([0, 1, 2])
  expect(await leftOf(one, 'usr_2', 1)).toEqual([2])
  expect(await leftOf(other, 'usr_1', 1)).toEqual([2])
})

test.each(['__proto__', 'constructor', 'a b', '$where', 'a.b', '名前', ''])(
  'the key %j is one like others',
  async key => {
    const ask = limit(await database())
    expect(await leftOf(ask, key, 4)).toEqual([2, 1, 0, 'refused'])
    expect(await leftOf(ask, `${key}x`, 1)).toEqual([2])
  },
)

test('a limit of 0 is none: nothing is counted or sent', async () => {
  const mongo = await database()
  const ask = limit(mongo, { points: 0 })
  for (let n = 0; n < 10; n++) expect((await ask('usr_1')).headers.size).toBe(0)
  expect(await collectionOf(mongo.db, requestLimits).countDocuments()).toBe(0)
})

test('the budget is full again when its time is over, also for who was refused', async () => {
  const ask = limit(await database(), { seconds: 1 })
  // All in parallel, and again if the second is over before the last of them.
  const askMuch = () => Promise.all(Array.from({ length: 4 }, () => ask('usr_1')))
  await until(async () => (await askMuch()).some(({ wait }) => wait > 0))
  let again = await ask('usr_1')
  await until(async () => {
    if (again.wait > 0) again = await ask('usr_1')
    return again.wait === 0
  })
  expect(again.left).toBe(2)
})

test('while the database is away each process counts for itself', async () => {
  const mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [requestLimits])
  const [one, two] = [limit(mongo), limit(mongo)]
  await one('usr_1')
  await mongo.stop() // every command fails from here on
  for (const ask of [one, two]) expect(await leftOf(ask, 'usr_1', 4)).toEqual([2, 1, 0, 'refused'])
})

test.each([
  ['ahead', 3_600_000],
  ['behind', -3_600_000],
])(
  'a process whose clock is an hour %s shares the budget of the others, and sends the right time',
  async (_, ahead) => {
    const mongo = await database()
    const right = limit(mongo)
    expect(await leftOf(right, 'usr_1', 2)).toEqual([2, 1])
    const setBack = setMachineClock(ahead)
    try {
      const wrong = limit(mongo)
      const last = await wrong('usr_1')
      expect([last.left, last.reset > 30 && last.reset <= 60]).toEqual([0, true])
      expect((await wrong('usr_1')).wait).toBeLessThanOrEqual(60)
      expect((await wrong('usr_2')).left).toBe(2)
    } finally {
      setBack()
    }
    expect(await leftOf(right, 'usr_1', 1)).toEqual(['refused'])
    expect(await leftOf(right, 'usr_2', 3)).toEqual([1, 0, 'refused'])
  },
)
