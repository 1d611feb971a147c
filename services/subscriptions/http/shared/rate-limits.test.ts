import { beforeEach, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../../test/support/database/test-database.ts'
import { type TestClock, testClock } from '../../../../test/support/time/test-clock.ts'
import { until } from '../../../../test/support/time/until.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { type Collections, openCollections } from '../../store/collections.ts'
import { createRates, type Rates } from './rate-limits.ts'

const LIMITS = { ADMIN_REQUESTS_PER_MINUTE: 40, SERVER_REQUESTS_PER_MINUTE: 1, OFREP_REQUESTS_PER_MINUTE: 20 }
let collections: Collections
let clock: TestClock
// One per test: processes of the test before may still synchronise their counts.
beforeEach(async () => {
  collections = openCollections((await databaseForThisTest()).db)
  clock = testClock()
  clock.advance(12_000)
})

const process = () => createRates({ collections, clock }, LIMITS)

/** Calls until a refusal, at most so often; returns the number of accepted calls. */
function callUpTo(times: number, rates: Rates, name: keyof Rates, caller: string): number {
  for (let n = 0; n < times; n++) {
    try {
      rates[name](caller)
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'rate_limited') throw error
      return n
    }
  }
  return times
}

test.each<[keyof Rates, number]>([
  ['admin', 40],
  ['server', 1],
  ['ofrep', 20],
  ['login', 30],
])('%s: so many a minute and caller, then 429 until the minute is over', (name, limit) => {
  const rates = process()
  expect(callUpTo(100, rates, name, 'a')).toBe(limit)
  expect(callUpTo(100, rates, name, 'b')).toBe(limit)
  expect(() => rates[name]('a')).toThrow(expect.objectContaining({ retryAfter: 48 }))
  clock.advance(47_999)
  expect(() => rates[name]('a')).toThrow(expect.objectContaining({ retryAfter: 1 }))
  clock.advance(1)
  expect(callUpTo(100, rates, name, 'a')).toBe(limit)
})

test('two processes share the limit of a busy caller, and what one used up the other refuses', async () => {
  const [one, two, three] = [process(), process(), process()]
  expect(callUpTo(30, one, 'admin', 'token')).toBe(30)
  expect(callUpTo(5, two, 'admin', 'token')).toBe(5)
  await until(async () => (await collections.rateWindows.findOne())?.requests === 35)
  expect(callUpTo(4, three, 'admin', 'token')).toBe(4) // it has heard nothing yet
  await until(async () => (await collections.rateWindows.findOne())?.requests === 39)
  let more = 0
  await until(() => {
    const passed = callUpTo(1, three, 'admin', 'token')
    more += passed
    return passed === 0
  })
  expect(more).toBeLessThanOrEqual(2) // one is left, and one may come before the sum does
  expect(callUpTo(1, three, 'admin', 'another')).toBe(1)
})

test('nothing stored names a caller, and callers that are not busy are not stored', async () => {
  const rates = process()
  for (let n = 0; n < 50; n++) callUpTo(3, rates, 'admin', `at_${n}`)
  callUpTo(4, rates, 'admin', 'at_secret')
  await until(async () => (await collections.rateWindows.countDocuments()) > 0)
  const stored = await collections.rateWindows.find().toArray()
  expect(stored).toEqual([
    { _id: expect.stringMatching(/^[\w-]{43}$/), requests: 4, exp: new Date('2026-11-21T10:02:00Z') },
  ])
})

test('while the database is unavailable each process counts for itself and synchronises later', async () => {
  let away = true
  const late = new Proxy(collections, {
    get: (target, name) => {
      if (name === 'rateWindows' && away) throw new Error('away')
      return Reflect.get(target, name)
    },
  })
  const rates = createRates({ collections: late, clock }, LIMITS)
  expect(callUpTo(19, rates, 'ofrep', 'x')).toBe(19)
  away = false
  expect(callUpTo(5, rates, 'ofrep', 'x')).toBe(1)
  await until(async () => (await collections.rateWindows.findOne())?.requests === 20)
  expect(callUpTo(1, rates, 'ofrep', 'x')).toBe(0)
})
