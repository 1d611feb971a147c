import { describe, expect, test } from 'vitest'
import { newPassword, typedPassword } from './password.ts'
import { foldUsername, username } from './username.ts'

describe('a login name', () => {
  test.each([
    ['letters are folded', 'Alice', 'alice'],
    ['spaces around are cut', '  bob ', 'bob'],
    ['an address', 'Carol.D+test@Example.com', 'carol.d+test@example.com'],
    ['one character', '7', '7'],
    ['128 characters', 'x'.repeat(128), 'x'.repeat(128)],
    ['an account of the operator', 'k8s-team-a', 'k8s-team-a'],
  ])('%s', (_, typed, stored) => {
    expect(username.parse(typed)).toBe(stored)
    expect(foldUsername(typed)).toBe(stored)
  })

  test.each(['', ' ', '.x', '@x', 'a b', 'a\tb', 'a\0b', 'ä', 'x'.repeat(129), 'a/b', '$gt', '{}'])(
    'is not %j',
    typed => expect(username.safeParse(typed).success).toBe(false),
  )
})

describe('a new password', () => {
  test.each([
    '12345678',
    'correct horse battery',
    'пароль-пароль',
    '密码密码密码密码',
    ' leading and trailing ',
    'x'.repeat(256),
  ])('may be %j', value => expect(newPassword.parse(value)).toBe(value))

  test.each([
    '',
    '1234567',
    'x'.repeat(257),
    'tab\tinside it',
    'nul\0inside it',
    'line\nend inside',
    'del\u007fete it',
  ])('is not %j', value => expect(newPassword.safeParse(value).success).toBe(false))
})

test.each([
  ['x', true],
  ['short', true],
  ['x'.repeat(1024), true],
  ['', false],
  ['x'.repeat(1025), false],
])('a typed password is only bounded', (value, ok) => expect(typedPassword.safeParse(value).success).toBe(ok))
