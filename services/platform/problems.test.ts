import { describe, expect, test } from 'vitest'
import { type Problem, ProblemError, problems } from './problems.ts'

const all = Object.entries<Problem>(problems)

describe('each problem', () => {
  test.each(all)('%s has one meaning on every channel', (code, { http, smtp, envelope, title, zh }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(http).toBeGreaterThanOrEqual(400)
    expect(http).toBeLessThan(600)
    expect(title).toMatch(/^[A-Z].*\.$/)
    if (smtp !== undefined) {
      // The first digit of both codes says whether a client tries again (RFC 3463 section 2); they must agree.
      expect(smtp).toMatch(/^([45])\d\d \1\.\d{1,3}\.\d{1,3}$/)
      if (http === 503) expect(smtp).toMatch(/^4/)
    }
    if (envelope !== undefined) expect(Math.floor(envelope / 100)).toBe(http)
    // The administration speaks Chinese: what it can refuse is said in it, without a full stop as everything there.
    expect(zh === undefined).toBe(envelope === undefined)
    if (zh !== undefined) expect(zh).toMatch(/[\u4e00-\u9fff].*[^。.]$/)
  })

  test('has an envelope code of its own, but for the two ways of having no session', () => {
    const codes = Map.groupBy(
      all.filter(([, { envelope }]) => envelope !== undefined),
      ([, { envelope }]) => envelope,
    )
    const shared = [...codes].filter(([, names]) => names.length > 1)
    expect(shared.map(([, names]) => names.map(([name]) => name))).toEqual([['not_logged_in', 'session_missing']])
  })

  test('has a sentence of its own', () => {
    expect(new Set(all.map(([, { title }]) => title)).size).toBe(all.length)
  })
})

test('a refusal says its title where nobody says more', () => {
  const plain = new ProblemError('rate_limited')
  expect([plain.message, plain.detail]).toEqual(Array(2).fill('Too many requests; try again later.'))
  expect([plain.faults, plain.retryAfter, plain.cause]).toEqual([[], undefined, undefined])
  expect('cause' in plain).toBe(false)
})

test('a refusal keeps what it was told', () => {
  const cause = new Error('underneath')
  const faults = [{ pointer: '/to', code: 'custom', message: 'No.' }]
  const told = new ProblemError('validation_failed', 'Look at /to.', { faults, retryAfter: 3, cause })
  expect(told).toMatchObject({ code: 'validation_failed', detail: 'Look at /to.', faults, retryAfter: 3, cause })
  expect(told.message).toBe('Look at /to.')
})
