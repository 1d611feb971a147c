import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fault, faultsOf, localise } from './field-errors.ts'
import { choice, decimal, flag, id, integer, money, text } from './field-schemas.ts'

/** Rules of the faults of a schema, each with its field. */
function rulesOf(schema: z.ZodType, given: unknown): string[] {
  const { error } = schema.safeParse(given)
  return error ? faultsOf(error, given).map(({ pointer, code }) => `${pointer} ${code}`) : []
}

describe('a field that is missing is required, whatever it takes', () => {
  test.each<[string, z.ZodType]>([
    ['text', text(0, 9)],
    ['a whole number', integer(1, 9)],
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
    // Nothing and null are not the same: null was said.
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
  ['no mail address', z.email(), 'nobody', 'format'],
  ['too many entries', z.array(z.string()).max(1), ['a', 'b'], 'too_big'],
  ['a rule of its own', z.string().refine(() => false, 'features'), 'x', 'features'],
  ['a check without a rule', z.string().refine(() => false, 'Not today.'), 'x', 'type'],
])('%s', (_, field, value, rule) => expect(rulesOf(z.object({ field }), { field: value })).toEqual([`/field ${rule}`]))

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

test('a fault by hand points at its field, and is told in the reader’s language', () => {
  const raw = fault('rules.0.value', 'switch_value')
  expect(raw).toEqual({ pointer: '/rules/0/value', code: 'switch_value', message: '' })
  const [field, rule] = ['rules.0.value', 'switch_value']
  expect(localise(raw, 'en')).toEqual({ field, rule, message: 'does not fit the type of the switch' })
  expect(localise(raw, 'zh')).toEqual({ field, rule, message: '与开关类型不符' })
})

test.each(['unheard_of', 'constructor', '__proto__'])('a rule without a sentence keeps its message: %s', code => {
  expect(localise({ pointer: '/a', code, message: 'It is odd.' }, 'zh')).toEqual({
    field: 'a',
    rule: code,
    message: 'It is odd.',
  })
})
