import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineScanner, findLineError } from './line-endings.ts'

const error = (text: string) => findLineError(Buffer.from(text, 'latin1'))

describe('lines of a message', () => {
  test.each([
    ['empty', ''],
    ['one line', 'a\r\n'],
    ['no CRLF at the end', 'a\r\nb'],
    ['empty lines', '\r\n\r\n\r\n'],
    ['998 octets', `${'x'.repeat(998)}\r\n${'y'.repeat(998)}`],
    ['8-bit and controls', 'h\u00e9llo\t\u007f\u0001\r\n'],
    ['a dot alone in the middle', 'a\r\n.\r\nb\r\n'],
  ])('pass: %s', (_, text) => {
    expect(error(text)).toBeUndefined()
  })

  test.each([
    ['bare LF', 'a\nb\r\n', 'bad_line_endings', 1],
    ['bare CR', 'a\rb\r\n', 'bad_line_endings', 1],
    ['LF.LF', 'a\n.\nb\r\n', 'bad_line_endings', 1],
    ['LF.CRLF', 'a\n.\r\nMAIL FROM:<x@y.z>\r\n', 'bad_line_endings', 1],
    ['CRLF.LF', 'a\r\n.\nb\r\n', 'bad_line_endings', 4],
    ['CR.CR', 'a\r.\rb\r\n', 'bad_line_endings', 1],
    ['CRLF.CR', 'a\r\n.\rb\r\n', 'bad_line_endings', 4],
    ['CR.LF', 'a\r.\nb\r\n', 'bad_line_endings', 1],
    ['CR CR LF', 'a\r\r\n', 'bad_line_endings', 1],
    ['CR at the end', 'a\r\nb\r', 'bad_line_endings', 4],
    ['LF at the end', 'a\r\nb\n', 'bad_line_endings', 4],
    ['NUL', 'a\0b\r\n', 'bad_bytes', 1],
    ['999 octets', `ok\r\n${'x'.repeat(999)}\r\n`, 'line_too_long', 4],
    ['999 octets without end', `ok\r\n${'x'.repeat(999)}`, 'line_too_long', 4],
  ])('refused: %s', (_, text, code, at) => {
    expect(error(text)).toEqual({ code, at })
  })

  test('the error is the same for any pieces of the message', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'a', 'x'.repeat(998), 'x'.repeat(999)),
      fc.constantFrom('a\0', 'a\nb', 'a\rb', '\r', '\n'),
    )
    const cuts = fc.array(fc.nat(4000), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), cuts, (lines, places) => {
        const raw = Buffer.from(lines.join('\r\n'))
        const scanner = createLineScanner()
        let start = 0
        for (const end of [...places.filter(place => place < raw.length).toSorted((a, b) => a - b), raw.length]) {
          scanner.scan(raw.subarray(start, end))
          start = end
        }
        expect(scanner.end()).toEqual(findLineError(raw))
      }),
    )
  })

  test('agrees with the definition for any octets, wherever they begin in memory', () => {
    const alphabet = fc.oneof(fc.constantFrom(0, 0x0a, 0x0d, 0x2e), fc.constantFrom(0x01, 0x0e, 0x41, 0x7f, 0x80, 0xff))
    const clean = fc.array(fc.integer({ min: 0x0e, max: 0xff }), { maxLength: 40 })
    fc.assert(
      fc.property(clean, fc.array(alphabet, { maxLength: 40 }), fc.nat(7), (before, octets, offset) => {
        // In memory of its own, which may end within a word.
        const raw = new Uint8Array([...Array(offset).fill(0x41), ...before, ...octets]).subarray(offset)
        const at = Buffer.from(raw)
          .toString('latin1')
          .search(/\0|\r(?!\n)|(?<!\r)\n/)
        expect(findLineError(raw)?.at ?? -1).toBe(at)
      }),
      { numRuns: 2_000 },
    )
  })
})
