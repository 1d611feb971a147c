import { expect, test } from 'vitest'
import { makeSecret, rotateSecret } from './webhook-secret.ts'

test('a secret has 32 random bytes in the form of Standard Webhooks', () => {
  const secrets = Array.from({ length: 50 }, makeSecret)
  expect(new Set(secrets).size).toBe(50)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
  }
})

test('a rotation keeps the secret before for a day, and only that one', () => {
  const now = new Date('2026-11-24T10:00:00Z')
  const seal = (secret: string) => `sealed ${secret}`
  const first = rotateSecret({ sealed: 'old' }, seal, now)
  expect(first.change).toEqual({
    sealed: `sealed ${first.secret}`,
    previous: { sealed: 'old', until: new Date('2026-11-25T10:00:00Z') },
    updated_at: now,
  })
  const second = rotateSecret(first.change, seal, now)
  expect(second.secret).not.toBe(first.secret)
  expect(second.change.previous.sealed).toBe(`sealed ${first.secret}`)
})
