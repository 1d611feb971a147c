import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from '../../platform/json/bounded-validation.ts'
import { reason } from '../../platform/sentences/issue-reason.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { switchRule } from '../flags/rules/flag-spec.ts'
import { logEntry } from '../flags/rules/flag-value.ts'
import { fieldError, fieldErrorsOf, localise } from './field-errors.ts'
import { choice, decimal, emailOrNone, flag, id, integer, money, text } from './field-schemas.ts'
import { cursorQuery } from './paging.ts'

/** Rules of the errors of a schema, each with its field. */
function rulesOf(schema: z.ZodType, given: unknown): string[] {
  const result = validate(schema, given)
  return result.ok ? [] : fieldErrorsOf(result.issues).map(error => `${error.pointer} ${localise(error, 'en').rule}`)
}

describe('a missing field is required, whatever its schema', () => {
  test.each<[string, z.ZodType]>([
    ['text', text(0, 9)],
    ['an integer', integer(1, 9)],
    ['a decimal', decimal(0, 1)],
    ['a digit', flag],
    ['a choice', choice(['a', 'b'])],
    ['money', money],
    ['an id', id],
    ['a word', z.enum(['a', 'b'])],
    ['a list', z.array(text(0, 9))],
    ['an object', z.object({})],
  ])('%s', (_, field) => {
    expect(rulesOf(z.object({ field }), {})).toEqual(['/field required'])
    expect(rulesOf(z.object({ outer: z.array(z.object({ field })) }), { outer: [{}] })).toEqual([
      '/outer/0/field required',
    ])
    // Missing and null differ: null was sent.
    expect(rulesOf(z.object({ field }), { field: null })).not.toContain('/field required')
  })
})

test.each<[string, z.ZodType, unknown, string]>([
  ['another type', text(0, 9), 12, 'type'],
  ['null', text(0, 9), null, 'type'],
  ['too few characters', text(2, 9), 'a', 'too_small'],
  ['too many characters', text(0, 2), 'abc', 'too_big'],
  ['a control character', text(0, 9), '\u0000a', 'format'],
  ['no number', integer(1, 9), 'many', 'integer'],
  ['a fraction', integer(1, 9), 1.5, 'integer'],
  ['a number below the least', integer(1, 9), 0, 'too_small'],
  ['a number above the most', integer(1, 9), '10', 'too_big'],
  ['another digit', flag, '2', 'value'],
  ['another word', z.enum(['a', 'b']), 'c', 'value'],
  ['three decimals', money, '0.001', 'decimals'],
  ['no amount', money, 'free', 'format'],
  ['a negative amount', money, -3, 'format'],
  ['no mail address', z.email(), 'nobody', 'format'],
  ['too many entries', z.array(z.string()).max(1), ['a', 'b'], 'too_big'],
  ['a rule of its own', z.string().refine(() => false, reason('field.features')), 'x', 'features'],
  ['a check without a rule', z.string().refine(() => false, 'Not today.'), 'x', 'type'],
])('%s', (_, field, value, rule) => expect(rulesOf(z.object({ field }), { field: value })).toEqual([`/field ${rule}`]))

test.each<[string, z.ZodType, unknown, string, string]>([
  ['a control character', text(0, 9), '\u0000a', 'format', 'hidden_characters'],
  ['a word as an id', id, 'gold', 'format', 'id'],
  ['an id with a zero before it', id, '01', 'format', 'id'],
  ['a word as a number', decimal(0, 1), 'half', 'type', 'type_number'],
  ['an address without a domain', emailOrNone, 'ann@', 'format', 'email'],
  ['a digit too many', switchRule.shape.rollout, 0.0001, 'decimals', 'decimals_three'],
  ['a word as a version', logEntry.shape.version, 'latest', 'format', 'version'],
  ['a cursor of another list', cursorQuery.cursor, 'abc', 'format', 'cursor'],
])('%s keeps the rule that clients know, and says what is expected', (_, field, value, rule, name) => {
  const result = validate(z.object({ field }), { field: value })
  const [error] = result.ok ? [] : fieldErrorsOf(result.issues)
  expect(error && localise(error, 'en')).toMatchObject({ rule, code: `field.${name}` })
})

test('every wrong field is named', () => {
  const schema = z.object({ name: text(1, 9), plan_id: id, price: money, status: flag })
  expect(rulesOf(schema, { name: '', price: '1.234' })).toEqual([
    '/name too_small',
    '/plan_id required',
    '/price decimals',
    '/status required',
  ])
  expect(rulesOf(schema, undefined)).toEqual(['/ required'])
})

test('an error by rule points at its field and has a text in both languages', () => {
  const error = fieldError('rules.0.value', 'switch_number')
  expect(error).toEqual({ pointer: '/rules/0/value', reason: { code: 'field.switch_number' } })
  const same = { field: 'rules.0.value', rule: 'switch_value', code: 'field.switch_number' }
  expect(localise(error, 'en')).toEqual({ ...same, message: 'must be a decimal number such as 10 or 0.5' })
  expect(localise(error, 'zh')).toEqual({ ...same, message: '必须是十进制数，例如 10 或 0.5' })
})

test('an error with a bound keeps the known rule, and has the bound as a parameter', () => {
  expect(localise({ pointer: '/a', reason: sentence('field.too_short', { count: 8 }) }, 'zh')).toEqual({
    ...{ field: 'a', rule: 'too_small', code: 'field.too_short' },
    ...{ params: '{"count":8}', message: '至少 8 个字符' },
  })
})

test('what is expected of an amount is a sentence', () => {
  const result = validate(z.object({ price: money }), { price: -3 })
  const [wrong] = result.ok ? [] : fieldErrorsOf(result.issues)
  const error = wrong ?? expect.fail('it is accepted')
  expect(localise(error, 'en')).toMatchObject({ field: 'price', rule: 'format', code: 'field.money' })
  expect(localise(error, 'en').message).toBe('Enter an amount from 0 to 999999.99, with two decimals at most.')
  expect(localise(error, 'zh').message).toBe('请输入 0 至 999999.99 之间的金额，最多两位小数。')
})
