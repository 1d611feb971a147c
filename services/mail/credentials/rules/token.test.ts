import { expect, test } from 'vitest'
import { formatToken, hashSecret, parseToken, secretFits, tokenPrefix } from './token.ts'

const id = 'key_01k3zq8w5v0123456789abcdef'
const secret = 'A-_'.repeat(14).concat('B')

test.each(['live', 'test'] as const)('a %s token comes apart as it was put together', mode => {
  const token = formatToken({ mode, id, secret })
  expect(token).toBe(`pw_${mode}_01k3zq8w5v0123456789abcdef_${secret}`)
  expect(parseToken(token)).toEqual({ mode, id, secret })
  expect(token.startsWith(tokenPrefix(mode, id))).toBe(true)
})

test.each([
  ['empty', ''],
  ['another product', `sk_live_01k3zq8w5v0123456789abcdef_${secret}`],
  ['another mode', `pw_prod_01k3zq8w5v0123456789abcdef_${secret}`],
  ['the prefix alone', 'pw_live_01k3zq8w5v0123456789abcdef'],
  ['a short secret', `pw_live_01k3zq8w5v0123456789abcdef_${secret.slice(1)}`],
  ['a long secret', `pw_live_01k3zq8w5v0123456789abcdef_${secret}x`],
  ['an id outside the alphabet', `pw_live_01k3zq8w5v0123456789abcdeu_${secret}`],
  ['a line end behind it', `pw_live_01k3zq8w5v0123456789abcdef_${secret}\n`],
])('no token: %s', (_, value) => expect(parseToken(value)).toBeUndefined())

test.each([
  ['the right secret', secret, hashSecret(secret), true],
  ['another secret', `${secret.slice(1)}A`, hashSecret(secret), false],
  ['the hash itself', hashSecret(secret), hashSecret(secret), false],
  ['nothing', '', hashSecret(secret), false],
  ['a damaged hash', secret, 'abc', false],
])('secretFits: %s', (_, given, stored, fits) => expect(secretFits(given, stored)).toBe(fits))
