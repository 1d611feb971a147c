import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate, inRollout } from './evaluate-flag.ts'
import { effective, misfits, NEW_SWITCH, type SwitchRule, type SwitchSpec } from './flag-spec.ts'
import { compareVersions, typedValue } from './flag-value.ts'
import { stateOf } from './flag-view.ts'

const base: SwitchSpec & { _id: number } = { ...NEW_SWITCH, _id: 7, value: '1' }
const rule = (
  attribute: string,
  operator: SwitchRule['conditions'][number]['operator'],
  values: string[],
  more = {},
) => ({
  name: '',
  conditions: [{ attribute, operator, values }],
  ...more,
})

describe('values', () => {
  test.each<[SwitchSpec['type'], string, unknown]>([
    ['boolean', '1', true],
    ['boolean', 'false', false],
    ['boolean', 'yes', undefined],
    ['boolean', 'constructor', undefined],
    ['number', '-4.50', -4.5],
    ['number', '1e3', 1000],
    ['number', '0x10', undefined],
    ['number', '1e999', undefined],
    ['number', '', undefined],
    ['string', '', ''],
    ['string', 'x'.repeat(65_536), 'x'.repeat(65_536)],
    ['string', '界'.repeat(21_846), undefined],
    ['json', '{"a":1}', { a: 1 }],
    ['json', '[1]', undefined],
    ['json', 'null', undefined],
    ['changelog', '{}', { title: '', logs: [] }],
    ['changelog', '{"logs":[{"version":"x","date":"2026-01-01"}]}', undefined],
    ['changelog', '{"logs":[{"version":"1.0","date":"2026-02-30"}]}', undefined],
    ['changelog', '{"logs":[{"version":"1","date":"2026-01-01"},{"version":"1","date":"2026-01-01"}]}', undefined],
  ])('%s of %s', (type, raw, value) => {
    expect(typedValue(type, raw)).toEqual(value)
  })

  test.each([
    ['1.10', '1.9', 1],
    ['1.0', '1.0.0', 0],
    ['v2', '1.9', 1],
    ['1.0.0-beta', '1.0.0', -1],
    ['1.0.0+build-5', '1.0.0', 0],
  ])('version %s against %s', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign)
    expect(Math.sign(compareVersions(b, a)) + sign).toBe(0)
  })

  test('every raw value must fit, those of rules and schedules too', () => {
    const wrong = {
      ...base,
      value: 'x',
      rules: [rule('a', 'eq', ['1'], { value: 'y' })],
      schedules: [{ at: 1, value: 'z' }],
    }
    expect(misfits(wrong)).toEqual(['value', 'rules.0.value', 'schedules.0.value'])
    expect(misfits(base)).toEqual([])
  })
})

describe('rules', () => {
  const context = {
    targetingKey: 'u1',
    attributes: { platform: 'ios', age: 30, app: '2.10.0', vip: true, blank: '', spaces: ' ', hex: '0x10' },
  }
  test.each<[string, SwitchRule, boolean]>([
    ['eq', rule('platform', 'eq', ['ios']), true],
    ['eq of another', rule('platform', 'eq', ['web']), false],
    ['ne', rule('platform', 'ne', ['web']), true],
    ['ne of what is not there', rule('nowhere', 'ne', ['x']), true],
    ['in', rule('platform', 'in', ['web', 'ios']), true],
    ['not_in', rule('platform', 'not_in', ['web', 'ios']), false],
    ['contains', rule('platform', 'contains', ['o']), true],
    ['starts_with', rule('platform', 'starts_with', ['i']), true],
    ['ends_with', rule('platform', 'ends_with', ['x']), false],
    ['gt', rule('age', 'gt', ['29']), true],
    ['lt', rule('age', 'lt', ['29']), false],
    ['gt of text', rule('platform', 'gt', ['1']), false],
    ['gt of nothing', rule('blank', 'gt', ['-1']), false],
    ['lt of blanks', rule('spaces', 'lt', ['1']), false],
    ['gt of another notation', rule('hex', 'gt', ['1']), false],
    ['lt against nothing', rule('age', 'lt', ['']), false],
    ['gt against one of several', rule('age', 'gt', ['x', '29.5']), true],
    ['version_gte', rule('app', 'version_gte', ['2.9']), true],
    ['a boolean as text', rule('vip', 'eq', ['true']), true],
    ['the targeting key', rule('targetingKey', 'eq', ['u1']), true],
    ['a name of the prototype', rule('constructor', 'contains', ['Object']), false],
  ])('%s', (_, tested, matches) => {
    const result = evaluate({ ...base, value: '0', rules: [{ ...tested, value: '1' }] }, context, 0)
    expect(result).toMatchObject({ value: matches, reason: matches ? 'TARGETING_MATCH' : 'STATIC' })
  })

  test('all conditions must hold, and the first rule that matches decides', () => {
    const both = {
      name: '',
      conditions: [...rule('platform', 'eq', ['ios']).conditions, ...rule('age', 'gt', ['40']).conditions],
    }
    const rules = [
      { ...both, value: 'a' },
      rule('age', 'gt', ['20'], { value: 'b' }),
      rule('age', 'gt', ['10'], { value: 'c' }),
    ]
    expect(evaluate({ ...base, type: 'string', value: 'x', rules }, context, 0)).toMatchObject({ value: 'b' })
  })
})

describe('rollout', () => {
  test('is within one percent of its share over 100,000 users', () => {
    for (const percent of [0, 0.5, 10, 50, 99, 100]) {
      let hits = 0
      for (let i = 0; i < 100_000; i++) if (inRollout(3, `user-${i}`, percent)) hits++
      expect(Math.abs(hits / 1000 - percent)).toBeLessThan(1)
    }
  })

  test('raising the share never removes a user', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.string(),
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (id, key, a, b) => {
          const [less, more] = [Math.min(a, b), Math.max(a, b)]
          expect(!inRollout(id, key, less) || inRollout(id, key, more)).toBe(true)
        },
      ),
    )
  })

  const share = fc.double({ min: 0, max: 100, noNaN: true })
  const caller = fc.record({
    targetingKey: fc.string({ minLength: 1 }),
    attributes: fc.dictionary(fc.constantFrom('platform', 'age', 'app'), fc.constantFrom('ios', 'web', '30', '2.1')),
  })
  const rules = fc.array(
    fc.record({
      attribute: fc.constantFrom('platform', 'age', 'app', 'targetingKey'),
      operator: fc.constantFrom('eq' as const, 'ne' as const, 'gt' as const, 'version_gte' as const),
      value: fc.constantFrom('ios', 'web', '30', '2.0'),
      part: share,
    }),
    { maxLength: 4 },
  )
  const withRules = (
    given: readonly {
      attribute: string
      operator: SwitchRule['conditions'][number]['operator']
      value: string
      part: number
    }[],
  ) => given.map(({ attribute, operator, value, part }) => rule(attribute, operator, [value], { rollout: part }))

  test('raising the share of a switch or of a rule never removes a user, for any rules', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        caller,
        rules,
        share,
        fc.double({ min: 1, max: 100, noNaN: true }),
        (_id, who, given, part, factor) => {
          const raised = (percent: number) => Math.min(100, percent * factor)
          const isOn = (rollout: number, parts: typeof given) => {
            const result = evaluate({ ...base, _id, rollout, rules: withRules(parts) }, who, 0)
            return result.ok && result.value === true
          }
          const more = given.map(known => ({ ...known, part: raised(known.part) }))
          expect(!isOn(part, given) || isOn(raised(part), more)).toBe(true)
        },
      ),
    )
  })

  test('an answer depends on nothing but the switch, the caller and the time', () => {
    fc.assert(
      fc.property(fc.nat(), caller, rules, share, (_id, who, given, rollout) => {
        const stored = { ...base, _id, rollout, rules: withRules(given) }
        const turned = { ...who, attributes: Object.fromEntries(Object.entries(who.attributes).toReversed()) }
        const first = evaluate(stored, who, 5)
        expect(evaluate(structuredClone(stored), turned, 5)).toEqual(first)
        expect(evaluate(stored, who, 5_000_000)).toEqual(first) // without schedules the time is nothing
      }),
    )
  })

  test('two switches do not pick the same users', () => {
    const keys = Array.from({ length: 2_000 }, (_, i) => `u${i}`)
    const both = keys.filter(key => inRollout(1, key, 50) && inRollout(2, key, 50)).length
    expect(Math.abs(both - 500)).toBeLessThan(100)
  })

  test('needs a key; off is false for a boolean and nothing for the rest', () => {
    expect(evaluate({ ...base, rollout: 50 }, { attributes: {} }, 0)).toEqual({
      ok: false,
      error: 'TARGETING_KEY_MISSING',
    })
    const none = evaluate({ ...base, type: 'string', value: 'x', rollout: 0 }, { targetingKey: 'u', attributes: {} }, 0)
    expect(none).toEqual({ ok: true, reason: 'SPLIT', variant: 'off' })
    expect(evaluate({ ...base, enabled: '0' }, { attributes: {} }, 0)).toMatchObject({
      reason: 'DISABLED',
      value: false,
    })
  })
})

test('schedules apply by their time, in their order, and those to come stay', () => {
  const schedules = [
    { at: 30, value: '0' },
    { at: 10, value: '1' },
    { at: 20, rollout: 5 },
  ]
  const timed: SwitchSpec = { ...base, value: '0', schedules }
  expect(effective(timed, 9)).toBe(timed)
  expect(effective(timed, 25)).toMatchObject({ value: '1', rollout: 5, schedules: [{ at: 30, value: '0' }] })
  expect(effective(timed, 30)).toMatchObject({ value: '0', schedules: [] })
})

test.each<[string, Partial<SwitchSpec>, string]>([
  ['killed', { enabled: '0', rollout: 5 }, 'killed'],
  ['off', { value: '0' }, 'off'],
  ['off, but soon on', { value: '0', schedules: [{ at: 1, value: '1' }] }, 'scheduled'],
  ['for some', { rollout: 5, schedules: [{ at: 1, value: '0' }] }, 'partial'],
  ['for all', {}, 'enabled'],
])('the state of a switch that is %s', (_, change, state) => {
  expect(stateOf({ ...base, ...change })).toBe(state)
})
