import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { until } from '../../../test/support/time/until.ts'
import { ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { INBOXES, noteArrivals } from '../store/captured-inboxes.ts'
import { InboxWaiters, WAITER_LIMITS } from './inbox-waiters.ts'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [INBOXES])
})
afterAll(() => mongo.stop())

const EXP = new Date(Date.UTC(2099, 0, 1))
const NEVER = new AbortController().signal
const placeOf = (userId = newId('usr')) => ({ userId, domainId: newId('dom') })
const hour = { ms: 3_600_000, signal: NEVER }

describe('a request', () => {
  test('finds at once what is there', async () => {
    const waiters = new InboxWaiters(mongo, 5)
    expect(await waiters.waitFor(placeOf(), hour, async () => ['mail'])).toEqual(['mail'])
    expect(waiters.size).toBe(0)
  })

  test('searches only after mail arrived in its inbox, and again until something matches', async () => {
    const waiters = new InboxWaiters(mongo, 5)
    const place = placeOf()
    let searches = 0
    const found = waiters.waitFor(place, hour, async () => (++searches === 3 ? ['mail'] : []))
    await until(() => searches === 1)
    await noteArrivals(mongo, [placeOf(place.userId)], EXP)
    await noteArrivals(mongo, [place], EXP)
    await until(() => searches === 2)
    await noteArrivals(mongo, [place], EXP)
    expect(await found).toEqual(['mail'])
    expect(searches).toBe(3)
  })

  test('misses nothing that arrives while it searches', async () => {
    const waiters = new InboxWaiters(mongo, 5)
    const place = placeOf()
    let searches = 0
    const search = async () => {
      if (searches++ > 0) return ['mail']
      await noteArrivals(mongo, [place], EXP)
      return []
    }
    expect(await waiters.waitFor(place, hour, search)).toEqual(['mail'])
  })

  test.each<[string, (signal: AbortController) => { ms: number; signal: AbortSignal }]>([
    ['its time is over', () => ({ ms: 20, signal: NEVER })],
    ['it is gone', gone => ({ ms: 3_600_000, signal: gone.signal })],
    ['it was gone before', () => ({ ms: 3_600_000, signal: AbortSignal.abort() })],
  ])('ends with what it found last when %s', async (_, options) => {
    const waiters = new InboxWaiters(mongo, 5)
    const gone = new AbortController()
    const found = waiters.waitFor(placeOf(), options(gone), async () => [])
    await until(() => waiters.size === 1 || gone.signal.aborted)
    gone.abort()
    expect(await found).toEqual([])
    expect(waiters.size).toBe(0)
  })

  test('that cannot search fails and leaves its place', async () => {
    const waiters = new InboxWaiters(mongo, 5)
    const place = placeOf()
    const failing = async () => {
      throw new Error('not primary')
    }
    await expect(waiters.waitFor(place, hour, failing)).rejects.toThrow('not primary')
    expect([waiters.size, waiters.refusalOf(place.userId)]).toEqual([0, undefined])
  })
})

test('many requests share one look at the counters', async () => {
  let looks = 0
  const collection = mongo.db.collection.bind(mongo.db)
  const counting = {
    ...mongo,
    db: Object.assign(Object.create(mongo.db), {
      collection(name: string) {
        looks++
        return collection(name)
      },
    }),
  }
  const waiters = new InboxWaiters(counting, 50)
  const gone = new AbortController()
  const all = Array.from({ length: 50 }, () =>
    waiters.waitFor(placeOf(), { ms: 3_600_000, signal: gone.signal }, async () => []),
  )
  await until(() => waiters.size === 50 && looks > 60)
  const [before, started] = [looks, performance.now()]
  await until(() => performance.now() - started > 500)
  expect(looks - before).toBeLessThanOrEqual(15)
  gone.abort()
  await Promise.all(all)
  expect(waiters.size).toBe(0)
})

test('an account has room for so many, and another one as well, until the process has none', async () => {
  const waiters = new InboxWaiters(mongo, 1_000)
  const gone = new AbortController()
  const options = { ms: 3_600_000, signal: gone.signal }
  const all: Promise<unknown>[] = []
  const wait = (userId: string) => void all.push(waiters.waitFor(placeOf(userId), options, async () => []))
  const users = Array.from({ length: WAITER_LIMITS.process / WAITER_LIMITS.account }, () => newId('usr'))
  for (const user of users) {
    expect(waiters.refusalOf(user)).toBeUndefined()
    for (let n = 0; n < WAITER_LIMITS.account; n++) wait(user)
    expect(waiters.refusalOf(user)).toEqual(sentence('detail.inbox_waiters', { count: 20 }))
  }
  expect(waiters.refusalOf(newId('usr'))).toEqual(sentence('detail.inbox_waiters_busy'))
  gone.abort()
  await Promise.all(all)
  expect(waiters.refusalOf(users[0] ?? '')).toBeUndefined()
})
