import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeTransfer } from './mime-reader.ts'
import { decodeQuotedPrintable, encodeBase64, encodeQuotedPrintable, STEP_CHARACTERS } from './transfer-encoding.ts'

const base64 = (content: Buffer) => Buffer.concat([...encodeBase64(content)]).toString('latin1')
const quoted = (content: Buffer) => Buffer.concat([...encodeQuotedPrintable(content)]).toString('latin1')
const latin1 = (text: string) => Buffer.from(text, 'latin1')

test.each([
  ['', ''],
  ['plain\r\ntext\r\n', 'plain\r\ntext\r\n'],
  ['caf\xe9 = 1\r\n', 'caf=E9 =3D 1\r\n'],
  ['blank \r\ntab\t\r\nend ', 'blank=20\r\ntab=09\r\nend=20'],
  ['From here\r\nFrom: x', '=46rom here\r\nFrom: x'],
  ['--x--\r\n-\r\n- a\r\na--', '=2D-x--\r\n-\r\n- a\r\na--'],
  [`${'x'.repeat(75)}--b and more`, `${'x'.repeat(75)}=\r\n=2D-b and more`],
  [`${'x'.repeat(75)}From here on`, `${'x'.repeat(75)}=\r\n=46rom here on`],
  ['-'.repeat(100), `=2D${'-'.repeat(72)}=\r\n=2D${'-'.repeat(26)}`],
  ['a\nb\rc\0', 'a=0Ab=0Dc=00'],
  ['x'.repeat(76), 'x'.repeat(76)],
  ['x'.repeat(77), `${'x'.repeat(75)}=\r\nxx`],
  [`${'x'.repeat(74)}\xe9\xe9`, `${'x'.repeat(74)}=\r\n=E9=E9`],
])('quoted-printable of %j', (text, expected) => {
  expect(quoted(latin1(text))).toBe(expected)
})

describe.each([
  ['base64', base64],
  ['quoted-printable', quoted],
] as const)('%s', (name, encode) => {
  const octets = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.array(fc.constantFrom(13, 10, 32, 45, 61, 65, 233), { maxLength: 300 }),
  )
  const check = (content: Buffer) => {
    const encoded = encode(content)
    expect(encoded).toMatch(/^[\t\r\n -~]*$/)
    expect(encoded.split('\r\n').every(line => line.length <= 76 && !/[\t ]$|^--|^From /.test(line))).toBe(true)
    expect(decodeTransfer(encoded, name)).toEqual(content)
  }

  test('is read again as what it was, in lines of at most 76 characters', () => {
    fc.assert(fc.property(octets, given => check(Buffer.from(given))))
  })

  test('large contents come in pieces', () => {
    check(latin1(`${'line with \xe9 and \xfc \r\n'.repeat(10_000)}`))
    check(latin1('\xe9'.repeat(200_000)))
    const pieces =
      name === 'base64' ? encodeBase64(Buffer.alloc(300_000)) : encodeQuotedPrintable(Buffer.alloc(300_000))
    expect([...pieces].length).toBeGreaterThan(4)
  })
})

test('quoted-printable is decoded in steps that divide no octet and no soft break', () => {
  const token = fc.constantFrom('=', '=C3', 'C', '3', '\r\n', '\n', ' ', '\t', '=\r\n', '= \r\n', '=3=\r\nD', 'x', 'g')
  const at = fc.integer({ min: 0, max: 60 })
  const decode = (text: string) => Buffer.concat([...decodeQuotedPrintable(text)]).toString('latin1')
  fc.assert(
    fc.property(fc.array(token, { minLength: 30, maxLength: 60 }), at, (tokens, before) => {
      const [padding, text] = ['x'.repeat(STEP_CHARACTERS - before), tokens.join('')]
      expect(decode(padding + text) === padding + decode(text)).toBe(true)
    }),
  )
  expect([...decodeQuotedPrintable('=3D=\r\n'.repeat(STEP_CHARACTERS))].length).toBeGreaterThanOrEqual(6)
})
