import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../../../test/support/database/test-database.ts'
import { systemClock } from '../../../../platform/clock.ts'
import { BudgetExhausted, blockCalls, takeCall } from './call-budgets.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())

test('a burst goes through, whoever calls; each call is counted once', async () => {
  const now = new Date('2026-11-21T10:00:00Z')
  const clock = { now: () => now }
  const allowance = { perSecond: 0.01, burst: 20 }
  await Promise.all(Array.from({ length: 20 }, () => takeCall(mongo.db, clock, 'acc_1', allowance)))
  await expect(takeCall(mongo.db, clock, 'acc_1', allowance)).rejects.toThrow(BudgetExhausted)
  await takeCall(mongo.db, clock, 'acc_2', allowance)
})

test('silence holds for every process until it is over', async () => {
  let now = new Date('2026-11-21T10:00:00Z')
  const clock = { now: () => now }
  const allowance = { perSecond: 10, burst: 10 }
  await blockCalls(mongo.db, clock, 'acc_3', 300)
  await expect(takeCall(mongo.db, clock, 'acc_3', allowance)).rejects.toMatchObject({ retryAfter: 300 })
  await blockCalls(mongo.db, clock, 'acc_3', 10)
  now = new Date(now.getTime() + 299_000)
  await expect(takeCall(mongo.db, clock, 'acc_3', allowance)).resolves.toBeUndefined()
}, 20_000)

test('a call waits for its turn when that is soon', async () => {
  const allowance = { perSecond: 50, burst: 1 }
  const started = performance.now()
  await takeCall(mongo.db, systemClock, 'acc_4', allowance)
  await takeCall(mongo.db, systemClock, 'acc_4', allowance)
  // 20 ms at 50 calls a second; timers and the clock count whole milliseconds.
  expect(performance.now() - started).toBeGreaterThanOrEqual(17)
})
