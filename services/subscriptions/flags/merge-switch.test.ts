/** What is wrong with the values of a switch, for each type. */
import { describe, expect, test } from 'vitest'
import { ProblemError } from '../../platform/problems.ts'
import { localise } from '../rules/field-errors.ts'
import { mergeSwitch } from './manage-flags.ts'
import { NEW_SWITCH, type SwitchFields, type SwitchSpec } from './rules/flag-spec.ts'

/** Field and code of each error. */
function errorsOf(given: SwitchFields, base: SwitchSpec = NEW_SWITCH): string[] {
  try {
    mergeSwitch(base, given)
    return []
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const errors = (error.errors ?? []).map(one => localise(one, 'en'))
    expect(errors.every(one => one.rule === 'switch_value')).toBe(true)
    return errors.map(({ field, code }) => `${field} ${code}`)
  }
}

describe('a value that does not fit is refused with what the type expects', () => {
  test.each<[SwitchSpec['type'], string]>([
    ['boolean', 'on'],
    ['number', '1,5'],
    ['string', 'x'.repeat(65_537)],
    ['json', '[]'],
    ['changelog', '{"logs":7}'],
  ])('%s', (type, value) => {
    expect(errorsOf({ type, value })).toEqual([`value field.switch_${type}`])
  })

  test.each<SwitchFields>([
    { type: 'boolean', value: 'true' },
    { type: 'number', value: '1.5' },
    { type: 'string', value: 'x'.repeat(65_536) },
    { type: 'json', value: '{}' },
    { type: 'changelog', value: '{"logs":[]}' },
  ])('%j fits', given => expect(errorsOf(given)).toEqual([]))
})

test('rules and schedules have errors of their own', () => {
  const conditions = [{ attribute: 'platform', operator: 'eq' as const, values: ['ios'] }]
  const rules = [
    { name: '', conditions, value: '1' },
    { name: '', conditions, value: 'yes' },
  ]
  expect(errorsOf({ type: 'boolean', value: '0', rules, schedules: [{ at: 1, value: 'no' }] })).toEqual([
    'rules.1.value field.switch_boolean',
    'schedules.0.value field.switch_boolean',
  ])
})

test('a new type needs a new value', () => {
  const base: SwitchSpec = { ...NEW_SWITCH, type: 'number', value: '10' }
  for (const type of ['string', 'boolean'] as const)
    expect(errorsOf({ type }, base)).toEqual(['value field.switch_value'])
  expect(errorsOf({ type: 'string', value: '10' }, base)).toEqual([])
  expect(errorsOf({ type: 'number' }, base)).toEqual([])
})
