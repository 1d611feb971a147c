import { expect, test } from 'vitest'
import { split } from './partition.ts'

test.each([
  { all: [], yes: [], no: [] },
  { all: [3, 1, 2, 5], yes: [3, 1, 5], no: [2] },
  { all: new Set([2, 4]), yes: [], no: [2, 4] },
])('$all are odd $yes or not $no, in their order', ({ all, yes, no }) => {
  expect(split(all, n => n % 2 === 1)).toEqual([yes, no])
})
