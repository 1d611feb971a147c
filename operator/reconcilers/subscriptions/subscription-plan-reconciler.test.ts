import fc from 'fast-check'
import { expect, test } from 'vitest'
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

test('omitted fields of a plan are not declared', () => {
  const declared = (more: object) => Object.entries(planSpec(plan(more))).filter(([, value]) => value !== undefined)
  expect(Object.fromEntries(declared({ price: '5', durationDays: 0 }))).toEqual({
    name: 'Pro',
    price_cents: 500,
    duration: 0,
  })
  expect(
    planSpec(plan({ trialDays: 7, graceDays: 0, status: 'Disabled', features: [], autoRenewAllowed: false })),
  ).toMatchObject({
    ...{ trial_days: 7, grace_days: 0, status: '0', features: [], auto_renew_allowed: false },
  })
})

test('omitted fields of a switch are not declared, but for the type of its value', () => {
  const spec = FeatureSwitch.spec.parse({ appRef: { name: 'shop' }, name: 'x', value: '1' })
  const declared = Object.entries(switchFields(spec)).filter(([, value]) => value !== undefined)
  expect(Object.fromEntries(declared)).toEqual({ type: 'boolean', value: '1' })
})

test('a switch is passed on in the form of the API', () => {
  const rule = { conditions: [{ attribute: 'v', operator: 'eq', values: ['1'] }], rollout: '0.5' }
  const spec = FeatureSwitch.spec.parse({
    appRef: { name: 'shop' },
    name: 'x',
    value: '1',
    enabled: false,
    clientVisible: false,
    rollout: '12.5',
    rules: [rule],
    schedules: [
      { at: '2027-01-01T01:00:00+01:00', value: '0' },
      { at: '2027-01-01T00:00:01.5Z', enabled: false, rollout: '0.5' },
    ],
  })
  expect(switchFields(spec)).toMatchObject({
    enabled: '0',
    client_visible: '0',
    rollout: 12.5,
    rules: [{ name: '', conditions: rule.conditions, rollout: 0.5 }],
    schedules: [
      { at: 1_798_761_600, value: '0' },
      { at: 1_798_761_601, enabled: '0', rollout: 0.5 },
    ],
  })
})
