import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecrets, SecretError, sameSecret } from './secrets.ts'

const master = 'a master secret of more than thirty-two bytes'
const other = 'another master secret, also of more than 32 bytes'

describe('sealed values', () => {
  test('are decrypted unchanged', () => {
    const secrets = createSecrets(master)
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        (place, plain) => secrets.open('dkim', place, secrets.seal('dkim', place, plain)) === plain,
      ),
    )
  })

  test('never encrypt to the same text twice', () => {
    const secrets = createSecrets(master)
    expect(secrets.seal('dkim', 'p', 'x')).not.toBe(secrets.seal('dkim', 'p', 'x'))
  })

  test.each([
    ['at another place', (sealed: string) => createSecrets(master).open('dkim', 'elsewhere', sealed)],
    ['for another purpose', (sealed: string) => createSecrets(master).open('session', 'p', sealed)],
    ['with another secret', (sealed: string) => createSecrets(other).open('dkim', 'p', sealed)],
    ['when cut short', (sealed: string) => createSecrets(master).open('dkim', 'p', sealed.slice(0, -4))],
    ['when it is no sealed value', () => createSecrets(master).open('dkim', 'p', 'plain')],
  ])('do not open %s', (_, open) => {
    const sealed = createSecrets(master).seal('dkim', 'p', 'value')
    expect(() => open(sealed)).toThrow(SecretError)
  })

  test.each(['', 'value'])('do not open cut at any place: %j', plain => {
    const secrets = createSecrets(master)
    const [version, id, nonce, data = ''] = secrets.seal('dkim', 'p', plain).split('.')
    const bytes = Buffer.from(data, 'base64url')
    for (let length = 0; length < bytes.length; length++) {
      const cut = [version, id, nonce, bytes.subarray(0, length).toString('base64url')].join('.')
      expect(() => secrets.open('dkim', 'p', cut), `${length} of ${bytes.length} bytes`).toThrow(SecretError)
    }
  })

  test('open with the previous secret after a rotation, and are then stale', () => {
    const sealed = createSecrets(master).seal('dkim', 'p', 'value')
    const rotated = createSecrets(other, master)
    expect(rotated.open('dkim', 'p', sealed)).toBe('value')
    expect(rotated.isStale(sealed)).toBe(true)
    expect(rotated.isStale(rotated.seal('dkim', 'p', 'value'))).toBe(false)
  })
})

test.each([
  ['equal', 'abc', 'abc', true],
  ['different', 'abc', 'abd', false],
  ['of different length', 'abc', 'abcd', false],
  ['empty against something', '', 'abc', false],
])('sameSecret: %s', (_, given, expected, same) => expect(sameSecret(given, expected)).toBe(same))
