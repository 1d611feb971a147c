import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inEnglish } from '../../platform/sentences/sentence.ts'
import { fieldText, parseHeader } from './headers.ts'

const parse = (text: string) => parseHeader(Buffer.from(text))

function fieldsOf(text: string) {
  const header = parse(text)
  if ('code' in header) throw new Error(inEnglish(header))
  return header.fields.map(({ name, value }) => [name, value])
}

describe('reading a header', () => {
  test.each([
    ['one field', 'A: b\r\n\r\nbody', [['a', ' b']]],
    [
      'folded fields keep their folding',
      'A: b\r\n c\r\nD:e\r\n\r\n',
      [
        ['a', ' b\r\n c'],
        ['d', 'e'],
      ],
    ],
    ['no body', 'A: b\r\n', [['a', ' b']]],
    ['no CRLF at all', 'A: b', [['a', ' b']]],
    ['nothing but a body', '\r\nA: b\r\n', []],
    [
      'names that objects have',
      '__proto__: x\r\nconstructor: y\r\n\r\n',
      [
        ['__proto__', ' x'],
        ['constructor', ' y'],
      ],
    ],
    ['an empty value', 'A:\r\n\r\n', [['a', '']]],
  ])('%s', (_, text, expected) => {
    expect(fieldsOf(text)).toEqual(expected)
  })

  test.each([
    ['a line without colon', 'A: b\r\nhello\r\n\r\n'],
    ['white space before the colon', 'From : a@b.c\r\n\r\n'],
    ['a first line that continues nothing', ' A: b\r\n\r\n'],
    ['an empty name', ': b\r\n\r\n'],
    ['a name with a letter beyond ASCII', 'Fröm: b\r\n\r\n'],
    ['a folded line of white space', 'A: b\r\n \r\n c\r\n\r\n'],
    ['a folded line of white space at the end', 'A: b\r\n\t\r\n\r\n'],
    ['a header of 256 KiB', `A: ${'x'.repeat(262_144)}\r\n\r\n`],
  ])('refused: %s', (_, text) => {
    expect(parse(text)).toMatchObject({ code: expect.stringMatching(/^detail\.header_/) })
  })

  test('fields are places in the message: together they are the header', () => {
    const names = fc.stringMatching(/^[!-9;-~]{1,10}$/)
    const values = fc.stringMatching(/^[ -~]{0,20}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values), { minLength: 1, maxLength: 8 }), fc.string(), (given, body) => {
        const text = given.map(([name, value]) => `${name}:${value}\r\n`).join('')
        const raw = Buffer.from(`${text}\r\n${body}`)
        const header = parseHeader(raw)
        if ('code' in header) throw new Error(inEnglish(header))
        expect(header.length).toBe(text.length + 2)
        expect(header.fields.map(({ start, end }) => raw.toString('latin1', start, end)).join('')).toBe(text)
        expect(header.fields.map(({ name }) => name)).toEqual(given.map(([name]) => name.toLowerCase()))
      }),
    )
  })
})

describe('the text of a field', () => {
  test.each([
    ['plain', ' hello ', 'hello'],
    ['folded', ' hello\r\n\tworld', 'hello\tworld'],
    ['raw UTF-8', ' grüße', 'grüße'],
    ['base64 word', ' =?utf-8?B?Z3LDvMOfZQ==?=', 'grüße'],
    ['quoted word', ' =?iso-8859-1?q?gr=FC=DFe_an?= dich', 'grüße an dich'],
    ['neighbouring words join', ' =?utf-8?q?a?=\r\n =?utf-8?q?b?= c', 'ab c'],
    ['a language tag', ' =?utf-8*en?q?a?=', 'a'],
    ['Chinese', ' =?gb2312?B?xOO6ww==?=', '你好'],
    ['an unknown charset stays', ' =?x-none?q?a?=', '=?x-none?q?a?='],
    [
      'words in the eleventh charset of a text stay',
      Array.from({ length: 10 }, (_, n) => ` =?x${n}?q?a?= b`).join('') + ' =?utf-8?q?a?= b'.repeat(2),
      `${Array.from({ length: 10 }, (_, n) => `=?x${n}?q?a?= b`).join(' ')} =?utf-8?q?a?= b =?utf-8?q?a?= b`,
    ],
    ['words in one charset, whatever its letters', ' =?utf-8?q?a?= b =?UTF-8?q?c?='.repeat(3), 'a b ca b ca b c'],
    ['a broken word stays', ' =?utf-8?q?a b?=', '=?utf-8?q?a b?='],
  ])('%s', (_, value, expected) => {
    const header = parse(`Subject:${value}\r\n\r\n`)
    const [field] = 'code' in header ? [] : header.fields
    expect(field && fieldText(field)).toBe(expected)
  })
})
