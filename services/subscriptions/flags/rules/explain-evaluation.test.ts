/** How a switch evaluates for one caller, and why. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate } from './evaluate-flag.ts'
import { type Candidate, explain, UNSAVED_ID } from './explain-evaluation.ts'
import { NEW_SWITCH } from './flag-spec.ts'

const NOW = 1_000
const base: Candidate = { ...NEW_SWITCH, _id: 7, name: 'checkout', value: '1' }
const ios = { name: 'iPhones', conditions: [{ attribute: 'platform', operator: 'eq' as const, values: ['ios'] }] }
const beta = { name: '', conditions: [{ attribute: 'beta', operator: 'eq' as const, values: ['true'] }] }
const caller = { targetingKey: 'u1', attributes: { platform: 'ios' } }
const android = { targetingKey: 'u1', attributes: { platform: 'android' } }

describe('the reason', () => {
  test.each<[string, Partial<Candidate>, typeof caller, object]>([
    [
      'the value of the switch',
      {},
      caller,
      { outcome: 'value', reason: 'STATIC', display_value: 'On', rollout: '100' },
    ],
    ['a switch that is off', { value: '0' }, caller, { outcome: 'value', reason: 'STATIC', display_value: 'Off' }],
    ['one disabled for all', { enabled: '0' }, caller, { outcome: 'value', reason: 'DISABLED', display_value: 'Off' }],
    [
      'a text disabled for all',
      { type: 'string', value: 'Hello', enabled: '0' },
      caller,
      { outcome: 'default', reason: 'DISABLED', display_value: '' },
    ],
    [
      'the second rule',
      { value: '0', rules: [beta, { ...ios, value: '1' }] },
      caller,
      { outcome: 'value', reason: 'TARGETING_MATCH', rule: 2, rule_name: 'iPhones', display_value: 'On' },
    ],
    [
      'no rule',
      { value: '0', rules: [beta, { ...ios, value: '1' }] },
      android,
      { outcome: 'value', reason: 'STATIC', rule_name: '', display_value: 'Off' },
    ],
    [
      'a rule for none of the users',
      { rules: [{ ...ios, rollout: 0 }] },
      caller,
      { outcome: 'value', reason: 'SPLIT', rule: 1, rollout: '0', display_value: 'Off' },
    ],
    [
      'a rule whose value is that of the switch',
      { type: 'string', value: 'Hello', rules: [ios] },
      caller,
      { outcome: 'value', rule: 1, display_value: 'Hello' },
    ],
    [
      'a schedule that is due',
      { value: '0', schedules: [{ at: NOW, value: '1' }] },
      caller,
      { outcome: 'value', display_value: 'On' },
    ],
    [
      'a schedule that is not due',
      { value: '0', schedules: [{ at: NOW + 1, value: '1' }] },
      caller,
      { outcome: 'value', display_value: 'Off' },
    ],
  ])('is %s', (_, change, context, expected) => {
    expect(explain({ ...base, ...change }, context, NOW, 'en')).toMatchObject(expected)
  })

  test('names no rule where none decides', () => {
    expect(explain({ ...base, enabled: '0', rules: [ios] }, caller, NOW, 'en')).not.toHaveProperty('rule')
    expect(explain({ ...base, rules: [beta] }, caller, NOW, 'en')).not.toHaveProperty('rule')
  })

  test('is in the language of the administrator', () => {
    expect(explain(base, caller, NOW, 'zh').display_value).toBe('开启')
  })
})

describe('a share', () => {
  test('needs a targetingKey', () => {
    const context = { targetingKey: undefined, attributes: {} }
    expect(explain({ ...base, rollout: 50 }, context, NOW, 'en')).toMatchObject({
      outcome: 'needs_key',
      display_value: '',
    })
  })

  test.each([
    [50, 'undecided'],
    [0, 'undecided'],
    [100, 'value'],
  ])('of %i %% of an unsaved switch is %s', (rollout, outcome) => {
    expect(explain({ ...base, _id: UNSAVED_ID, rollout }, caller, NOW, 'en')).toMatchObject({ outcome })
  })

  test('of an unsaved switch that is disabled is not asked for', () => {
    const unsaved = { ...base, _id: UNSAVED_ID, rollout: 50, enabled: '0' as const }
    expect(explain(unsaved, caller, NOW, 'en')).toMatchObject({ outcome: 'value', reason: 'DISABLED' })
  })

  test('selects the same users as the evaluation of programs', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 0, max: 100 }), (targetingKey, rollout) => {
        const context = { targetingKey, attributes: {} }
        const result = evaluate({ ...base, rollout }, context, NOW)
        const explained = explain({ ...base, rollout }, context, NOW, 'en')
        const on = explained.display_value === 'On'
        expect(explained).toEqual(
          rollout === 100
            ? expect.not.objectContaining({ in_rollout: expect.anything() })
            : expect.objectContaining({ in_rollout: on }),
        )
        expect(on).toBe(result.ok && result.value === true)
      }),
    )
  })
})
