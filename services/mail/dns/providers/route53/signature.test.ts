import { expect, test } from 'vitest'
import { canonicalQuery } from '../request-signing.ts'
import { signAws } from './signature.ts'

/** The examples of AWS's test suite for Signature Version 4. */
const KEYS = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const NOW = new Date('2015-08-30T12:36:00Z')
const request = {
  ...{ method: 'GET', host: 'example.amazonaws.com', path: '/', query: '', body: '' },
  ...{ region: 'us-east-1', service: 'service' },
}

test.each([
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    { query: canonicalQuery({ Param2: 'value2', Param1: 'value1' }) },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
])('%s has the published signature', (_, change, signature) => {
  const { authorization } = signAws({ ...request, ...change }, KEYS, NOW)
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  )
})

test('a session token and further headers are signed', () => {
  const signed = signAws({ ...request, headers: { 'content-type': 'application/xml' } }, { ...KEYS, token: 't' }, NOW)
  expect(signed['x-amz-security-token']).toBe('t')
  expect(signed.authorization).toContain('SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,')
})

test('a query is sorted and encoded completely', () => {
  expect(canonicalQuery({ name: "a*b.example.com'()!", b: 'ü', a: ' ' })).toBe(
    'a=%20&b=%C3%BC&name=a%2Ab.example.com%27%28%29%21',
  )
})
