import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import {
  attachment,
  base64,
  bodyText,
  EMAIL_LIMITS,
  headers,
  headerText,
  instant,
  mailboxes,
  metadata,
  tags,
} from './email-parts.ts'

const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success
/** Places and texts of what is wrong. */
function errorsOf(schema: z.ZodType, value: unknown): string[] {
  const result = validate(schema, value)
  return result.ok ? [] : result.issues.map(({ path, reason }) => `${path.join('.')}: ${inEnglish(reason)}`)
}

describe('base64', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map(list => Buffer.from(list))

  test('of any bytes gives them back, also broken into lines', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 76 }), fc.constantFrom('\n', '\r\n'), (given, width, end) => {
        const text = given.toString('base64')
        expect(base64.parse(text)).toEqual(given)
        const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
        expect(base64.parse(`${lines.join(end)}${end}`)).toEqual(given)
      }),
    )
  })

  test('with one character more, less or of another alphabet is none', () => {
    const filled = bytes.filter(({ length }) => length > 0)
    fc.assert(
      fc.property(filled, fc.nat(), fc.constantFrom('-', '_', ' ', '.', '%', 'ä', '\0', '\t'), (given, at, wrong) => {
        const text = given.toString('base64')
        const place = at % text.length
        expect(takes(base64, `${text.slice(0, place)}${wrong}${text.slice(place + 1)}`)).toBe(false)
        expect(takes(base64, `${text}A`)).toBe(false)
        expect(takes(base64, text.slice(1))).toBe(false)
      }),
    )
  })

  test.each([
    ['', true],
    ['QQ==', true],
    ['QUI=', true],
    ['QUJD', true],
    ['QQ=', false],
    ['QQ', false],
    ['=', false],
    ['====', false],
    ['Q===', false],
    ['QQ==QQ==', false],
    ['QQ==QUJD', false],
    ['Q=Q=', false],
    ['data:text/plain;base64,QQ==', false],
  ])('%j is some: %s', (text, good) => expect(takes(base64, text)).toBe(good))
})

describe('an attachment', () => {
  const file = { filename: 'a.txt', content: 'QQ==' }
  test.each<[string, object, boolean]>([
    ['with its name and content', {}, true],
    ['without a name', { filename: '' }, false],
    ['with a name of 255 characters', { filename: 'x'.repeat(255) }, true],
    ['with a longer one', { filename: 'x'.repeat(256) }, false],
    ['with a line end in its name', { filename: 'a\r\nX: y' }, false],
    ['with a separator of lines in it', { filename: 'a\u2028b' }, false],
    ['with a name in Chinese', { filename: '发票.pdf' }, true],
    ['inline', { disposition: 'inline', content_id: 'logo@example.com' }, true],
    ['of another disposition', { disposition: 'form-data' }, false],
    ['with brackets in its id', { content_id: '<logo>' }, false],
    ['with an address to fetch', { path: 'https://example.com/a.txt' }, false],
  ])('%s is taken or not', (_, change, good) => expect(takes(attachment, { ...file, ...change })).toBe(good))

  test.each([
    ['application/pdf', true],
    ['image/svg+xml', true],
    ['text/plain; charset=utf-8', true],
    ['text/plain;charset="utf 8" ; format=flowed', true],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', true],
    ['multipart/mixed', false],
    ['Multipart/Mixed', false],
    ['message/rfc822', false],
    ['pdf', false],
    ['application/', false],
    ['text/plain\r\nX: y', false],
    ['text/plain; charset="a\nb"', false],
    ['text/plain; charset="a"b"', false],
    ['text/plain; charset', false],
    ['text/plain;', false],
  ])('of the type %j is taken: %s', (content_type, good) => {
    expect(takes(attachment, { ...file, content_type })).toBe(good)
  })
})

describe('further headers', () => {
  test('come out by name, without blanks around their values', () => {
    expect([...headers.parse({ 'X-Campaign': ' spring ', 'List-Id': '' })]).toEqual([
      ['X-Campaign', 'spring'],
      ['List-Id', ''],
    ])
  })

  test.each([
    ...['From', 'to', 'CC', 'Bcc', 'Sender', 'Date', 'Subject', 'Message-ID', 'MIME-Version', 'Reply-To'],
    ...['Return-Path', 'Received', 'Authentication-Results', 'Content-Type', 'content-transfer-encoding'],
    ...['DKIM-Signature', 'DomainKey-Signature', 'ARC-Seal', 'Resent-From', 'X-Idempotency-Key'],
  ])('never set %s', name => {
    expect(errorsOf(headers, { [name]: 'x' })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*The service sets this header`)),
    ])
  })

  test.each(['X-From', 'Subject-Line', 'X-Content-Note', 'Precedence', 'List-Unsubscribe'])('may set %s', name => {
    expect(takes(headers, { [name]: 'x' })).toBe(true)
  })

  test.each(['', 'X Y', 'X:Y', 'X-Ü', 'X\r\nBcc', 'x'.repeat(77)])('have no name like %j', name => {
    expect(takes(headers, { [name]: 'x' })).toBe(false)
  })

  test.each<[string, string, boolean]>([
    ['a line end', 'a\r\nBcc: all@example.com', false],
    ['a NUL', 'a\0', false],
    ['998 characters in words', `${'word '.repeat(199)}abc`, true],
    ['999 characters', 'x '.repeat(500).slice(0, 999), false],
    ['a word of 899', 'x'.repeat(899), true],
    ['a word of 900', 'x'.repeat(900), false],
    ['39 spaces in a row', `a${' '.repeat(39)}b`, true],
    ['40 spaces in a row', `a${' '.repeat(40)}b`, false],
  ])('with %s in a value are taken or not', (_, value, good) => expect(takes(headers, { 'X-A': value })).toBe(good))

  test('have a number and a size', () => {
    const many = (count: number, value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${String(i).padStart(2, '0')}`, value]))
    expect(takes(headers, many(50, 'x'))).toBe(true)
    expect(errorsOf(headers, many(51, 'x'))).toEqual([': must have at most 50 entries'])
    // Each counts its name of four, its value, a colon, a blank and a line end.
    const fits = EMAIL_LIMITS.headerBytes / 32 - 8
    expect(takes(headers, many(32, 'ab '.repeat(200).slice(0, fits)))).toBe(true)
    expect(takes(headers, many(32, 'ab '.repeat(200).slice(0, fits + 1)))).toBe(false)
    expect(takes(headers, many(32, '字 '.repeat(200).slice(0, fits)))).toBe(false)
  })
})

describe('recipients', () => {
  test('are a list, also when there is one', () => {
    const ann = { name: 'Ann', email: 'ann@example.com' }
    expect(mailboxes.parse('Ann <ann@EXAMPLE.com>')).toEqual([ann])
    expect(mailboxes.parse([ann, 'bob@example.com'])).toEqual([ann, { name: '', email: 'bob@example.com' }])
  })

  test('wrong ones are reported each, with their position', () => {
    expect(errorsOf(mailboxes, ['ann@example.com', 'nobody', { email: 'x' }])).toEqual([
      expect.stringMatching(/^1: .*nobody/),
      expect.stringMatching(/^2: .*"x"/),
    ])
    expect(errorsOf(mailboxes, 'nobody')).toEqual([expect.stringMatching(/^: /)])
  })

  test('are fifty at most, and no more than fifty are looked at', () => {
    expect(takes(mailboxes, Array(50).fill('ann@example.com'))).toBe(true)
    expect(errorsOf(mailboxes, [...Array(50).fill('ann@example.com'), 'nobody'])).toEqual([
      ': must have at most 50 entries',
    ])
  })
})

test.each<[string, z.ZodType, unknown, boolean]>([
  ['a subject of 998 characters', headerText(998), 'x'.repeat(998), true],
  ['one more', headerText(998), 'x'.repeat(999), false],
  ['a subject with a tab', headerText(998), 'a\tb', false],
  ['a body that is full to the byte', bodyText, '字'.repeat(EMAIL_LIMITS.text / 4), true],
  ['a body of too many bytes in fewer characters', bodyText, '字'.repeat(EMAIL_LIMITS.text / 2), false],
  ['ten tags', tags, Array(10).fill({ name: 'a', value: 'b' }), true],
  ['eleven', tags, Array(11).fill({ name: 'a', value: 'b' }), false],
  ['a tag with a blank', tags, [{ name: 'a b', value: 'c' }], false],
  ['a tag without a value', tags, [{ name: 'a', value: '' }], false],
  ['a tag with more', tags, [{ name: 'a', value: 'b', c: 'd' }], false],
  ['twenty notes', metadata, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 'v'])), true],
  ['one more note', metadata, Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'v'])), false],
  ['a note of 512 characters', metadata, { k: 'x'.repeat(512) }, true],
  ['a longer one', metadata, { k: 'x'.repeat(513) }, false],
  ['a note under a name with a dot', metadata, { 'a.b': 'x' }, false],
  ['a note that is a number', metadata, { k: 1 }, false],
  ['a time in UTC', instant, '2026-12-24T18:00:00Z', true],
  ['a time with its offset', instant, '2026-12-24T18:00:00+08:00', true],
  ['a time without a zone', instant, '2026-12-24T18:00:00', false],
  ['a day', instant, '2026-12-24', false],
  ['a day that is none', instant, '2026-02-30T00:00:00Z', false],
])('%s is taken or not', (_, schema, value, good) => expect(takes(schema, value)).toBe(good))
