import { expect, test } from 'vitest'
import { testClock } from '../../test/support/time/test-clock.ts'
import { createRecent } from './ttl-cache.ts'

/** A memory of numbers below 100 for one second, and a loader that counts. */
function counted(max = 10, refreshMs = 1_000) {
  const clock = testClock()
  const recent = createRecent<number>({ ttlMs: 1_000, refreshMs, max, clock, keep: value => value < 100 })
  const loads: string[] = []
  const get = (key: string, value: number) =>
    recent.get(key, async () => {
      loads.push(key)
      return value
    })
  return { clock, recent, loads, get }
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

test('a clock that is set back makes nothing live longer', async () => {
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

test('a value that is not worth keeping is loaded each time', async () => {
  const { get } = counted()
  expect([await get('a', 100), await get('a', 101), await get('a', 1), await get('a', 2)]).toEqual([100, 101, 1, 1])
})

test('a failed load is not remembered and reaches every caller', async () => {
  const { recent, get } = counted()
  const fail = () => recent.get('a', () => Promise.reject(new Error('away')))
  await expect(Promise.all([fail(), fail()])).rejects.toThrow('away')
  expect(await get('a', 1)).toBe(1)
})

test('the oldest value goes when there are too many', async () => {
  const { loads, get } = counted(2)
  for (const key of ['a', 'b', 'c', 'b', 'a']) await get(key, 1)
  expect(loads).toEqual(['a', 'b', 'c', 'a'])
})

test('peek gives what is remembered and loads nothing', async () => {
  const { clock, recent, get } = counted()
  expect(recent.peek('a')).toBeUndefined()
  await get('a', 1)
  expect(await recent.peek('a')).toBe(1)
  clock.advance(1_000)
  expect(recent.peek('a')).toBeUndefined()
})

test('what is forgotten is loaded anew, and a load under way at that moment is not kept', async () => {
  const { recent, loads, get } = counted()
  await Promise.all([get('a', 1), get('b', 1)])
  recent.forget('a')
  expect([await get('a', 2), await get('b', 2)]).toEqual([2, 1])
  const slow = Promise.withResolvers<number>()
  recent.forget()
  const outdated = recent.get('a', () => slow.promise)
  recent.forget('a')
  slow.resolve(3)
  expect([await outdated, await get('a', 4)]).toEqual([3, 4])
  expect(loads).toEqual(['a', 'b', 'a', 'a'])
})

test('a value that is asked for again and again is loaded anew behind the answers, once at a time', async () => {
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

test('behind the answers: what is not worth keeping or was forgotten does not come back', async () => {
  const { clock, recent, get } = counted(10, 500)
  await get('a', 1)
  clock.advance(500)
  expect([await get('a', 100), await get('a', 2)]).toEqual([1, 2])
  const slow = Promise.withResolvers<number>()
  clock.advance(500)
  expect(await recent.get('a', () => slow.promise)).toBe(2)
  recent.forget('a')
  slow.resolve(3)
  await slow.promise
  expect(await get('a', 4)).toBe(4)
})

test('behind the answers: a failure leaves the old value its time, and no more', async () => {
  const { clock, recent, get } = counted(10, 500)
  await get('a', 1)
  clock.advance(500)
  const fail = () => recent.get('a', () => Promise.reject(new Error('away')))
  expect([await fail(), await fail(), await get('a', 2)]).toEqual([1, 1, 1])
  clock.advance(500)
  await expect(fail()).rejects.toThrow('away')
})
