import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryBudget } from './memory-budget.ts'

test('one account gets half, a second one a third, and released memory is free again', () => {
  const budget = createMemoryBudget(120)
  expect([budget.take('a', 60), budget.take('a', 1)]).toEqual([true, false])
  expect([budget.take('b', 30), budget.take('b', 1)]).toEqual([true, false])
  expect([budget.take('c', 15), budget.take('c', 1)]).toEqual([true, false])
  budget.give('a', 60)
  expect([budget.take('c', 15), budget.take('b', 1)]).toEqual([true, true])
  for (const [account, bytes] of [
    ['b', 31],
    ['c', 30],
  ] as const)
    budget.give(account, bytes)
  expect(budget.take('a', 60)).toBe(true)
})

/** An account takes bytes, or with 0 releases all that it has. */
const step = fc.record({ account: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.integer({ min: 0, max: 90 }) })

test('for any sequence: the sum stays below the budget, and a new account finds room', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const budget = createMemoryBudget(100)
      const held = new Map<string, number>()
      for (const { account, bytes } of steps) {
        const holds = held.get(account) ?? 0
        if (bytes === 0) budget.give(account, holds)
        if (bytes === 0) held.set(account, 0)
        else if (budget.take(account, bytes)) held.set(account, holds + bytes)
        const free = 100 - [...held.values()].reduce((sum, each) => sum + each, 0)
        expect(free).toBeGreaterThan(0)
        const room = Math.floor(free / 2)
        expect(budget.take('new', room)).toBe(true)
        budget.give('new', room)
      }
    }),
  )
})
