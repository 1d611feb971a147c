import { describe, expect, test } from 'vitest'
import { type Problem, type ProblemCode, ProblemError, problems, problemTitle } from './problems.ts'
import { render } from './sentences/render.ts'
import { sentence } from './sentences/sentence.ts'
import { chinese } from './sentences/zh-cn/index.ts'

const all = Object.entries<Problem>(problems)

describe('each problem', () => {
  test.each(all)('%s has one meaning on every channel', (code, { http, smtp, envelope }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(http).toBeGreaterThanOrEqual(400)
    expect(http).toBeLessThan(600)
    expect(problemTitle(code as ProblemCode)).toMatch(/^[A-Z].*\.$/)
    if (smtp !== undefined) {
      // The first digit of both codes determines whether a client retries (RFC 3463 section 2); they must agree.
      expect(smtp).toMatch(/^([45])\d\d \1\.\d{1,3}\.\d{1,3}$/)
      if (http === 503) expect(smtp).toMatch(/^4/)
    }
    if (envelope !== undefined) expect(Math.floor(envelope / 100)).toBe(http)
    // Titles in Chinese have no full stop: the envelope of the subscription API shows them so.
    expect(render({ code: `problem.${code as ProblemCode}` }, chinese)).toMatch(/[\u4e00-\u9fff].*[^。.]$/)
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
    expect(new Set(all.map(([code]) => problemTitle(code as ProblemCode))).size).toBe(all.length)
  })
})

test('a refusal has its title where there is no detail', () => {
  const plain = new ProblemError('rate_limited')
  expect([plain.message, plain.detail]).toEqual(Array(2).fill('Too many requests; try again later.'))
  expect([plain.errors, plain.retryAfter, plain.cause]).toEqual([[], undefined, undefined])
  expect('cause' in plain).toBe(false)
})

test('a refusal keeps its sentence, its errors and its cause', () => {
  const cause = new Error('underneath')
  const reason = sentence('field.required')
  const errors = [{ pointer: '/to', reason }]
  const detail = sentence('detail.of_field', { field: '/to', reason })
  const refusal = new ProblemError('validation_failed', detail, { errors, retryAfter: 3, cause })
  expect(refusal).toMatchObject({ code: 'validation_failed', sentence: detail, errors, retryAfter: 3, cause })
  expect([refusal.detail, refusal.message]).toEqual(['/to: is required', '/to: is required'])
})
