import { createPublicKey, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Certified, certify, pemOf, signJws } from '../../../../test/support/subscriptions/certificate-chain.ts'
import { openJws } from './huawei-jws.ts'

const PURCHASES = '060c2b060104018f5b02831f0101'
const NOW = new Date('2026-11-23T12:00:00Z')
const PAYLOAD = { notificationType: 'TEST', price: 1 }

const root = certify({ name: 'Root', ca: true })
const intermediate = certify({ name: 'Intermediate', issuer: root, ca: true })
const leaf = certify({ name: 'Leaf', issuer: intermediate, ca: false, markOid: PURCHASES })
const chain: [Certified, ...Certified[]] = [leaf, intermediate, root]
const open = (jws: string) => openJws(jws, pemOf(root), NOW)

/** A JWS with a header, a payload and a signature of our choice; by default the leaf signs them with P-256. */
function forge(header: object, payload: string = JSON.stringify(PAYLOAD), signature?: Buffer): string {
  const x5c = chain.map(({ der }) => der.toString('base64'))
  const parts = [JSON.stringify({ alg: 'ES256', x5c, ...header }), payload]
  const text = parts.map(part => Buffer.from(part).toString('base64url')).join('.')
  const key = { key: leaf.privateKey, dsaEncoding: 'ieee-p1363' as const }
  return `${text}.${(signature ?? sign('sha256', Buffer.from(text), key)).toString('base64url')}`
}

test('the payload of a JWS that leads to the root is returned', async () => {
  expect(await open(signJws(PAYLOAD, chain))).toEqual(PAYLOAD)
  expect(await open(forge({}))).toEqual(PAYLOAD)
})

const stranger = certify({ name: 'Root', ca: true })
const strangersIntermediate = certify({ name: 'Intermediate', issuer: stranger, ca: true })
const strangersLeaf = certify({ name: 'Leaf', issuer: strangersIntermediate, ca: false, markOid: PURCHASES })
const noAuthority = certify({ name: 'Intermediate', issuer: root, ca: false })
const unmarked = certify({ name: 'Leaf', issuer: intermediate, ca: false })
const expired = certify({
  ...{ name: 'Leaf', issuer: intermediate, ca: false, markOid: PURCHASES },
  notAfter: new Date('2026-11-23T11:59:59Z'),
})

test.each<[string, [Certified, ...Certified[]]]>([
  ['another root', [strangersLeaf, strangersIntermediate, stranger]],
  ['our root after the chain of another', [strangersLeaf, strangersIntermediate, root]],
  ['two certificates', [leaf, root]],
  [
    'an intermediate that may not sign',
    [certify({ name: 'Leaf', issuer: noAuthority, ca: false, markOid: PURCHASES }), noAuthority, root],
  ],
  ['a leaf that is not for purchases', [unmarked, intermediate, root]],
  ['a leaf that has expired', [expired, intermediate, root]],
])('a chain is refused as forged: %s', async (_, signers) => {
  await expect(open(signJws(PAYLOAD, signers))).rejects.toMatchObject({ name: 'NoticeRefused', reason: 'forged' })
})

const [head = '', , signature = ''] = signJws(PAYLOAD, chain).split('.')
const otherPayload = Buffer.from(JSON.stringify({ ...PAYLOAD, price: 2 })).toString('base64url')
const publicPem = createPublicKey(leaf.privateKey).export({ type: 'spki', format: 'der' })

test.each([
  ['another payload', `${head}.${otherPayload}.${signature}`],
  ['a signature of zeros', forge({}, undefined, Buffer.alloc(64))],
  ['a signature in DER', forge({}, undefined, sign('sha256', Buffer.from('x'), leaf.privateKey))],
  ['no signature', forge({ alg: 'none' }, undefined, Buffer.alloc(0))],
  ['a MAC with the public key', forge({ alg: 'HS256' }, undefined, publicPem)],
  ['another curve', forge({ alg: 'ES384' })],
  ['a critical field that is not known', forge({ crit: ['exp'], exp: 1 })],
  ['no chain', forge({ x5c: undefined })],
])('a signature is refused as forged: %s', async (_, jws) => {
  await expect(open(jws)).rejects.toMatchObject({ name: 'NoticeRefused', reason: 'forged' })
})

test.each([
  ['nothing', ''],
  ['one part', head],
  ['two parts', `${head}.${otherPayload}`],
  ['four parts', `${head}.${otherPayload}.${signature}.x`],
  ['a header that is not JSON', `eA.${otherPayload}.${signature}`],
  ['a payload that is not JSON', forge({}, 'text')],
  ['a payload that is not encoded (RFC 7797)', forge({ crit: ['b64'], b64: false })],
  ['a certificate that is none', forge({ x5c: ['AAAA', 'AAAA', 'AAAA'] })],
])('is refused as malformed: %s', async (_, jws) => {
  await expect(open(jws)).rejects.toMatchObject({ name: 'NoticeRefused', reason: 'malformed' })
})
