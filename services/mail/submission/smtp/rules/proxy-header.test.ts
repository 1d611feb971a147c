import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readProxyHeader } from './proxy-header.ts'

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
const V4 = [192, 0, 2, 1, 198, 51, 100, 1, 0x30, 0x39, 0x02, 0x4b]
const V6 = [...[0x20, 0x01, 0x0d, 0xb8], ...Array(11).fill(0), 1, ...Array(16).fill(0), 0x30, 0x39, 0x02, 0x4b]

/** A header of version 2. */
function v2(command: number, family: number, body: readonly number[]): Buffer {
  return Buffer.from([...SIGNATURE, command, family, body.length >> 8, body.length & 255, ...body])
}

const header = (octets: Buffer | string) => readProxyHeader(Buffer.from(octets))

describe('headers', () => {
  test.each([
    ['1, IPv4', Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.1 12345 587\r\n'), '192.0.2.1'],
    ['1, IPv6', Buffer.from('PROXY TCP6 2001:DB8::1 2001:db8::2 12345 587\r\n'), '2001:db8::1'],
    ['1, IPv4 in IPv6', Buffer.from('PROXY TCP6 ::ffff:192.0.2.1 ::1 12345 587\r\n'), '192.0.2.1'],
    ['2, IPv4', v2(0x21, 0x11, V4), '192.0.2.1'],
    ['2, IPv6', v2(0x21, 0x21, V6), '2001:db8::1'],
    ['2, with fields behind the addresses', v2(0x21, 0x11, [...V4, 4, 0, 1, 9]), '192.0.2.1'],
  ])('version %s', (_, octets, address) => {
    expect(header(octets)).toEqual({ kind: 'header', length: octets.length, source: { address, port: 12345 } })
  })

  test.each([
    ['1, unknown', Buffer.from('PROXY UNKNOWN\r\n')],
    ['1, unknown with addresses', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n')],
    ['2, local', v2(0x20, 0x00, [])],
    ['2, local with addresses', v2(0x20, 0x11, V4)],
    ['2, a socket of the file system', v2(0x21, 0x31, Array(216).fill(0))],
  ])('without a source: version %s', (_, octets) => {
    expect(header(octets)).toEqual({ kind: 'header', length: octets.length })
  })

  test.each([
    ['an SMTP command', 'EHLO client\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02'],
    ['other letters', 'proxy TCP4 192.0.2.1 198.51.100.1 1 2\r\n'],
    ['an unknown family', 'PROXY UDP4 192.0.2.1 198.51.100.1 1 2\r\n'],
    ['an address of the other family', 'PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n'],
    ['a number for an address', 'PROXY TCP4 3221225985 198.51.100.1 1 2\r\n'],
    ['a port too high', 'PROXY TCP4 192.0.2.1 198.51.100.1 65536 2\r\n'],
    ['missing parts', 'PROXY TCP4\r\n'],
    ['no end', `PROXY TCP4 ${'1'.repeat(200)}`],
    ['version 3', v2(0x31, 0x11, V4)],
    ['an unknown command', v2(0x22, 0x11, V4)],
    ['too short for its family', v2(0x21, 0x21, V4)],
    ['a length beyond reason', Buffer.from([...SIGNATURE, 0x21, 0x11, 0xff, 0xff])],
  ])('refused: %s', (_, octets) => {
    expect(header(octets)).toMatchObject({ kind: 'error' })
  })

  test('any first part of a header asks for more, and what follows the header does not matter', () => {
    const whole = fc.constantFrom(
      v2(0x21, 0x11, V4),
      v2(0x21, 0x21, V6),
      Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.1 1 2\r\n'),
    )
    fc.assert(
      fc.property(whole, fc.nat(), fc.uint8Array(), (octets, cut, rest) => {
        expect(header(octets.subarray(0, cut % octets.length))).toEqual({ kind: 'more' })
        expect(header(Buffer.concat([octets, rest]))).toEqual(header(octets))
      }),
    )
  })
})
