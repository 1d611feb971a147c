/** Round trip of rules and schedules between API and form. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { switchFields } from '../../../subscriptions/flags/rules/flag-spec.ts'
import {
  COMPARATORS,
  localTime,
  moveEntry,
  newRule,
  newSchedule,
  nextKey,
  ruleBodies,
  rulesOf,
  scheduleBodies,
  schedulesOf,
} from './switch-targets.ts'

const schema = z.object({ rules: switchFields.rules.unwrap(), schedules: switchFields.schedules.unwrap() })

const RULES = [
  {
    name: 'Phones in China',
    conditions: [
      { attribute: 'platform', operator: 'in', values: ['ios', 'android'] },
      { attribute: 'country', operator: 'eq', values: ['CN'] },
    ],
    value: '1',
    rollout: 12.5,
  },
  { name: '', conditions: [{ attribute: 'version', operator: 'version_gte', values: ['2.0.0'] }] },
]
const SCHEDULES = [
  { at: '1798736400', enabled: '0' },
  { at: '1798740000', value: '1', rollout: 50 },
]

test('rules and schedules of the service survive a round trip and match its schema', () => {
  const rules = ruleBodies(rulesOf(RULES))
  const schedules = scheduleBodies(schedulesOf(SCHEDULES))
  expect(rules).toEqual(RULES)
  expect(schedules).toEqual(SCHEDULES.map(one => ({ ...one, at: Number(one.at) })))
  expect(schema.safeParse({ rules, schedules }).success).toBe(true)
})

test.each(COMPARATORS)('the service accepts the comparator %s', operator => {
  const [rule] = ruleBodies([{ ...newRule(0), conditions: [{ key: 0, attribute: 'a', operator, values: 'x' }] }])
  expect(schema.safeParse({ rules: [rule], schedules: [] }).success).toBe(true)
})

test.each([
  ['ios, android', ['ios', 'android']],
  [' ios ,, android ,', ['ios', 'android']],
  ['one', ['one']],
  ['', ['']],
  [' , ', []],
  ['"Shanghai, China", Berlin', ['Shanghai, China', 'Berlin']],
  [' "a" ,"b,c"', ['a', 'b,c']],
  ['"say ""hi""" ', ['say "hi"']],
  ['"", x', ['', 'x']],
  // An unclosed quote, or one within a word, is an ordinary character.
  ['"a, b', ['"a', 'b']],
  ['12", 5"', ['12"', '5"']],
  ['"a"b, c', ['"a"b', 'c']],
])('the values "%s" are %o', (typed, values) => {
  const [rule] = ruleBodies([
    { ...newRule(0), conditions: [{ key: 0, attribute: 'a', operator: 'in', values: typed }] },
  ])
  expect(rule?.conditions[0]?.values).toEqual(values)
})

test('any values survive a round trip', () => {
  const value = fc
    .string({ unit: fc.constantFrom('a', 'b', ' ', ',', '"', '中'), maxLength: 8 })
    .map(text => text.trim())
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), values => {
      const rules = [{ name: '', conditions: [{ attribute: 'city', operator: 'in', values }] }]
      expect(ruleBodies(rulesOf(rules))).toEqual(rules)
    }),
  )
})

test.each([0, 1, 30, 59])('a schedule keeps its second %d', second => {
  const at = Date.UTC(2026, 10, 21, 10, 7, second) / 1000
  expect(scheduleBodies(schedulesOf([{ at: String(at) }]))).toEqual([{ at }])
})

test('malformed data yields an empty form, not an error', () => {
  expect(rulesOf([{ conditions: 'x', rollout: null }])).toEqual([
    { key: 0, name: '', conditions: [], value: '', rollout: '' },
  ])
})

test('a schedule without a time is left out; a new one is an hour away', () => {
  expect(scheduleBodies([{ ...newSchedule(0, 0), at: '' }])).toEqual([])
  const now = Date.UTC(2026, 10, 21, 10)
  expect(new Date(newSchedule(3, now).at).getTime()).toBe(now + 3_600_000)
})

test("times are in the browser's time zone", () => {
  expect(localTime(new Date(2026, 0, 2, 3, 4, 59))).toBe('2026-01-02T03:04')
})

test.each([
  [0, 1, ['b', 'a', 'c']],
  [2, -1, ['a', 'c', 'b']],
  [5, 1, ['a', 'b', 'c']],
] as const)('moving entry %i by %i gives %o', (index, step, order) => {
  expect(moveEntry(['a', 'b', 'c'], index, step)).toEqual(order)
})

test('the next key is unused', () => {
  expect([nextKey([]), nextKey([{ key: 4 }, { key: 1 }])]).toEqual([0, 5])
})
