import type { Context } from 'koa'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ProblemError } from '../problems.ts'
import { idempotencyHeader, readIdempotencyKey } from './idempotency-key.ts'

const STRICT = /^[!-~]{1,8}$/
const MAY_BE_EMPTY = /^[!-~]{0,8}$/
const BAD = new ProblemError('invalid_request')

/** A request with this key, query and body, as far as the key is concerned. */
function request(key: string | undefined, querystring = '', rawBody?: string): Context {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const parts = { headers, querystring, request: { rawBody }, state: {}, get: () => key ?? '' }
  return parts as unknown as Context
}

test.each<[string, string | undefined, RegExp, string | undefined]>([
  ['no header', undefined, STRICT, undefined],
  ['a key', 'abc', STRICT, 'abc'],
  ['the longest', '12345678', STRICT, '12345678'],
  ['an empty one where that is allowed', '', MAY_BE_EMPTY, undefined],
])('%s', (_, given, format, key) => {
  expect(readIdempotencyKey(request(given), format, () => BAD)?.key).toBe(key)
})

test.each([
  ['an empty one', ''],
  ['one that is too long', '123456789'],
  ['blanks', 'a b'],
  ['control characters', 'a\u0007'],
  ['letters beyond ASCII', 'ä'],
])('%s is refused', (_, given) => {
  expect(() => readIdempotencyKey(request(given), STRICT, () => BAD)).toThrow(BAD)
})

test('the digest distinguishes queries and bodies, but not keys', () => {
  const digest = (...given: Parameters<typeof request>) =>
    readIdempotencyKey(request(...given), STRICT, () => BAD)?.digest.toString('hex')
  const first = digest('a', 'q=1', '{}')
  expect(digest('b', 'q=1', '{}')).toBe(first)
  expect(new Set([first, digest('a', 'q=2', '{}'), digest('a', 'q=1', '{ }'), digest('a')]).size).toBe(4)
})

test('the header of a contract has the format and describes a repeat', () => {
  const header = z.object(idempotencyHeader(STRICT, 'sends nothing'))
  expect(z.toJSONSchema(header)).toMatchObject({
    properties: {
      'Idempotency-Key': { pattern: STRICT.source, description: expect.stringMatching(/sends nothing\.$/) },
    },
  })
  expect(header.parse({})).toEqual({})
})
