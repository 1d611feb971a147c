import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { fieldErrorsOf, localise } from '../../rules/field-errors.ts'
import { zoneOf } from '../../rules/time-zone.ts'
import { changesOffer, mergePlan, type PlanFields, type PlanSpec, planFields, snapshotOf, viewPlan } from './plan.ts'

const schema = z.object(planFields)
const rulesOf = (given: object) => {
  const result = validate(schema, given)
  return result.ok
    ? []
    : fieldErrorsOf(result.issues).map(error => `/${localise(error, 'en').field} ${localise(error, 'en').rule}`)
}
const features = (list: unknown) => JSON.stringify({ features: list })

const pro: PlanSpec = {
  name: 'Pro',
  description: 'All of it',
  price_cents: 1990,
  original_price_cents: 2990,
  duration: 30,
  features: ['a', 'b'],
  sort_order: 7,
  status: '0',
  trial_days: 3,
  grace_days: 2,
  auto_renew_allowed: false,
}
const stored = {
  edits: 0,
  ...pro,
  _id: 12,
  app_key: 'shop',
  version: 4,
  created_at: new Date('2026-01-01T00:00:00Z'),
  updated_at: new Date('2026-11-21T16:00:00Z'),
}

describe('a request', () => {
  test('takes numbers and their text, money in yuan, and features as the text of JSON', () => {
    const given = { name: ' Pro ', price: '19.9', duration: '30', status: 1, features: features([' a ', 'b']) }
    expect(schema.parse(given)).toEqual({ name: 'Pro', price: 1990, duration: 30, status: '1', features: ['a', 'b'] })
  })

  test.each<[string, object, string[]]>([
    ['nothing is a change, too', {}, []],
    ['the longest time', { duration: 36_500, trial_days: 365, grace_days: 90, sort_order: 9999 }, []],
    ['no time is for ever', { duration: 0 }, []],
    ['an empty name', { name: ' ' }, ['/name too_small']],
    ['a longer time', { duration: 36_501 }, ['/duration too_big']],
    ['a time before now', { duration: -1 }, ['/duration too_small']],
    ['a longer trial', { trial_days: 366 }, ['/trial_days too_big']],
    ['a longer grace', { grace_days: 91 }, ['/grace_days too_big']],
    ['no features', { features: features([]) }, []],
    ['50 features', { features: features(Array(50).fill('x')) }, []],
    ['51 features', { features: features(Array(51).fill('x')) }, ['/features features']],
    ['a feature of 201 characters', { features: features(['x'.repeat(201)]) }, ['/features features']],
    ['a number for a feature', { features: features([1]) }, ['/features features']],
    ['features that are a list', { features: '["a"]' }, ['/features features']],
    ['features that are null', { features: 'null' }, ['/features features']],
    ['features that are no JSON', { features: 'a, b' }, ['/features features']],
    ['features beyond measure', { features: features(['x'.repeat(16_384)]) }, ['/features too_big']],
    ['features that are no text', { features: ['a'] }, ['/features type']],
  ])('%s', (_, given, rules) => expect(rulesOf(given)).toEqual(rules))
})

describe('merging', () => {
  test('a new plan has sensible values where the request is silent', () => {
    expect(mergePlan(undefined, { name: 'New', price: 500 })).toEqual({
      name: 'New',
      description: '',
      price_cents: 500,
      original_price_cents: 500,
      duration: 0,
      features: [],
      sort_order: 0,
      status: '1',
      trial_days: 0,
      grace_days: 0,
      auto_renew_allowed: true,
    })
  })

  const fields: fc.Arbitrary<PlanFields> = fc.record(
    {
      name: fc.string({ minLength: 1 }),
      description: fc.string(),
      price: fc.nat(),
      original_price: fc.nat(),
      duration: fc.nat(36_500),
      features: fc.array(fc.string()),
      sort_order: fc.nat(9999),
      status: fc.constantFrom('0', '1'),
      trial_days: fc.nat(365),
      grace_days: fc.nat(90),
      auto_renew_allowed: fc.constantFrom('0', '1'),
    },
    { requiredKeys: [] },
  )

  test('what is absent stays, zero and empty values count, and the same change again changes nothing', () => {
    fc.assert(
      fc.property(fields, given => {
        const { price, original_price, auto_renew_allowed, ...same } = given
        const merged = mergePlan(pro, given)
        expect(merged).toEqual({
          ...pro,
          ...same,
          price_cents: price ?? pro.price_cents,
          original_price_cents: original_price ?? pro.original_price_cents,
          auto_renew_allowed: auto_renew_allowed === undefined ? pro.auto_renew_allowed : auto_renew_allowed === '1',
        })
        expect(mergePlan(merged, given)).toEqual(merged)
        expect(mergePlan(mergePlan(undefined, given), given)).toEqual(mergePlan(undefined, given))
      }),
    )
  })
})

test.each<[string, Partial<PlanSpec>, boolean]>([
  ['nothing', {}, false],
  ['price', { price_cents: 1991 }, true],
  ['duration', { duration: 31 }, true],
  ['features', { features: ['a'] }, true],
  ['order of features', { features: ['b', 'a'] }, true],
  ['price before', { original_price_cents: 3990 }, false],
  ['name', { name: 'Better' }, false],
  ['sale', { status: '1' }, false],
  ['grace', { grace_days: 9 }, false],
  ['trial', { trial_days: 9 }, false],
])('another %s makes another offer or not', (_, change, expected) => {
  expect(changesOffer(pro, { ...pro, ...change })).toBe(expected)
})

test('what a buyer gets is what the plan is today', () => {
  expect(snapshotOf(stored)).toEqual({
    plan_id: 12,
    version: 4,
    name: 'Pro',
    price_cents: 1990,
    duration: 30,
    grace_days: 2,
    features: ['a', 'b'],
  })
})

test('all wire values are text, and a response is accepted as a request', () => {
  const seen = viewPlan(stored, 3, zoneOf('Asia/Shanghai'))
  expect(seen).toMatchObject({
    id: '12',
    price: '19.90',
    original_price: '29.90',
    duration: '30',
    features: '{"features":["a","b"]}',
    status: '0',
    auto_renew_allowed: '0',
    active_subscriptions: '3',
    is_permanent: false,
    updated_at: '2026-11-22 00:00:00',
  })
  expect(seen).not.toHaveProperty('managed_by')
  expect(mergePlan(undefined, schema.parse(seen))).toEqual(pro)
})

test('marks permanent and managed plans', () => {
  const managed_by = { kind: 'SubscriptionPlan', namespace: 'n', name: 'pro', uid: 'u' }
  const seen = viewPlan({ ...stored, duration: 0, auto_renew_allowed: true, managed_by }, 0, zoneOf('UTC'))
  expect(seen).toMatchObject({ is_permanent: true, auto_renew_allowed: '1', managed_by: 'k8s:n/pro' })
})
