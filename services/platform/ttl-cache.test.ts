import { expect, test } from 'vitest'
import { testClock } from '../../test/support/time/test-clock.ts'
import { createTtlCache } from './ttl-cache.ts'

/** A cache of numbers below 100 for one second, and a loader that counts. */
function counted(max = 10, refreshMs = 1_000) {
  const clock = testClock()
  const cache = createTtlCache<number>({ ttlMs: 1_000, refreshMs, max, clock, isCacheable: value => value < 100 })
  const loads: string[] = []
  const get = (key: string, value: number) =>
    cache.get(key, async () => {
      loads.push(key)
      return value
    })
  return { clock, cache, loads, get }
}

test('a value is loaded once while it is fresh, and again when its time is over', async () => {
  const { clock, loads, get } = counted()
  expect([await get('a', 1), await get('a', 2)]).toEqual([1, 1])
  clock.advance(999)
  expect(await get('a', 3)).toBe(1)
  clock.advance(1)
  expect(await get('a', 4)).toBe(4)
  expect(loads).toEqual(['a', 'a'])
})

test('a clock that is set back does not make a value live longer', async () => {
  const { clock, get } = counted()
  await get('a', 1)
  clock.advance(-3_600_000)
  expect(await get('a', 2)).toBe(2)
})

test('callers at the same moment share one load', async () => {
  const { loads, get } = counted()
  expect(await Promise.all([get('a', 1), get('a', 2), get('a', 3)])).toEqual([1, 1, 1])
  expect(loads).toEqual(['a'])
})

test('a value that is not cacheable is loaded each time', async () => {
  const { get } = counted()
  expect([await get('a', 100), await get('a', 101), await get('a', 1), await get('a', 2)]).toEqual([100, 101, 1, 1])
})

test('a failed load is not cached and rejects for every caller', async () => {
  const { cache, get } = counted()
  const fail = () => cache.get('a', () => Promise.reject(new Error('away')))
  await expect(Promise.all([fail(), fail()])).rejects.toThrow('away')
  expect(await get('a', 1)).toBe(1)
})

test('the least recently used value is evicted', async () => {
  const { loads, get } = counted(2)
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key, 1)
  expect(loads).toEqual(['a', 'b', 'c', 'b'])
})

test('undefined is cached like any other value', async () => {
  const cache = createTtlCache<undefined>({ ttlMs: 1_000, max: 10, clock: testClock(), isCacheable: () => true })
  let loads = 0
  const get = () =>
    cache.get('a', async () => {
      loads++
      return undefined
    })
  expect([await get(), await get(), loads]).toEqual([undefined, undefined, 1])
})

test('age counts from the start of a load, so that a slow one does not serve an older value for longer', async () => {
  const { clock, cache, get } = counted()
  const slow = Promise.withResolvers<number>()
  const first = cache.get('a', () => slow.promise)
  clock.advance(900)
  slow.resolve(1)
  expect(await first).toBe(1)
  clock.advance(100)
  expect(await get('a', 2)).toBe(2)
})

test('peek returns what is cached and loads nothing', async () => {
  const { clock, cache, get } = counted()
  expect(cache.peek('a')).toBeUndefined()
  await get('a', 1)
  expect(await cache.peek('a')).toBe(1)
  clock.advance(1_000)
  expect(cache.peek('a')).toBeUndefined()
})

test('what is deleted is loaded again, and a load in flight at that moment is not kept', async () => {
  const { cache, loads, get } = counted()
  await Promise.all([get('a', 1), get('b', 1)])
  cache.delete('a')
  expect([await get('a', 2), await get('b', 2)]).toEqual([2, 1])
  const slow = Promise.withResolvers<number>()
  cache.clear()
  const outdated = cache.get('a', () => slow.promise)
  cache.delete('a')
  slow.resolve(3)
  expect([await outdated, await get('a', 4)]).toEqual([3, 4])
  expect(loads).toEqual(['a', 'b', 'a', 'a'])
})

test('clear removes everything, also what is being loaded or refreshed at that moment', async () => {
  const { clock, cache, get } = counted(10, 500)
  await get('a', 1)
  const [loading, refreshing] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  const first = cache.get('b', () => loading.promise)
  clock.advance(500)
  await cache.get('a', () => refreshing.promise)
  cache.clear()
  expect(cache.peek('a')).toBeUndefined()
  loading.resolve(2)
  refreshing.resolve(2)
  expect([await first, await get('b', 3), await get('a', 3), await get('a', 4)]).toEqual([2, 3, 3, 3])
})

test('a busy value is refreshed in the background, by one load at a time', async () => {
  const { clock, loads, get } = counted(10, 500)
  expect([await get('a', 1), await get('a', 2)]).toEqual([1, 1])
  clock.advance(500)
  expect(await Promise.all([get('a', 3), get('a', 4)])).toEqual([1, 1])
  expect(loads).toEqual(['a', 'a'])
  expect(await get('a', 5)).toBe(3)
  clock.advance(999)
  expect(await get('a', 6)).toBe(3)
  expect(await get('a', 7)).toBe(6)
})

test('refresh: an uncacheable or deleted value does not return', async () => {
  const { clock, cache, get } = counted(10, 500)
  await get('a', 1)
  clock.advance(500)
  expect([await get('a', 100), await get('a', 2)]).toEqual([1, 2])
  const slow = Promise.withResolvers<number>()
  clock.advance(500)
  expect(await cache.get('a', () => slow.promise)).toBe(2)
  cache.delete('a')
  slow.resolve(3)
  await slow.promise
  expect(await get('a', 4)).toBe(4)
})

test('refresh: after a failure the old value stays until its end, and no longer', async () => {
  const { clock, cache, get } = counted(10, 500)
  await get('a', 1)
  clock.advance(500)
  const fail = () => cache.get('a', () => Promise.reject(new Error('away')))
  expect([await fail(), await fail(), await get('a', 2)]).toEqual([1, 1, 1])
  clock.advance(500)
  await expect(fail()).rejects.toThrow('away')
})
