import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { destinationKey, MAX_DESTINATIONS, reportDestinationsOf } from './tls-reporting-record.ts'

const keysOf = (...records: string[]) => reportDestinationsOf(records).map(destinationKey)

describe('a valid record', () => {
  test.each<[string, string, string[]]>([
    ['of the RFC, mail', 'v=TLSRPTv1;rua=mailto:reports@example.com', ['mailto:reports@example.com']],
    [
      'of the RFC, HTTPS',
      'v=TLSRPTv1; rua=https://reporting.example.com/v1/tlsrpt',
      ['https://reporting.example.com/v1/tlsrpt'],
    ],
    [
      'with both, blanks and a delimiter at its end',
      'v=TLSRPTv1 \t; rua=mailto:a@example.com , https://b.example/x ;',
      ['mailto:a@example.com', 'https://b.example/x'],
    ],
    ['with a field of later documents', 'v=TLSRPTv1; x-1=%21/y; rua=mailto:a@example.com', ['mailto:a@example.com']],
    ['with an encoded address', 'v=TLSRPTv1; rua=mailto:a%2Bb%21c@Example.COM', ['mailto:a+b!c@example.com']],
    [
      'with header fields in the URI',
      'v=TLSRPTv1; rua=mailto:a@example.com?subject=x&bcc=v@c.example',
      ['mailto:a@example.com'],
    ],
    [
      'with a scheme in capitals',
      'v=TLSRPTv1; rua=MAILTO:a@example.com,HTTPS://B.example/',
      ['mailto:a@example.com', 'https://b.example/'],
    ],
    ['with another scheme', 'v=TLSRPTv1; rua=ftp://a.example/,mailto:a@example.com', ['mailto:a@example.com']],
    [
      'with one destination twice',
      'v=TLSRPTv1; rua=mailto:a@example.com,mailto:a@EXAMPLE.com',
      ['mailto:a@example.com'],
    ],
    ['with plain HTTP', 'v=TLSRPTv1; rua=http://a.example/', []],
    ['with a login in its URL', 'v=TLSRPTv1; rua=https://u:p@a.example/', []],
    ['with a fragment', 'v=TLSRPTv1; rua=https://a.example/x#y', ['https://a.example/x']],
    ['with two addresses in one URI', 'v=TLSRPTv1; rua=mailto:a@example.com%2Cb@example.com', []],
    ['with a line end in the address', 'v=TLSRPTv1; rua=mailto:a%0d%0aBcc:b@example.com', []],
    ['with an address literal', 'v=TLSRPTv1; rua=mailto:a@[127.0.0.1]', []],
    ['with a broken encoding', 'v=TLSRPTv1; rua=mailto:a%ff%@example.com', []],
    ['with an address that needs SMTPUTF8', 'v=TLSRPTv1; rua=mailto:%C3%BC@example.com', []],
  ])('%s', (_, record, expected) => {
    expect(keysOf(record)).toEqual(expected)
  })

  test('of several destinations gives the first five', () => {
    const uris = Array.from({ length: 200 }, (_, n) => `mailto:a${n}@example.com`)
    expect(keysOf(`v=TLSRPTv1; rua=${uris.join(',')}`)).toEqual(uris.slice(0, MAX_DESTINATIONS))
  })

  test('among other records counts, two do not', () => {
    const record = 'v=TLSRPTv1; rua=mailto:a@example.com'
    expect(keysOf('v=spf1 -all', record, 'v=TLSRPTv2; rua=mailto:b@example.com')).toEqual(['mailto:a@example.com'])
    expect(keysOf(record, record)).toEqual([])
    expect(keysOf(record, 'v=TLSRPTv1; nonsense')).toEqual([])
  })
})

describe('a record that asks for nothing', () => {
  test.each([
    ['without a field', 'v=TLSRPTv1'],
    ['with no destination', 'v=TLSRPTv1;'],
    ['with an empty list', 'v=TLSRPTv1; rua='],
    ['with an empty entry', 'v=TLSRPTv1; rua=mailto:a@example.com,'],
    ['of another version', 'v=TLSRPTv11; rua=mailto:a@example.com'],
    ['in lower case', 'v=tlsrptv1; rua=mailto:a@example.com'],
    ['with a blank before it', ' v=TLSRPTv1; rua=mailto:a@example.com'],
    ['with its version later', 'rua=mailto:a@example.com; v=TLSRPTv1;'],
    ['with a field without a value', 'v=TLSRPTv1; rua=mailto:a@example.com; x'],
    ['with an empty field in between', 'v=TLSRPTv1;; rua=mailto:a@example.com'],
    ['with a blank in a URI', 'v=TLSRPTv1; rua=mailto:a@exam ple.com'],
    ['with the limit of DMARC', 'v=TLSRPTv1; rua=mailto:a@example.com!10m'],
    ['with a URI without a scheme', 'v=TLSRPTv1; rua=a@example.com'],
    ['of a thousand destinations', `v=TLSRPTv1; rua=${'mailto:a@example.com,'.repeat(999)}mailto:a@example.com`],
    ['of one long URL', `v=TLSRPTv1; rua=https://a.example/${'x'.repeat(2_100)}`],
    ['of 64 KiB', `v=TLSRPTv1; rua=https://a.example/${'%41'.repeat(21_000)}`],
  ])('%s', (_, record) => {
    expect(keysOf(record)).toEqual([])
  })
})

test('whatever the texts are, each destination can be used', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string().map(uri => `v=TLSRPTv1; rua=mailto:${uri}`),
    fc.webUrl().map(uri => `v=TLSRPTv1; rua=${uri}`),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), records => {
      for (const destination of reportDestinationsOf(records)) {
        if (destination.kind === 'https') expect(new URL(destination.url).protocol).toBe('https:')
        else expect(destination.address).toMatch(/^[\x21-\x7e]+@[a-z\d.-]+$|^"[\x20-\x7e]+"@[a-z\d.-]+$/)
      }
    }),
  )
})
