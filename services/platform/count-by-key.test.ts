import { expect, test } from 'vitest'
import { addTo } from './count-by-key.ts'

test.each([
  { changes: [2], count: 2, counts: [['a', 2]] },
  { changes: [2, 3], count: 5, counts: [['a', 5]] },
  { changes: [2, -1], count: 1, counts: [['a', 1]] },
  { changes: [2, -2], count: 0, counts: [] },
  { changes: [2, -3], count: -1, counts: [] },
  { changes: [2, -2, 1], count: 1, counts: [['a', 1]] },
])('$changes result in $count, and keys with 0 are removed', ({ changes, count, counts }) => {
  const all = new Map<string, number>()
  expect(changes.map(change => addTo(all, 'a', change)).at(-1)).toBe(count)
  expect([...all]).toEqual(counts)
})
