/** Values of the change history in words. */
import i18next, { type TFunction } from 'i18next'
import { beforeAll, describe, expect, test } from 'vitest'
import { catalogue } from '../../i18n/en/index.ts'
import { i18nOptions } from '../../i18n/index.ts'
import { actionName, changeValue, fieldName, planId } from './change-values.ts'

let t: TFunction
beforeAll(async () => {
  const i18n = i18next.createInstance()
  await i18n.init({ ...i18nOptions, lng: 'en', resources: { en: { translation: catalogue } } })
  t = i18n.t as TFunction
})

const reader = { language: 'en' as const, timeZone: 'Asia/Shanghai' }

test.each<[string, string, unknown, string | undefined]>([
  ['its id', 'plan_id', 3, '3'],
  ['the copy of a subscription', 'plan', { plan_id: 3, name: 'Monthly' }, '3'],
  ['a copy without an id', 'plan', { name: 'Monthly' }, undefined],
  ['nothing', 'plan_id', null, undefined],
  ['another field', 'user_id', 3, undefined],
])('a plan is known from %s', (_, field, value, id) => {
  expect(planId(field, value)).toBe(id)
})

describe('a value', () => {
  test.each<[string, string, string, unknown, string]>([
    ['a time in seconds', 'subscription', 'end', 1_795_500_000, 'Nov 24, 2026, 2:00:00 PM GMT+8'],
    ['no end', 'subscription', 'end', 0, 'Permanent'],
    [
      'a time of the database',
      'user',
      'deletion_requested_at',
      '2026-11-24T06:00:00.000Z',
      'Nov 24, 2026, 2:00:00 PM GMT+8',
    ],
    ['cents', 'plan', 'price_cents', 1990, '¥19.90'],
    ['the state of a subscription', 'subscription', 'status', 4, 'Refunded'],
    ['the state of a user', 'user', 'status', '0', 'Disabled'],
    ['the state of a plan', 'plan', 'status', '0', 'Not for sale'],
    ['the state of an app', 'app', 'status', '1', 'On'],
    ['an unknown state', 'subscription', 'status', 9, '9'],
    ['yes', 'subscription', 'auto_renew', true, 'Yes'],
    ['nothing', 'user', 'email', null, '–'],
    ['an empty text', 'user', 'email', '', '–'],
    ['a text', 'plan', 'name', 'Monthly', 'Monthly'],
    ['a text that looks like a number', 'plan', 'end', '0', '0'],
    ['a list', 'plan', 'features', ['a', 'b'], 'a, b'],
    ['an empty list', 'switch', 'rules', [], 'None'],
    ['an empty record', 'switch', 'value', {}, 'None'],
    ['a list of records', 'switch', 'rules', [{ name: 'beta' }], '[{"name":"beta"}]'],
    ['a flag that is on', 'switch', 'enabled', 1, 'Yes'],
    ['a flag that is off', 'switch', 'client_visible', '0', 'No'],
    ['a flag that is neither', 'switch', 'enabled', 2, '2'],
    ['a digit that is no flag', 'plan', 'sort_order', 1, '1'],
    ['a plan', 'subscription', 'plan', { plan_id: 1, version: 1, name: 'Monthly' }, 'Monthly'],
    ['a plan without a name', 'subscription', 'plan', { plan_id: 1 }, '{"plan_id":1}'],
    ['a way to pay', 'subscription', 'payment_method', 'manual', 'Granted'],
    ['a way to pay of an app', 'subscription', 'payment_method', 'cash', 'cash'],
    ['a payment', 'subscription', 'payment_id', '4200001', '4200001'],
    ['no payment', 'subscription', 'payment_id', '0000000000000000', '–'],
    ['the kind of a key', 'credential', 'kind', 'secret', 'App secret (for backends)'],
    ['the kind of something else', 'app', 'kind', 'secret', 'secret'],
    ['a number that is no time', 'plan', 'duration', 30, '30'],
  ])('of %s', (_, kind, field, value, text) => {
    expect(changeValue(kind, field, value, reader, t)).toBe(text)
  })

  test('is cut between characters', () => {
    expect(changeValue('plan', 'name', '😀'.repeat(90), reader, t)).toBe(`${'😀'.repeat(80)}…`)
  })
})

test.each([
  ['subscription.refund', 'Subscription refunded'],
  ['user.erase', 'User erased'],
  ['something.else', 'something.else'],
  ['__proto__', '__proto__'],
])('the action %s is "%s"', (action, name) => {
  expect(actionName(action, t)).toBe(name)
})

test.each([
  ['end', 'Ends'],
  ['sealed', 'sealed'],
])('the field %s is "%s"', (field, name) => {
  expect(fieldName(field, t)).toBe(name)
})
