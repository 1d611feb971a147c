import { expect, test } from 'vitest'
import { axisTicks } from './axis-ticks.ts'

test.each([
  [0, [0, 1]],
  [0.4, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [4, [0, 1, 2, 3, 4]],
  [5, [0, 2, 4, 6]],
  [9, [0, 5, 10]],
  [20, [0, 5, 10, 15, 20]],
  [21, [0, 10, 20, 30]],
  [99.5, [0, 50, 100]],
  [3_333, [0, 1_000, 2_000, 3_000, 4_000]],
  [81_000, [0, 50_000, 100_000]],
  [1_200_000, [0, 500_000, 1_000_000, 1_500_000]],
])('up to %d the lines are at %j', (most, ticks) => {
  expect(axisTicks(most)).toEqual(ticks)
})

test('for every size there are up to five lines, and the largest value is below the last one', () => {
  for (let most = 1; most < 2_000_000; most = Math.ceil(most * 1.03)) {
    const ticks = axisTicks(most)
    expect(ticks.length, `${most}`).toBeLessThanOrEqual(5)
    expect(ticks.at(-1), `${most}`).toBeGreaterThanOrEqual(most)
  }
})
