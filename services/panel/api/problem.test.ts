/** Parsing error responses of all formats. */
import { describe, expect, test } from 'vitest'
import { ApiProblem, mayRetry, problemOf, unreachable } from './problem.ts'

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, statusText: 'In a word', headers })

test('a problem document has code, detail, field errors and request id', async () => {
  const errors = [
    { pointer: '/to/0', code: 'custom', message: 'This is not an address.' },
    { pointer: '/text', code: 'missing', message: 'Give text, html or both.' },
  ]
  const errors_codes = [{}, { code: 'field.body_missing', params: {} }]
  const body = { code: 'validation_failed', detail: 'to: wrong', errors, errors_codes, request_id: 'req-1' }
  expect(await problemOf(answer(422, body, { 'x-request-id': 'req-2' }))).toMatchObject({
    code: 'validation_failed',
    message: 'to: wrong',
    status: 422,
    fieldErrors: [
      { pointer: '/to/0', message: 'This is not an address.' },
      { pointer: '/text', message: 'Give text, html or both.', sentence: errors_codes[1] },
    ],
    requestId: 'req-1',
    retryAfter: undefined,
  })
})

test('an error envelope has code, message and field errors', async () => {
  const errors = [{ field: 'rules.0.value', rule: 'switch_value', message: 'does not fit' }, { message: 'alone' }]
  expect(await problemOf(answer(422, { code: 42200, message: 'Some fields', data: { errors } }))).toMatchObject({
    code: '42200',
    message: 'Some fields',
    fieldErrors: [
      { pointer: '/rules.0.value', message: 'does not fit' },
      { pointer: '/', message: 'alone' },
    ],
  })
})

describe('a response in neither format', () => {
  test.each<[string, number, unknown, string, string]>([
    ['a page of a proxy', 502, '<html>Bad gateway</html>', 'unavailable', 'In a word'],
    ['nothing', 503, '', 'unavailable', 'In a word'],
    ['a list', 500, [], 'unavailable', 'In a word'],
    ['null', 400, 'null', 'internal', 'In a word'],
    ['a text', 404, '"not here"', 'internal', 'In a word'],
    ['an empty code', 403, { code: '', detail: '' }, 'internal', 'In a word'],
    ['a small number for a code', 403, { code: 403, message: 'No.' }, 'internal', 'No.'],
    ['a code that is no word', 500, { code: { a: 1 }, detail: 7 }, 'unavailable', 'In a word'],
  ])('%s keeps its status', async (_, status, body, code, words) => {
    const problem = await problemOf(answer(status, body))
    expect(problem).toBeInstanceOf(ApiProblem)
    expect([problem.status, problem.code, problem.message, problem.fieldErrors]).toEqual([status, code, words, []])
  })

  test('skips malformed field errors', async () => {
    const errors = [null, 'x', { pointer: 1, message: 'a' }, { pointer: '/a' }, { pointer: '/b', message: 'b' }]
    expect((await problemOf(answer(422, { errors }))).fieldErrors).toEqual([{ pointer: '/b', message: 'b' }])
    const inEnvelope = { code: 42200, data: { errors: [null, { field: 'a' }, { field: 7, message: 'b' }] } }
    expect((await problemOf(answer(422, inEnvelope))).fieldErrors).toEqual([{ pointer: '/', message: 'b' }])
    expect((await problemOf(answer(422, { data: { errors: 'none' } }))).fieldErrors).toEqual([])
  })
})

test.each<[string | undefined, number | undefined]>([
  ['30', 30],
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  [undefined, undefined],
])('Retry-After: %s is %s seconds', async (value, seconds) => {
  const headers = value === undefined ? {} : { 'retry-after': value }
  expect((await problemOf(answer(429, {}, headers))).retryAfter).toBe(seconds)
})

test('the request id comes from the header if the body has none', async () => {
  expect((await problemOf(answer(500, '', { 'x-request-id': 'req-2' }))).requestId).toBe('req-2')
  expect((await problemOf(answer(500, ''))).requestId).toBeUndefined()
})

test.each<[string, unknown, boolean]>([
  ['no answer', unreachable(new TypeError('fetch failed')), true],
  ['something thrown', unreachable('cut'), true],
  ['an error of the service', new ApiProblem({ code: 'internal', status: 500, detail: '' }), true],
  ['too many requests', new ApiProblem({ code: 'rate_limited', status: 429, detail: '' }), false],
  ['a refusal', new ApiProblem({ code: 'forbidden', status: 403, detail: '' }), false],
  ['an error of the panel', new TypeError('x is undefined'), false],
])('asking again may help after %s: or not', (_, error, expected) => expect(mayRetry(error)).toBe(expected))

test('a network failure has the message of its cause', () => {
  expect(unreachable(new TypeError('fetch failed'))).toMatchObject({
    code: 'offline',
    status: 0,
    message: 'fetch failed',
  })
  expect(unreachable('cut')).toMatchObject({ code: 'offline', message: 'cut' })
})
