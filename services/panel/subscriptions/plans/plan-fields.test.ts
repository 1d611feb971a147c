/** Round trip of a plan between API and form. */
import { expect, test } from 'vitest'
import { bodyOf, fieldsOf, type Plan } from './plan-fields.ts'

const PLAN = {
  name: 'Gold',
  description: 'All of it',
  price: '19.90',
  original_price: '29.00',
  duration: '30',
  sort_order: '5',
  features: '{"features":["Fast, safe","Quiet"]}',
  status: '1',
  trial_days: '7',
  grace_days: '3',
  auto_renew_allowed: '1',
} as Plan

test('an unmodified plan is sent unchanged', () => {
  expect(bodyOf(fieldsOf(PLAN))).toEqual({ ...PLAN, duration: 30 })
})

test('a new plan is for sale, lasts 30 days and has no trial or grace period', () => {
  expect(bodyOf({ ...fieldsOf(undefined), name: '  Gold  ' })).toEqual({
    name: 'Gold',
    description: '',
    price: 0,
    duration: 30,
    sort_order: '0',
    features: '{"features":[]}',
    status: '1',
    trial_days: '0',
    grace_days: '0',
    auto_renew_allowed: '1',
  })
})

test.each([
  [{ status: false }, { status: '0' }],
  [{ auto_renew_allowed: false }, { auto_renew_allowed: '0' }],
  [
    { price: 0, original_price: 0 },
    { price: 0, original_price: 0 },
  ],
  [{ price: '' }, { price: 0 }],
  [{ features: ' Fast, safe \n\n Quiet' }, { features: '{"features":["Fast, safe","Quiet"]}' }],
  [{ duration: 0 }, { duration: 0 }],
])('%j is sent as %j', (typed, sent) => {
  expect(bodyOf({ ...fieldsOf(PLAN), ...typed })).toMatchObject(sent)
})

test('a cleared original price is omitted, so that the service uses the price', () => {
  expect(bodyOf({ ...fieldsOf(PLAN), original_price: '' })).not.toHaveProperty('original_price')
})

test.each([
  [{ status: '0' }, { status: false }],
  [{ auto_renew_allowed: '0' }, { auto_renew_allowed: false }],
  [{ features: 'no JSON' }, { features: '' }],
])('a plan with %j has the fields %j', (stored, fields) => {
  expect(fieldsOf({ ...PLAN, ...stored } as Plan)).toMatchObject(fields)
})
