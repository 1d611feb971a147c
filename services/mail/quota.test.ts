import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../test/support/database.ts'
import { newId } from '../platform/ids.ts'
import { ensureIndexes, type Mongo } from '../platform/mongo.ts'
import { createQuota, type Quota } from './quota.ts'
import { QUOTAS } from './store/quota.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [QUOTAS])
})
afterAll(() => mongo.stop())

/** A clock that the test turns. */
function handClock(start = '2026-03-01T12:00:00Z') {
  let now = new Date(start)
  return { now: () => now, turn: (ms: number) => (now = new Date(now.getTime() + ms)) }
}

async function takeMany(quotas: readonly Quota[], login: string, limit: number, times: number): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: times }, (_, i) => quotas[i % quotas.length]?.take(login, limit)),
  )
  return results.filter(Boolean).length
}

describe('messages per hour', () => {
  test.each([1, 7, 19, 20, 1000])('a limit of %i is reached and never passed, over three processes', async limit => {
    const clock = handClock()
    const login = newId('crd')
    const processes = [1, 2, 3].map(() => createQuota(mongo, clock))
    expect(await takeMany(processes, login, limit, limit * 3)).toBe(limit)
  })

  test('a new hour starts anew; a past hour lends nothing', async () => {
    const clock = handClock('2026-03-01T12:59:59.999Z')
    const login = newId('crd')
    const quota = createQuota(mongo, clock)
    expect(await takeMany([quota], login, 5, 6)).toBe(5)
    clock.turn(1)
    expect(await takeMany([quota], login, 5, 6)).toBe(5)
  })

  test('what is put back can be taken again', async () => {
    const quota = createQuota(mongo, handClock())
    const login = newId('crd')
    const putBack = await quota.take(login, 1)
    expect(await quota.take(login, 1)).toBeUndefined()
    putBack?.()
    expect(await quota.take(login, 1)).toBeDefined()
  })

  test('a stopped process gives back what it did not spend', async () => {
    const clock = handClock()
    const login = newId('crd')
    const [one, two] = [createQuota(mongo, clock), createQuota(mongo, clock)]
    expect(await takeMany([one], login, 100, 1)).toBe(1) // holds four more
    await one.stop()
    expect(await takeMany([two], login, 100, 200)).toBe(99)
  })

  test('an empty hour is asked for again after a while', async () => {
    const clock = handClock()
    const login = newId('crd')
    const [one, two] = [createQuota(mongo, clock), createQuota(mongo, clock)]
    expect(await takeMany([one], login, 100, 1)).toBe(1)
    expect(await takeMany([two], login, 100, 200)).toBe(95)
    await one.stop()
    expect(await two.take(login, 100)).toBeUndefined()
    clock.turn(5_000)
    expect(await two.take(login, 100)).toBeDefined()
  })

  test('a changed limit counts from the next message', async () => {
    const quota = createQuota(mongo, handClock())
    const login = newId('crd')
    expect(await takeMany([quota], login, 10, 10)).toBe(10)
    expect(await quota.take(login, 10)).toBeUndefined()
    expect(await takeMany([quota], login, 12, 5)).toBe(2)
    expect(await quota.take(login, 3)).toBeUndefined()
  })

  test('logins do not share', async () => {
    const quota = createQuota(mongo, handClock())
    expect(await takeMany([quota], newId('crd'), 1, 2)).toBe(1)
    expect(await takeMany([quota], newId('crd'), 1, 2)).toBe(1)
  })
})
