import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBackoff } from './backoff.ts'

test('every pause is between base and cap, and the first after a reset is short again', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }), draws => {
      let index = 0
      const backoff = createBackoff(800, 30_000, () => draws[index++ % draws.length] ?? 0)
      for (let i = 0; i < 20; i++) {
        const pause = backoff.next()
        expect(pause).toBeGreaterThanOrEqual(800)
        expect(pause).toBeLessThanOrEqual(30_000)
      }
      backoff.reset()
      expect(backoff.next()).toBeLessThanOrEqual(2_400)
    }),
  )
})

test('with bad luck it grows threefold up to the cap', () => {
  const backoff = createBackoff(1, 20, () => 1)
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([3, 9, 20, 20])
})
