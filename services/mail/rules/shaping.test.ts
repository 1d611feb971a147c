import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterSlowDown, afterSuccess, freshSite, limitsOf } from './shaping.ts'

const limits = { connections: 10, messagesPerConnection: 100 }

describe('limitsOf', () => {
  test.each([
    ['example.com', 1, false, 10],
    ['google', 8, false, 2],
    ['google', 1, false, 16],
    ['yahoo', 64, false, 1],
    ['example.com', 64, true, 20],
  ])('%s in %i parts (relay: %s): %i connections', (site, parts, relay, connections) => {
    expect(limitsOf(site, parts, relay).connections).toBe(connections)
  })
})

describe('a site', () => {
  test('loses half of its connections and rests 90 s after a complaint, longer each time', () => {
    const first = afterSlowDown(freshSite(limits), 1_000)
    expect(first).toMatchObject({ limit: 5, suspendedUntil: 91_000 })
    expect(afterSlowDown(first, 50_000)).toBe(first)
    const second = afterSlowDown(first, 91_000)
    expect(second).toMatchObject({ limit: 2, suspendedUntil: 271_000 })
  })

  test('gets one connection more after fifty successes, never more than its limit', () => {
    let state = { ...freshSite(limits), limit: 9 }
    for (let i = 0; i < 49; i++) state = afterSuccess(state, limits)
    expect(state.limit).toBe(9)
    state = afterSuccess(state, limits)
    expect(state.limit).toBe(10)
    for (let i = 0; i < 200; i++) state = afterSuccess(state, limits)
    expect(state.limit).toBe(10)
  })

  test('always keeps one connection and never rests longer than half an hour', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), outcomes => {
        let state = freshSite(limits)
        let now = 0
        for (const good of outcomes) {
          now = Math.max(now + 1, state.suspendedUntil)
          state = good ? afterSuccess(state, limits) : afterSlowDown(state, now)
          expect(state.limit).toBeGreaterThanOrEqual(1)
          expect(state.limit).toBeLessThanOrEqual(10)
          expect(state.suspendedUntil - now).toBeLessThanOrEqual(30 * 60_000)
        }
      }),
    )
  })
})
