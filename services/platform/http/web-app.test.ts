import mongoose from 'mongoose'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inNetwork } from '../network/ip-networks.ts'
import { ProblemError } from '../problems.ts'
import { sentence } from '../sentences/sentence.ts'
import { parse, problemBody, toProblem } from './web-app.ts'

test.each([
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.255', '192.0.2.0/24', true],
  ['192.0.3.0', '192.0.2.0/24', false],
  ['192.0.2.129', '192.0.2.128/25', true],
  ['192.0.2.127', '192.0.2.128/25', false],
  ['203.0.113.9', '0.0.0.0/0', true],
  ['::ffff:192.0.2.1', '192.0.2.0/24', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['2001:db8:0:0::1', '2001:db8::1', true],
  ['2001:db8::1', '0.0.0.0/0', false],
  ['192.0.2.1', '::/0', false],
])('%s is in %s: %s', (address, network, expected) => expect(inNetwork(address, network)).toBe(expected))

describe('a request that does not fit', () => {
  const schema = z.strictObject({
    name: z.string().min(1),
    list: z.array(z.strictObject({ 'a/b': z.int(), 'c~d': z.boolean() })).optional(),
  })
  const refused = (value: unknown, root = ''): ProblemError => {
    try {
      parse(schema, value, root)
    } catch (error) {
      if (error instanceof ProblemError) return error
      throw error
    }
    throw new Error('it was taken')
  }

  test.each<[string, unknown, string, string[]]>([
    ['names the field', { name: '' }, '', ['/name']],
    ['names each', { list: [{ 'a/b': 1, 'c~d': 1 }] }, '', ['/name', '/list/0/c~0d']],
    ['escapes its pointers (RFC 6901)', { name: 'x', list: [{ 'a/b': 'x', 'c~d': true }] }, '', ['/list/0/a~1b']],
    ['names each unknown field', { name: 'x', more: 1, 'e/f': 2 }, '', ['/more', '/e~1f']],
    ['begins at the root', { name: '' }, '/7', ['/7/name']],
    ['has no field when nothing fits', 'text', '', ['']],
  ])('%s', (_, value, root, pointers) => {
    const { code, errors } = refused(value, root)
    expect(code).toBe('validation_failed')
    expect(errors.map(({ pointer }) => pointer)).toEqual(pointers)
  })

  test('has the first error in its detail', () => {
    expect(refused({ name: 'x', more: 1 }).detail).toBe('/more: This field does not exist.')
    expect(refused('text').detail).toMatch(/^The request: /)
  })
})

test('a valid request is parsed by its schema; without one there is no input', () => {
  expect(parse(z.object({ at: z.coerce.number() }), { at: '7', more: 1 }, '')).toEqual({ at: 7 })
  expect(parse(undefined, { at: '7' }, '')).toBeUndefined()
})

describe('responses to errors', () => {
  test('is the refusal itself', () => {
    const refusal = new ProblemError('forbidden')
    expect(toProblem(refusal)).toBe(refusal)
  })

  test.each<[string, unknown]>([
    ['an error', new Error('mongodb://root:secret@db')],
    ['no error at all', 'secret'],
    ['nothing', undefined],
  ])('is nothing of %s', (_, thrown) => {
    const logged = toProblem(thrown)
    expect([logged.code, logged.cause, logged.retryAfter]).toEqual(['internal', thrown, undefined])
    expect(JSON.stringify(problemBody(logged))).not.toContain('secret')
  })

  test('says that a search took too long for the database', () => {
    const gaveUp = new mongoose.mongo.MongoServerError({ ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'x' })
    const { code, retryAfter, sentence: said } = toProblem(gaveUp)
    expect([code, retryAfter, said?.code]).toEqual(['unavailable', 5, 'detail.query_too_slow'])
  })

  test('has the members of RFC 9457, and a list of errors only where there are some', () => {
    expect(problemBody(new ProblemError('conflict', sentence('detail.smtp_name_taken', { name: 'ann' })))).toEqual({
      type: 'urn:postwright:problem:conflict',
      title: 'This conflicts with what exists.',
      status: 409,
      detail: 'The SMTP user name ann is taken.',
      detail_code: 'detail.smtp_name_taken',
      detail_params: { name: 'ann' },
      code: 'conflict',
      message: 'The SMTP user name ann is taken.',
    })
    const errors = [
      { pointer: '/a', reason: sentence('field.required') },
      { pointer: '', reason: sentence('field.too_few', { count: 2 }) },
      // Clients know its code from earlier releases; readers get the exact sentence.
      { pointer: '/text', reason: sentence('field.body_missing'), code: 'missing' },
    ]
    expect(problemBody(new ProblemError('validation_failed', undefined, { errors }))).toMatchObject({
      errors: [
        { pointer: '/a', code: 'required', message: 'is required' },
        { pointer: '', code: 'too_few', message: 'must have at least 2 entries' },
        { pointer: '/text', code: 'missing', message: 'Give text, html or both.' },
      ],
      errors_codes: [
        { code: 'field.required', params: {} },
        { code: 'field.too_few', params: { count: 2 } },
        { code: 'field.body_missing', params: {} },
      ],
    })
  })
})
