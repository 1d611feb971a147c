import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { fieldErrorsOf, localise } from '../../rules/field-errors.ts'
import { effective, NEW_SWITCH, SWITCH_NAME, type SwitchSpec, switchFields, switchName } from './flag-spec.ts'

const fields = z.object(switchFields)
const errors = (given: object) => {
  const result = validate(fields, given)
  if (result.ok) return []
  return fieldErrorsOf(result.issues).map(error => `${error.pointer.slice(1)} ${localise(error, 'en').rule}`)
}
const when = { attribute: 'a', operator: 'eq', values: ['x'] }
const many = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

describe('a share of the users', () => {
  test.each<[unknown, number]>([
    [0, 0],
    [100, 100],
    ['0.001', 0.001],
    [99.999, 99.999],
    ['12.345', 12.345],
    [' 7 ', 7],
    [33.333, 33.333],
  ])('%j is %s', (rollout, share) => expect(fields.parse({ rollout })).toEqual({ rollout: share }))

  test.each([
    ['0', true],
    ['7', true],
    ['07.5', true],
    ['100', true],
    ['100.000', true],
    ['99.9990', true],
    ['100.001', false],
    ['101', false],
    ['12.3456', false],
    ['', false],
  ])('the contract accepts or refuses the text %j: %s', (rollout, taken) => {
    const { anyOf = [] } = z.toJSONSchema(switchFields.rollout, { io: 'input' })
    const patterns = anyOf.flatMap(one =>
      typeof one === 'object' && one.pattern ? [new RegExp(one.pattern, 'u')] : [],
    )
    expect(patterns.map(pattern => pattern.test(rollout))).toEqual([taken])
    expect(errors({ rollout }).length === 0).toBe(taken)
  })

  test.each<[unknown, string]>([
    [-0.001, 'too_small'],
    [100.001, 'too_big'],
    [0.0001, 'decimals'],
    ['12.3456', 'decimals'],
    ['1e2', 'type'],
    ['', 'type'],
    ['50%', 'type'],
    [null, 'type'],
    [true, 'type'],
    [Number.NaN, 'type'],
    [Number.POSITIVE_INFINITY, 'type'],
  ])('%j is none: %s', (rollout, rule) => {
    for (const [given, field] of [
      [{ rollout }, 'rollout'],
      [{ rules: [{ conditions: [when], rollout }] }, 'rules/0/rollout'],
      [{ schedules: [{ at: 1, rollout }] }, 'schedules/0/rollout'],
    ] as const)
      expect(errors(given)).toEqual([`${field} ${rule}`])
  })

  test('of three decimals is taken, whatever binary makes of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), thousandths => {
        expect(fields.parse({ rollout: thousandths / 1000 }).rollout).toBe(thousandths / 1000)
        expect(fields.parse({ rollout: (thousandths / 1000).toFixed(3) }).rollout).toBe(thousandths / 1000)
      }),
    )
  })
})

describe('a raw value', () => {
  test.each<[unknown, string]>([
    ['text', 'text'],
    ['', ''],
    [' blanks ', ' blanks '],
    [5, '5'],
    [-0.5, '-0.5'],
    [1e21, '1e+21'],
    [true, '1'],
    [false, '0'],
  ])('%j is kept as %j', (value, raw) => expect(fields.parse({ value })).toEqual({ value: raw }))

  test.each([[null], [{}], [[]], [Number.NaN]])('%j is none', value =>
    expect(errors({ value })).toEqual(['value type']),
  )
})

describe('rules', () => {
  test.each<[string, object, string[]]>([
    ['twenty with ten conditions of a hundred values each', { rules: many(20, full()) }, []],
    ['twenty-one', { rules: many(21, full()) }, ['rules too_big']],
    ['without a condition', { rules: [{ conditions: [] }] }, ['rules/0/conditions too_small']],
    ['with eleven conditions', { rules: [{ conditions: many(11, when) }] }, ['rules/0/conditions too_big']],
    ['without a value', bent({ values: [] }), ['rules/0/conditions/0/values too_small']],
    ['with a hundred and one values', bent({ values: many(101, 'x') }), ['rules/0/conditions/0/values too_big']],
    ['with a value that is too long', bent({ values: ['x'.repeat(201)] }), ['rules/0/conditions/0/values/0 too_big']],
    ['with a value that is none', bent({ values: [null] }), ['rules/0/conditions/0/values/0 type']],
    ['without an attribute', bent({ attribute: ' ' }), ['rules/0/conditions/0/attribute too_small']],
    ['with an unknown operator', bent({ operator: 'matches' }), ['rules/0/conditions/0/operator value']],
    ['with one of the prototype', bent({ operator: 'constructor' }), ['rules/0/conditions/0/operator value']],
    [
      'with a name that is too long',
      { rules: [{ name: 'x'.repeat(65), conditions: [when] }] },
      ['rules/0/name too_big'],
    ],
  ])('%s', (_, given, expected) => expect(errors(given)).toEqual(expected))

  test('compare with text, whatever the values were written as', () => {
    const [rule] = fields.parse(bent({ values: ['x', 1, 1.5, true, ''] })).rules ?? []
    expect(rule).toEqual({ name: '', conditions: [{ ...when, values: ['x', '1', '1.5', 'true', ''] }] })
  })

  function full() {
    return { conditions: many(10, { ...when, values: many(100, 'x'.repeat(200)) }) }
  }
  function bent(change: object) {
    return { rules: [{ conditions: [{ ...when, ...change }] }] }
  }
})

describe('a schedule', () => {
  test.each<[string, object, string[]]>([
    ['at the first second', { at: 1, value: 'x' }, []],
    ['at the last one, as text', { at: '99999999999', enabled: 0 }, []],
    ['before the first', { at: 0, value: 'x' }, ['schedules/0/at too_small']],
    ['after the last time', { at: 100_000_000_000, value: 'x' }, ['schedules/0/at too_big']],
    ['in milliseconds', { at: 1_800_000_000_000, value: 'x' }, ['schedules/0/at too_big']],
    ['at a part of a second', { at: 1.5, value: 'x' }, ['schedules/0/at integer']],
    ['at no time', { value: 'x' }, ['schedules/0/at required']],
    ['of nothing', { at: 1 }, ['schedules/0 at_least_one']],
    ['of a switch that is neither on nor off', { at: 1, enabled: '2' }, ['schedules/0/enabled value']],
  ])('%s', (_, given, expected) => expect(errors({ schedules: [given] })).toEqual(expected))

  test('that is looked at on the way comes to the same in the end', () => {
    const entry = fc.record(
      {
        at: fc.integer({ min: 1, max: 9 }),
        value: fc.constantFrom('0', '1'),
        enabled: fc.constantFrom<'0' | '1'>('0', '1'),
        rollout: fc.integer({ min: 0, max: 100 }),
      },
      { requiredKeys: ['at'] },
    )
    const time = fc.integer({ min: 0, max: 10 })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), time, time, (schedules, a, b) => {
        const spec: SwitchSpec = { ...NEW_SWITCH, schedules }
        const before = structuredClone(spec)
        const [first, last] = [Math.min(a, b), Math.max(a, b)]
        const seen = effective(spec, last)
        expect(effective(effective(spec, first), last)).toEqual(seen)
        expect(effective(seen, first)).toEqual(seen)
        expect(seen.schedules.every(({ at }) => at > last)).toBe(true)
        expect(spec).toEqual(before)
      }),
    )
  })
})

test.each<[string, boolean]>([
  ['a', true],
  ['dark_mode', true],
  ['Checkout.v2-new', true],
  [`a${'x'.repeat(63)}`, true],
  [`a${'x'.repeat(64)}`, false],
  ['', false],
  ['1a', false],
  ['_a', false],
  ['__proto__', false],
  ['constructor', true],
  ['a b', false],
  ['a/b', false],
  ['ä', false],
  ['a\n', false],
])('a switch may be called %j: %s', (name, good) => expect(SWITCH_NAME.test(name)).toBe(good))

test.each(['', '  ', '1a', 'a b'])('for %j as a name a request is told which names there are', name => {
  const result = validate(z.object({ name: switchName }), { name })
  const [wrong] = result.ok ? [] : fieldErrorsOf(result.issues)
  const error = wrong ?? expect.fail('it is accepted')
  expect(localise(error, 'en')).toMatchObject({ field: 'name', rule: 'format', code: 'field.switch_name' })
  expect(localise(error, 'en').message).toMatch(/^A name has 1 to 64 letters, .*begins with a letter\.$/)
  expect(localise(error, 'zh').message).toMatch(/^名称由 1 至 64 个字母/)
})
