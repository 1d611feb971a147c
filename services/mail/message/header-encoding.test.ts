import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inEnglish } from '../../platform/sentences/sentence.ts'
import { encodeHeader, encodingBudget } from './header-encoding.ts'
import { fieldText, parseHeader } from './headers.ts'
import { readMailboxes } from './mailboxes.ts'

/** The header as it goes out, one unfolded field a line; or why the encoder refuses it. */
function encode(message: string | Buffer): string[] | string {
  const raw = Buffer.from(message)
  const header = parseHeader(raw)
  if ('code' in header) throw new Error(inEnglish(header))
  const fields = encodeHeader(raw, header)
  if (!Array.isArray(fields)) return inEnglish(fields)
  return fields.map(({ name, value }) => {
    const written = `${name}:${value}`
    expect(written.split('\r\n').every(line => line.length <= 998 && !/^[ \t]*$/.test(line))).toBe(true)
    return Buffer.from(written.replaceAll('\r\n', ''), 'latin1').toString()
  })
}

const encodeOne = (message: string | Buffer) => {
  const fields = encode(message)
  return typeof fields === 'string' ? fields : fields[0]
}

/** What a reader makes of the first field. */
function read(message: string | Buffer): string {
  const raw = Buffer.from(message)
  const header = parseHeader(raw)
  const fields = 'code' in header ? header : encodeHeader(raw, header)
  const [first] = Array.isArray(fields) ? fields : []
  return first ? fieldText(first) : ''
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const NIHAO = '\xc4\xe3\xba\xc3' // 你好 in GBK

describe('unstructured fields', () => {
  test.each<[message: string | Buffer, expected: string]>([
    ['Subject: hello\r\n\r\n', 'subject: hello'],
    ['Subject: Grüße\r\n\r\n', 'subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
    [
      'Subject: Viele Grüße, Ännchen und alle\r\n\r\n',
      'subject: Viele =?utf-8?Q?Gr=C3=BC=C3=9Fe=2C_=C3=84nnchen?= und alle',
    ],
    ['Subject: 你好\r\n\r\n', 'subject: =?utf-8?B?5L2g5aW9?='],
    [latin1('Subject: Gr\xfc\xdfe\r\n\r\n'), 'subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
    [latin1(`Subject: ${NIHAO}\r\n\r\n`), 'subject: =?utf-8?B?5L2g5aW9?='],
    [
      latin1('Subject: \xd0\xf0\xe8\r\nContent-Type: text/plain; charset="windows-1251"\r\n\r\n'),
      'subject: =?utf-8?B?0KDRgNC4?=',
    ],
    ['X-Note:ü\r\n\r\n', 'x-note:=?utf-8?B?w7w=?='],
    ['Subject: a  ü\tb\r\n\r\n', 'subject: a  =?utf-8?B?w7w=?=\tb'],
    ['Subject: =?utf-8?Q?a?= ü =?utf-8?Q?b?=\r\n\r\n', 'subject: =?utf-8?Q?a?= =?utf-8?Q?_=C3=BC_?= =?utf-8?Q?b?='],
  ])('%s', (message, expected) => {
    expect(encodeOne(message)).toBe(expected)
  })

  test.each([
    'Grüße',
    'über  zwei  Leerzeichen',
    `${'sehr '.repeat(30)}lang: ${'Äpfel und Öl '.repeat(30)}`,
    '你好'.repeat(200),
    '🎉'.repeat(100),
  ])('is read as it was written: %s', text => {
    expect(read(`Subject: ${text.replaceAll(/(.{300})/gu, '$1')}\r\n\r\n`)).toBe(text.trim())
  })

  test('folded text stays the same text, in lines of at most 78 columns', () => {
    const text = `Subject: ${'Grüße an alle '.repeat(20)}\r\n und ${'mehr '.repeat(40)}\r\n\r\n`
    const raw = Buffer.from(text)
    const header = parseHeader(raw)
    const [field] = 'code' in header ? [] : (encodeHeader(raw, header) as { value: string }[])
    expect(`Subject:${field?.value}`.split('\r\n').every(line => line.length <= 78)).toBe(true)
    expect(read(raw)).toBe(text.slice(9, -4).replace('\r\n', '').trim())
  })
})

describe('fields of addresses', () => {
  test.each<[message: string | Buffer, expected: string]>([
    ['From: Jürgen <j@example.org>\r\n\r\n', 'from: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>'],
    ['From: "Müller, Jürgen" <j@example.org>\r\n\r\n', 'from: =?utf-8?Q?M=C3=BCller=2C_J=C3=BCrgen?= <j@example.org>'],
    ['To: j@example.org (Jürgen)\r\n\r\n', 'to: j@example.org (=?utf-8?Q?J=C3=BCrgen?=)'],
    ['To: Ann <a@x.org>, Zoë <z@x.org>\r\n\r\n', 'to: Ann <a@x.org>, =?utf-8?Q?Zo=C3=AB?= <z@x.org>'],
    [
      'To: Gäste: a@x.org, Zoë <z@x.org>;\r\n\r\n',
      'to: =?utf-8?Q?G=C3=A4ste?=: a@x.org, =?utf-8?Q?Zo=C3=AB?= <z@x.org>;',
    ],
    ['Cc: x@bücher.example\r\n\r\n', 'cc: x@xn--bcher-kva.example'],
    ['Cc: Zoë <x@bücher.example>\r\n\r\n', 'cc: =?utf-8?Q?Zo=C3=AB?= <x@xn--bcher-kva.example>'],
    [latin1('Reply-To: Gr\xfc\xdfe <g@x.org>\r\n\r\n'), 'reply-to: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <g@x.org>'],
    [latin1(`Sender: ${NIHAO} <g@x.org>\r\n\r\n`), 'sender: =?utf-8?B?5L2g5aW9?= <g@x.org>'],
    ['From: =?utf-8?Q?a?= ü <j@example.org>\r\n\r\n', 'from: =?utf-8?Q?a_=C3=BC?= <j@example.org>'],
    // A real address in UTF-8 stays: it is what SMTPUTF8 is for.
    ['To: Zoë <zoë@example.org>\r\n\r\n', 'to: =?utf-8?Q?Zo=C3=AB?= <zoë@example.org>'],
    ['To: 用户@例子.example\r\n\r\n', 'to: 用户@xn--fsqu00a.example'],
    // What is no address has nothing to lose.
    ['To: Zoë <zoë>\r\n\r\n', 'to: =?utf-8?Q?Zo=C3=AB?= <zo?>'],
    ['To: Grüße\r\n\r\n', 'to: =?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
    ['To: "Zoë <z@x.org>\r\n\r\n', 'to: =?utf-8?Q?=22Zo=C3=AB?= <z@x.org>'],
    ['List-Id: Grüße <news.example.org>\r\n\r\n', 'list-id: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <news.example.org>'],
  ])('%s', (message, expected) => {
    expect(encodeOne(message)).toBe(expected)
  })

  test('for any From, the addresses are those of the encoded field, in ASCII or valid UTF-8', () => {
    const piece = fc.constantFrom(
      '"',
      '<',
      '>',
      ',',
      '@',
      '(',
      ')',
      ';',
      ':',
      ' ',
      '\\',
      'a',
      'é',
      '好',
      'x@y.example',
      '=?utf-8?Q?z?=',
    )
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 14 }), pieces => {
        const text = pieces.join('').trim() || 'é'
        const written = encodeOne(`From: ${text}\r\n\r\n`)
        if (typeof written !== 'string') throw new Error('no field')
        const before = readMailboxes(text)
        if (before) expect(readMailboxes(written.slice(6))).toEqual(before)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('other fields', () => {
  test.each([
    [
      'Content-Type: text/plain; charset=utf-8; name="Grüße.txt"\r\n\r\n',
      "content-type: text/plain; charset=utf-8; name*=utf-8''Gr%C3%BC%C3%9Fe.txt",
    ],
    [
      'Content-Disposition: attachment; filename=Grüße\r\n\r\n',
      "content-disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe",
    ],
    [
      `Content-Disposition: attachment; filename="${'好'.repeat(12)}"\r\n\r\n`,
      `content-disposition: attachment; filename*0*=utf-8''${'%E5%A5%BD'.repeat(5)}%E5%A5; filename*1*=%BD${'%E5%A5%BD'.repeat(5)}%E5; filename*2*=%A5%BD`,
    ],
    ['Message-ID: <grüße@example.org>\r\n\r\n', 'message-id: <gr%C3%BC%C3%9Fe@example.org>'],
    ['References: <a@b> <grüße@example.org>\r\n\r\n', 'references: <a@b> <gr%C3%BC%C3%9Fe@example.org>'],
    ['List-Unsubscribe: <https://example.org/ü>\r\n\r\n', 'list-unsubscribe: <https://example.org/%C3%BC>'],
    ['Date: Sa, 21 März 2026 10:00:00 +0100\r\n\r\n', 'date: Sa, 21 M?rz 2026 10:00:00 +0100'],
    ['Received: from Müller by x; now\r\n\r\n', 'received: from M?ller by x; now'],
  ])('%s', (message, expected) => {
    expect(encodeOne(message)).toBe(expected)
  })

  test.each([
    ['a boundary that the body repeats', 'Content-Type: multipart/mixed; boundary="grün"\r\n\r\n'],
    ['an identifier that is longer than a line may be', `References: <${'é'.repeat(400)}>\r\n\r\n`],
  ])('refused: %s', (_, message) => {
    expect(encode(message)).toMatch(/^The field [\w-]+ has text beyond ASCII in a place where it cannot be encoded\.$/)
  })

  test('fields in ASCII keep their octets', () => {
    expect(encode('X-A: b\r\n  c \r\nSubject: ü\r\nX-D:e\r\n\r\n')).toEqual([
      'x-a: b  c ',
      'subject: =?utf-8?B?w7w=?=',
      'x-d:e',
    ])
  })

  test('words of any length keep to the longest line; one that does not fit beside its name goes below it', () => {
    const name = `X-${'a'.repeat(190)}`
    expect(encode(`${name}:\r\n ${'b'.repeat(880)}\r\n \u00fc\r\n\r\n`)).toHaveLength(1)
    expect(encode(`${name}:${'b'.repeat(900)} \u00fc\r\n\r\n`)).toMatch(/cannot be encoded\.$/)
  })

  const recipients = (count: number) => ' Zoe <zoe@example.org>,'.repeat(count)

  test.each<[name: string, message: string, refusal: RegExp | undefined]>([
    [
      '66 kB of recipients with one letter beyond ASCII',
      `To:${`${recipients(40)}\r\n`.repeat(72)} \u00fc <a@b>`,
      undefined,
    ],
    ['200 fields', `${'X:\u00fc\r\n'.repeat(199)}X:\u00fc`, undefined],
    [
      '201 fields',
      `${'X:\u00fc\r\n'.repeat(200)}X:\u00fc`,
      /^The header has more than 200 fields with octets beyond ASCII\.$/,
    ],
    ['64 KiB', `X: ${`${'\u00fc'.repeat(256)}\r\n `.repeat(128)}a`, undefined],
    [
      '64 KiB and an octet',
      `X: ${`${'\u00fc'.repeat(256)}\r\n `.repeat(128)}\u00fc`,
      /^The header has more than 65536 octets beyond ASCII\.$/,
    ],
  ])('the limits: %s', (_, message, refusal) => {
    const encoded = encode(`${message}\r\n\r\n`)
    if (refusal) expect(encoded).toMatch(refusal)
    else expect(encoded).toBeInstanceOf(Array)
  })

  test('several headers of one message share its limits', () => {
    const raw = Buffer.from(`${'X:\u00fc\r\n'.repeat(120)}\r\n`)
    const header = parseHeader(raw)
    if ('code' in header) throw new Error(inEnglish(header))
    const budget = encodingBudget()
    expect(encodeHeader(raw, header, new Set(), budget)).toHaveLength(120)
    expect(budget).toEqual({ fields: 80, octets: 65_536 - 240 })
    expect(encodeHeader(raw, header, new Set(), budget)).toMatchObject({ code: 'detail.header_fields_beyond_ascii' })
  })

  test('header text of any shape is encoded, or refused with a reason', () => {
    const lines = ['a '.repeat(400), '"'.repeat(800), '('.repeat(800), '\\'.repeat(800), '=?'.repeat(400)]
    for (const line of [...lines, '; a="'.repeat(180), 'a<'.repeat(400)])
      for (const name of ['Subject', 'To', 'Content-Type', 'Message-ID', 'Received']) {
        const encoded = encode(`${name}: \u00fc\r\n${` ${line}\u00e9\r\n`.repeat(200)}\r\n`)
        if (typeof encoded === 'string') expect(encoded).toMatch(/cannot be encoded\.$/)
        else expect(encoded).toHaveLength(1)
      }
  })
})
