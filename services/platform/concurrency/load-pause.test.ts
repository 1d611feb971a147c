import { expect, test } from 'vitest'
import { LoadPause } from './load-pause.ts'

/** The pause after rounds at a steady rate of items a second, one round for each `items`, for two seconds. */
function steady(rate: number, items: number): number {
  let ms = 0
  const pause = new LoadPause({ longestMs: 50, rate: 500, now: () => ms })
  let last = 0
  for (; ms < 2_000; ms += (items / rate) * 1000) last = pause.after(items)
  return last
}

test.each([
  ['a single item', 1, 1, 0, 0.01],
  ['20 a second, one by one', 20, 1, 0, 0.2],
  ['100 a second, one by one', 100, 1, 1.5, 3],
  ['100 a second, ten by ten', 100, 10, 1.5, 5],
  ['250 a second', 250, 5, 11, 15],
  ['500 a second', 500, 25, 49, 50],
  ['5,000 a second', 5_000, 100, 50, 50],
])('at %s', (_, rate, items, least, most) => {
  const pause = steady(rate, items)
  expect(pause).toBeGreaterThanOrEqual(least)
  expect(pause).toBeLessThanOrEqual(most)
})

test('a burst lengthens the pause, and silence ends that', () => {
  let ms = 0
  const pause = new LoadPause({ longestMs: 50, rate: 500, now: () => ms })
  expect(pause.after(200)).toBe(50)
  expect(pause.after(0)).toBe(50)
  ms += 2_000
  expect(pause.after(1)).toBeLessThan(0.1)
})

test('without a rate it is always the longest', () => {
  expect(new LoadPause({ longestMs: 50, rate: 0 }).after(1)).toBe(50)
})

test('the clock of the process is the default', () => {
  expect(new LoadPause({ longestMs: 50, rate: 500 }).after(1_000)).toBe(50)
})
