import { describe, expect, test } from 'vitest'
import { ALLOWANCES, refill, waitFor } from './call-budget.ts'

const start = new Date('2026-11-21T10:00:00Z')
const later = (ms: number) => new Date(start.getTime() + ms)
const two = { perSecond: 2, burst: 4 }

describe('a bucket', () => {
  test.each([
    [0, 0, 0],
    [0, 500, 1],
    [3, 10_000, 4],
    [-2, 1_000, 0],
  ])('with %d tokens after %d ms has %d', (tokens, ms, expected) =>
    expect(refill({ tokens, at: start }, two, later(ms)).tokens).toBe(expected),
  )
  test.each([
    [4, 0],
    [1, 0],
    [0.5, 250],
    [0, 500],
    [-3, 2_000],
  ])('with %d tokens waits %d ms', (tokens, ms) => expect(waitFor({ tokens, at: start }, two)).toBe(ms))

  test('does not go back in time', () => expect(refill({ tokens: 1, at: later(5_000) }, two, start).tokens).toBe(1))
  test('is silent when the provider asked for it', () => {
    expect(waitFor({ tokens: 4, at: start, blocked_until: later(7_000) }, two)).toBe(7_000)
    expect(waitFor({ tokens: 4, at: later(8_000), blocked_until: later(7_000) }, two)).toBe(0)
  })
})

test('Cloudflare stays below 1,200 calls in any five minutes', () => {
  const { perSecond, burst } = ALLOWANCES.cloudflare
  expect(burst + 300 * perSecond).toBeLessThan(1_200)
})
