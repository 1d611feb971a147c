import { describe, expect, test } from 'vitest'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { columnOf, reasonOf, suppressionInput } from './suppression-input.ts'

const parsed = (value: object) => {
  const result = validate(suppressionInput, value)
  return result.ok ? result.data : result.issues.map(({ path, reason }) => `${path.join('.')} ${reason.code}`)
}

test('an address alone is enough', () => {
  expect(parsed({ email: ' Ann@BÜCHER.example ' })).toEqual({
    ...{ email: 'ann@xn--bcher-kva.example', stream: '', reason: 'manual', expires_at: undefined },
  })
})

test('everything can be given', () => {
  const given = { email: 'a@b.example', stream: 'bulk/news', reason: 'complaint', detail: 'by phone' }
  expect(parsed({ ...given, expires_at: '2027-01-01T00:00:00+08:00' })).toEqual({
    ...given,
    expires_at: new Date('2026-12-31T16:00:00Z'),
  })
  expect(parsed({ email: 'a@b.example', stream: null, expires_at: null })).toMatchObject({ stream: '' })
})

describe('refused', () => {
  test.each<[string, object, string[]]>([
    ['no address', {}, ['email field.required']],
    ['an empty address', { email: '' }, ['email field.address']],
    ['no address at all', { email: 'everyone' }, ['email field.address']],
    ['two addresses', { email: 'a@b.example, c@d.example' }, ['email field.address']],
    ['an operator', { email: { $ne: '' } }, ['email field.type_string']],
    ['a line break', { email: 'a@b.example\r\nc@d.example' }, ['email field.address']],
    ['a long address', { email: `${'a'.repeat(320)}@b.example` }, ['email field.too_long']],
    ['an unknown stream', { email: 'a@b.example', stream: 'marketing' }, ['stream field.stream']],
    ['an unknown reason', { email: 'a@b.example', reason: 'bored' }, ['reason field.option']],
    [
      'an end without a zone',
      { email: 'a@b.example', expires_at: '2027-01-01T00:00:00' },
      ['expires_at field.instant'],
    ],
    ['a long note', { email: 'a@b.example', detail: 'x'.repeat(501) }, ['detail field.too_long']],
    ['another field', { email: 'a@b.example', user_id: 'usr_2' }, ['user_id field.unknown_field']],
  ])('%s', (_, given, expected) => {
    expect(parsed(given)).toEqual(expected)
  })
})

test.each([
  ['email', 'email'],
  ['E-Mail', 'email'],
  ['EmailAddress', 'email'],
  ['Email Address', 'email'],
  ['recipient', 'email'],
  ['邮箱', 'email'],
  ['SuppressionReason', 'reason'],
  ['created', 'created_at'],
  ['last_update_time', 'created_at'],
  ['expires_at', 'expires_at'],
  ['constructor', undefined],
  ['', undefined],
])('the heading %j is the column %s', (heading, column) => {
  expect(columnOf(heading)).toBe(column)
})

test.each([
  ['HardBounce', 'hard_bounce'],
  ['BOUNCE', 'hard_bounce'],
  ['SpamComplaint', 'complaint'],
  ['spam report', 'complaint'],
  ['unsubscribed', 'unsubscribe'],
  ['ManualSuppression', 'manual'],
  ['', 'manual'],
  ['SoftBounce', undefined],
  ['__proto__', undefined],
])('the reason %j of a file is %s', (cell, reason) => {
  expect(reasonOf(cell)).toBe(reason)
})
