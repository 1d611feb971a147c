import { expect, test } from 'vitest'
import { loadEach, loadOnce } from './load-once.ts'

/** Fails at the calls with these numbers, counted from 1. */
function loading(...failing: number[]) {
  const calls: string[] = []
  const load = async (key: string) => {
    const number = calls.push(key)
    if (failing.includes(number)) throw new Error(`call ${number}`)
    return `${key} ${number}`
  }
  return { calls, load }
}

test('simultaneous and later uses share one load until a reset', async () => {
  const { calls, load } = loading()
  const value = loadOnce(() => load('a'))
  expect(await Promise.all([value.get(), value.get()])).toEqual(['a 1', 'a 1'])
  expect(await value.get()).toBe('a 1')
  value.reset()
  expect(await value.get()).toBe('a 2')
  expect(calls).toEqual(['a', 'a'])
})

test('a failed load is repeated by the next use', async () => {
  const value = loadOnce(() => load('a'))
  const { load } = loading(1)
  await expect(value.get()).rejects.toThrow('call 1')
  expect(await value.get()).toBe('a 2')
})

test('a load that fails after a reset does not drop the value that came after it', async () => {
  const first = Promise.withResolvers<string>()
  const values = [first.promise, Promise.resolve('second')]
  const value = loadOnce(() => values.shift() ?? Promise.resolve('third'))
  const failing = value.get()
  value.reset()
  expect(await value.get()).toBe('second')
  first.reject(new Error('late'))
  await expect(failing).rejects.toThrow('late')
  expect(await value.get()).toBe('second')
})

test('each key is loaded once, a failed one again, and known values are not loaded', async () => {
  const { calls, load } = loading(2)
  const known = new Map([['c', Promise.resolve('known')]])
  const get = loadEach(load, known)
  expect(await get('a')).toBe('a 1')
  await expect(get('b')).rejects.toThrow('call 2')
  expect(await Promise.all([get('a'), get('b'), get('b'), get('c')])).toEqual(['a 1', 'b 3', 'b 3', 'known'])
  expect(calls).toEqual(['a', 'b', 'b'])
})
