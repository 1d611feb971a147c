import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../platform/security/secrets.ts'
import { createDkimKey, importDkimKey, newSelector, openDkimKey } from './dkim-keys.ts'

const secrets = createSecrets('a secret of at least thirty-two bytes')
const now = new Date('2026-11-21T10:00:00Z')
const domain = { _id: 'dom_1' }
const pem = (bits: number) =>
  String(generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ format: 'pem', type: 'pkcs1' }))

test('a new RSA key signs what its published half verifies', async () => {
  const key = await createDkimKey(secrets, 'dom_1', 's1', 'rsa-sha256', now)
  expect(key).toMatchObject({ selector: 's1', algorithm: 'rsa-sha256', state: 'pending', created_at: now })
  const published = createPublicKey({ key: Buffer.from(key.public_key, 'base64'), format: 'der', type: 'spki' })
  const signature = sign('sha256', Buffer.from('mail'), openDkimKey(secrets, domain, key))
  expect(verify('sha256', Buffer.from('mail'), published, signature)).toBe(true)
})

test('an Ed25519 key has 32 bytes in DNS and its private half is sealed to its place', async () => {
  const key = await createDkimKey(secrets, 'dom_1', 's2', 'ed25519-sha256', now)
  expect(Buffer.from(key.public_key, 'base64')).toHaveLength(32)
  expect(key.sealed_private_key).not.toContain('PRIVATE')
  expect(() => openDkimKey(secrets, { _id: 'dom_2' }, key)).toThrow('belongs elsewhere')
})

describe('import', () => {
  test('a key that exists goes on signing', () => {
    const key = importDkimKey(secrets, 'dom_1', 'old', pem(1024), now)
    expect(key.algorithm).toBe('rsa-sha256')
    expect(openDkimKey(secrets, domain, key).asymmetricKeyDetails?.modulusLength).toBe(1024)
  })
  test.each([
    ['a short key', pem(768), /1024 to 2048/],
    ['a long key', pem(3072), /1024 to 2048/],
    [
      'a curve',
      String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'sec1' })),
      /RSA or Ed25519/,
    ],
    ['prose', 'not a key', /PEM/],
  ])('%s is refused with a pointer', (_, text, message) => {
    expect(() => importDkimKey(secrets, 'dom_1', 's', text, now)).toThrow(
      expect.objectContaining({ code: 'validation_failed', detail: expect.stringMatching(message) }),
    )
  })
})

test('a selector is never used twice', () => {
  expect(newSelector([], now)).toBe('pw202611a')
  expect(newSelector([{ selector: 'pw202611a' }, { selector: 'pw202611b' }], now)).toBe('pw202611c')
  const alphabet = Array.from({ length: 26 }, (_, i) => ({ selector: `pw202611${String.fromCharCode(97 + i)}` }))
  expect(newSelector(alphabet, now)).toBe('pw202611ba')
})
