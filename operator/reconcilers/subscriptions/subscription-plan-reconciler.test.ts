import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NEW_SWITCH } from '../../../services/subscriptions/flags/rules/flag-spec.ts'
import { FeatureSwitch } from '../../resources/feature-switch.ts'
import { SubscriptionPlan } from '../../resources/subscription-plan.ts'
import { switchFields } from './feature-switch-reconciler.ts'
import { planSpec } from './subscription-plan-reconciler.ts'

const plan = (more: object) =>
  SubscriptionPlan.spec.parse({ appRef: { name: 'shop' }, name: 'Pro', price: '1', durationDays: 30, ...more })

test.each([
  ['0', 0],
  ['19.9', 1990],
  ['19.90', 1990],
  ['0.07', 7],
  ['999999.99', 99_999_999],
])('a price of %s is %i cents', (price, expected) => {
  expect(planSpec(plan({ price })).price_cents).toBe(expected)
})

test('all amounts of money convert without rounding', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999 }), cents => {
      const price = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
      expect(planSpec(plan({ price })).price_cents).toBe(cents)
    }),
  )
})

test('omitted fields have their defaults', () => {
  expect(planSpec(plan({ price: '5', durationDays: 0 }))).toMatchObject({
    original_price_cents: 500,
    features: [],
    sort_order: 0,
    status: '1',
  })
  expect(planSpec(plan({}))).not.toHaveProperty('trial_days')
  expect(planSpec(plan({ trialDays: 7, graceDays: 0 }))).toMatchObject({ trial_days: 7, grace_days: 0 })
})

test('a switch has the same defaults as resource and over the API', () => {
  const { value: _, schedules: __, ...defaults } = NEW_SWITCH
  const spec = FeatureSwitch.spec.parse({ appRef: { name: 'shop' }, name: 'x', value: '1' })
  expect(switchFields(spec)).toEqual({ ...defaults, value: '1' })
  expect(defaults.client_visible).toBe('0')
})

test('a switch is passed on in the form of the API', () => {
  const rule = { conditions: [{ attribute: 'v', operator: 'eq', values: ['1'] }], rollout: '0.5' }
  const spec = FeatureSwitch.spec.parse({
    appRef: { name: 'shop' },
    name: 'x',
    value: '1',
    enabled: false,
    rollout: '12.5',
    rules: [rule],
  })
  expect(switchFields(spec)).toMatchObject({
    enabled: '0',
    client_visible: '0',
    rollout: 12.5,
    rules: [{ name: '', conditions: rule.conditions, rollout: 0.5 }],
  })
})
