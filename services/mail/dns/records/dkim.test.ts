import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { dkimName, dkimRecord, evaluateDkim, publicKeyValue, rsaBits } from './dkim.ts'

const rsa = publicKeyValue(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)
const weak = publicKeyValue(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)
const ed25519 = publicKeyValue(generateKeyPairSync('ed25519').publicKey)

test('a record has the length that fits every provider', () => {
  expect(dkimRecord('rsa-sha256', rsa)).toHaveLength(410)
  expect(dkimRecord('ed25519-sha256', ed25519)).toBe(`v=DKIM1; k=ed25519; p=${ed25519}`)
  expect(Buffer.from(ed25519, 'base64')).toHaveLength(32)
  expect(dkimName('s1', 'example.com')).toBe('s1._domainkey.example.com')
})

test('the RSA value is the key itself', () => {
  const key = createPublicKey({ key: Buffer.from(rsa, 'base64'), format: 'der', type: 'spki' })
  expect(publicKeyValue(key)).toBe(rsa)
  expect(rsaBits(rsa)).toBe(2048)
  expect(rsaBits('AAAA')).toBeUndefined()
})

describe('what panels make of a record still counts', () => {
  test.each([
    ['as published', dkimRecord('rsa-sha256', rsa)],
    ['blanks stripped', `v=DKIM1;k=rsa;p=${rsa}`],
    ['trailing semicolon', `v=DKIM1; k=rsa; p=${rsa};`],
    ['without v and k', `p=${rsa}`],
    ['folded key', `v=DKIM1; k=rsa; p=${rsa.slice(0, 100)} ${rsa.slice(100)}`],
    ['extra tags', `v=DKIM1; n=our key; h=sha1:sha256; s=email; k=rsa; p=${rsa}`],
    ['upper-case tag', `V=DKIM1; K=rsa; P=${rsa}`],
  ])('%s', (_, txt) => expect(evaluateDkim(txt, 'rsa-sha256', rsa)).toEqual({ kind: 'same', warnings: [] }))
})

describe('what does not count', () => {
  test.each([
    ['another key', dkimRecord('rsa-sha256', weak), 'other_key'],
    ['an empty key', 'v=DKIM1; k=rsa; p=', 'revoked'],
    ['no key tag', 'v=DKIM1; k=rsa', 'invalid'],
    ['another version', `v=DKIM2; p=${rsa}`, 'invalid'],
    ['another key type', `v=DKIM1; k=ed25519; p=${rsa}`, 'invalid'],
    ['only sha1', `v=DKIM1; h=sha1; p=${rsa}`, 'invalid'],
    ['another service', `v=DKIM1; s=tlsrpt; p=${rsa}`, 'invalid'],
    ['a wildcard answer', 'v=spf1 -all', 'invalid'],
    ['quotes inside the key', `v=DKIM1; k=rsa; p=${rsa.slice(0, 200)}" "${rsa.slice(200)}`, 'invalid'],
    ['quotes around the record', `"v=DKIM1; k=rsa; p=${rsa}"`, 'invalid'],
    ['a backslash behind the key', `v=DKIM1\\; k=rsa\\; p=${rsa}\\`, 'invalid'],
    ['a backslash in the key', `v=DKIM1; k=rsa; p=${rsa}\\`, 'invalid'],
    ['a key in the alphabet of URLs', `v=DKIM1; k=rsa; p=${rsa.replaceAll('+', '-').replaceAll('/', '_')}`, 'invalid'],
    ['a tag twice', `v=DKIM1; p=${rsa}; p=${rsa}`, 'invalid'],
    ['prose', 'hello; world', 'invalid'],
  ])('$0 is $2', (_, txt, kind) => expect(evaluateDkim(txt, 'rsa-sha256', rsa).kind).toBe(kind))
})

test('a test flag and a short key are warned of', () => {
  const verdict = evaluateDkim(`v=DKIM1; t=y:s; p=${weak}`, 'rsa-sha256', weak)
  expect(verdict).toMatchObject({
    kind: 'same',
    warnings: [{ code: 'dns.dkim_testing' }, { code: 'dns.dkim_short_key', params: { bits: 1024 } }],
  })
})
