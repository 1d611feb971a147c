import { expect, test } from 'vitest'
import { findDefaultError, isVariableKey, resolveValues, type TemplateVariable } from './template-values.ts'

const one = (change: Partial<TemplateVariable> = {}): TemplateVariable[] => [{ key: 'x', type: 'string', ...change }]
const reasons = (variables: readonly TemplateVariable[], given: Record<string, unknown>) =>
  resolveValues(variables, given).errors.map(({ pointer, reason }) => `${pointer} ${reason.code}`)

test.each<[string, Partial<TemplateVariable>, unknown, unknown]>([
  ['a given value', {}, 'a', 'a'],
  ['a default', { default: 'd' }, undefined, 'd'],
  ['null as absent', { default: 'd' }, null, 'd'],
  ['an empty text as given', { default: 'd', required: true }, '', ''],
  ['no value at all', {}, undefined, null],
  ['a number', { type: 'number' }, 0, 0],
  ['a boolean', { type: 'boolean', default: true }, false, false],
  ['a required value with a default', { required: true, default: 'd' }, undefined, 'd'],
])('%s', (_, change, given, expected) => {
  const { values, errors } = resolveValues(one(change), given === undefined ? {} : { x: given })
  expect(errors).toEqual([])
  expect(values.x).toBe(expected)
})

const nested = (depth: number): unknown => (depth === 0 ? 'a' : [nested(depth - 1)])

test.each<[string, Partial<TemplateVariable>, unknown, string]>([
  ['a missing value', { required: true }, undefined, 'field.template_value_missing'],
  ['null for a required value', { required: true }, null, 'field.template_value_missing'],
  ['a number for a text', {}, 1, 'field.type_string'],
  ['a text for a number', { type: 'number' }, '1', 'field.type_number'],
  ['a text for a boolean', { type: 'boolean' }, 'true', 'field.type_boolean'],
  ['an object for a list', { type: 'list' }, { length: 1 }, 'field.type_array'],
  ['an object for a text', {}, { toString: 'a' }, 'field.type_string'],
  ['10 MB', {}, 'x'.repeat(10_000_000), 'field.too_many_bytes'],
  ['a text that was too long to be read', {}, new (class LargeText {})(), 'field.too_many_bytes'],
  ['a long text in a list', { type: 'list' }, ['x'.repeat(65_537)], 'field.too_many_bytes'],
  ['long texts together', { type: 'list' }, Array(5).fill('x'.repeat(60_000)), 'field.template_values'],
  ['many entries', { type: 'list' }, Array(1_001).fill(1), 'field.too_many'],
  ['deep lists', { type: 'list' }, nested(6), 'field.template_value_depth'],
])('is refused: %s', (_, change, given, code) => {
  expect(reasons(one(change), given === undefined ? {} : { x: given })).toEqual([`/x ${code}`])
})

test('values are copies without a prototype', () => {
  const given = JSON.parse('{"x":[{"__proto__":{"polluted":1},"constructor":"a"}]}')
  const { values } = resolveValues(one({ type: 'list' }), given)
  const [entry] = values.x as object[]
  expect(Object.getPrototypeOf(values)).toBeNull()
  expect(Object.getPrototypeOf(entry)).toBeNull()
  expect((Object.prototype as { polluted?: number }).polluted).toBeUndefined()
})

test('values that no variable has are named, and not used', () => {
  const { values, unknown } = resolveValues(one(), JSON.parse('{"x":"a","y":1,"__proto__":2}'))
  expect(unknown).toEqual(['y', '__proto__'])
  expect(Object.keys(values)).toEqual(['x'])
})

test.each<[string, boolean]>([
  ['name', true],
  ['a_1', true],
  ['1a', false],
  ['__proto__', false],
  ['constructor', false],
  ['forloop', false],
  ['true', false],
  ['a-b', false],
  ['a.b', false],
  ['', false],
])('%j as a name: %s', (key, allowed) => {
  expect(isVariableKey(key)).toBe(allowed)
})

test('a default has the type of its variable', () => {
  expect(findDefaultError({ key: 'x', type: 'number', default: '1' })?.code).toBe('field.type_number')
  expect(findDefaultError({ key: 'x', type: 'number', default: 1 })).toBeUndefined()
  expect(findDefaultError({ key: 'x', type: 'number' })).toBeUndefined()
})
