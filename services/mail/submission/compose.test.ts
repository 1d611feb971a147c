import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { turnsDuring } from '../../../test/support/time/event-loop-turns.ts'
import { fieldText, parseHeader } from '../message/headers.ts'
import { readMime } from '../message/mime-reader.ts'
import { compose } from './compose.ts'
import { type EmailInput, emailRequest } from './rules/email-request.ts'
import { readMessage } from './rules/validate-message.ts'

const STAMP = { messageId: '<m1@example.com>', date: new Date('2026-11-21T12:00:00Z') }
const minimal: EmailInput = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }

async function composed(fields: Partial<EmailInput> = {}): Promise<{ raw: string; head: string; bytes: Buffer }> {
  const bytes = await compose(emailRequest.parse({ ...minimal, ...fields }), STAMP)
  const raw = bytes.toString('latin1')
  return { raw, bytes, head: raw.slice(0, raw.indexOf('\r\n\r\n') + 2) }
}

test('the four old fields make exactly this message', async () => {
  expect((await composed()).raw).toBe(
    [
      'From: ann@example.com',
      'To: bob@example.net',
      'Subject: Hello',
      'Message-ID: <m1@example.com>',
      'Date: Sat, 21 Nov 2026 12:00:00 +0000',
      'Content-Transfer-Encoding: 7bit',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Hi',
      '',
    ].join('\r\n'),
  )
})

describe('no field makes a line that receivers refuse', () => {
  const longest = (raw: string) => Math.max(...raw.split('\r\n').map(line => line.length))

  test.each([
    ['one word of 998 letters', 'a'.repeat(998)],
    ['a long word among others', `see ${'x'.repeat(960)} there`],
    ['998 letters of another script', '中'.repeat(998)],
    ['two words far apart', `a${' '.repeat(900)}b`],
  ])('a subject of %s is sent completely', async (_, subject) => {
    const { head, bytes } = await composed({ subject })
    expect(longest(head)).toBeLessThanOrEqual(998)
    const header = parseHeader(bytes)
    const field = 'code' in header ? undefined : header.fields.find(({ name }) => name === 'subject')
    expect(field && fieldText(field)).toBe(subject)
  })

  test('a subject of short words stays readable on the wire', async () => {
    const subject = 'word '.repeat(190).trim()
    expect((await composed({ subject })).head.replaceAll('\r\n ', ' ')).toContain(`Subject: ${subject}\r\n`)
  })

  test('whatever the fields hold', async () => {
    const unit = fc.constantFrom('a', ' ', '"', ',', '<', '=', '?', 'é', '中', '😀')
    const word = fc.string({ unit, maxLength: 998 })
    const run = (text: string) => fc.integer({ min: 0, max: 998 }).map(n => text.repeat(n))
    const value = fc
      .array(fc.oneof(word, run('x'), run(' ')), { maxLength: 4 })
      .map(parts => parts.join('').slice(0, 998))
    await fc.assert(
      fc.asyncProperty(value, value, value, value, async (subject, header, name, filename) => {
        const given = {
          ...minimal,
          from: { email: 'ann@example.com', name: name.slice(0, 255) },
          subject,
          headers: { 'X-Trace-Of-Something-With-A-Long-Name': header },
          attachments: [{ filename: filename.slice(0, 255) || 'a', content: '' }],
        }
        const parsed = emailRequest.safeParse(given)
        // Only what cannot be folded is refused, and the error names its field.
        if (!parsed.success) {
          expect(header).toMatch(/[!-~]{900}| {40}/)
          expect(parsed.error.issues.map(({ path }) => path.join('/'))).toEqual([
            'headers/X-Trace-Of-Something-With-A-Long-Name',
          ])
          return
        }
        const bytes = await compose(parsed.data, STAMP)
        const raw = bytes.toString('latin1')
        expect(readMessage(bytes, 1_000_000)).toMatchObject({ from: ['ann@example.com'] })
        expect(longest(raw)).toBeLessThanOrEqual(998)
        expect(raw).not.toMatch(/[^\r]\n|\r[^\n]/)
      }),
    )
  })
})

describe('bodies arrive as they were given', () => {
  const long = 'y'.repeat(5000)
  test.each<[string, string, string]>([
    ['short lines', 'one\r\ntwo\r\n', '7bit'],
    ['other line ends', 'one\ntwo\rthree\r\nfour\r\n', '7bit'],
    ['a long line', `${long}\r\n`, 'quoted-printable'],
    ['some accents', `café ${'x'.repeat(50)}\r\n`, 'quoted-printable'],
    ['another script', `${'中文'.repeat(40)}\r\n`, 'base64'],
    ['control characters', 'bell\u0007 nul\u0000 tab\t\r\n', 'quoted-printable'],
    ['a lone dot and a From line', '.\r\n..\r\nFrom me\r\n', '7bit'],
    ['nothing', '\r\n', '7bit'],
  ])('%s', async (_, text, encoding) => {
    const { head, bytes, raw } = await composed({ text })
    expect(head.toLowerCase()).toContain(`content-transfer-encoding: ${encoding}\r\n`)
    expect(readMime(bytes).text?.trimEnd()).toBe(text.replaceAll(/\r\n?|\n/g, '\r\n').trimEnd())
    expect(raw).not.toMatch(/[^\r]\n|\r[^\n]/)
    for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  test('text and html become alternatives, text first', async () => {
    const { head, bytes, raw } = await composed({ text: 'plain', html: '<p>grün</p>' })
    expect(head).toMatch(/Content-Type: multipart\/alternative;\s+boundary="?[^"]+"?/)
    expect(readMime(bytes)).toMatchObject({ text: 'plain', html: '<p>grün</p>' })
    expect(raw.indexOf('text/plain')).toBeLessThan(raw.indexOf('text/html'))
    expect(raw).toMatch(/--\r\n$/)
  })

  test('html alone is one part', async () => {
    const { head, bytes } = await composed({ text: undefined, html: '<p>x</p>' })
    expect(head).toContain('Content-Type: text/html; charset=utf-8')
    expect(readMime(bytes).html?.trim()).toBe('<p>x</p>')
  })

  test('empty text and html are parts all the same', async () => {
    expect(readMime((await composed({ text: '', html: '' })).bytes)).toMatchObject({ text: '', html: '' })
  })
})

describe('headers', () => {
  test('Bcc is in none of them', async () => {
    const { raw } = await composed({ bcc: 'secret@example.org', cc: 'carl@example.org' })
    expect(raw).not.toMatch(/secret|^bcc:/im)
    expect(raw).toContain('Cc: carl@example.org\r\n')
  })

  test.each<[string, Partial<EmailInput>, string]>([
    ['a plain name', { from: 'Ann Lee <ann@example.com>' }, 'From: Ann Lee <ann@example.com>\r\n'],
    [
      'a name with a comma',
      { from: { name: 'Lee, Ann', email: 'ann@example.com' } },
      'From: "Lee, Ann" <ann@example.com>\r\n',
    ],
    [
      'a name that looks like an address',
      { from: { name: 'eve@evil.example', email: 'ann@example.com' } },
      'From: "eve@evil.example" <ann@example.com>\r\n',
    ],
    [
      'a name in another script',
      { from: '李安 <ann@example.com>' },
      'From: =?UTF-8?B?5p2O5a6J?= <ann@example.com>\r\n',
    ],
    ['several recipients', { to: ['a@x.example', 'B <b@x.example>'] }, 'To: a@x.example, B <b@x.example>\r\n'],
    ['reply_to', { reply_to: 'r@x.example' }, 'Reply-To: r@x.example\r\n'],
    ['a subject with accents', { subject: 'Grüße' }, 'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=\r\n'],
    ['an own header', { headers: { 'X-Order': '42' } }, 'X-Order: 42\r\n'],
    ['a header named like a prototype', { headers: { constructor: 'x' } }, 'constructor: x\r\n'],
  ])('%s', async (_, fields, line) => {
    const { head } = await composed(fields)
    expect(head.toLowerCase()).toContain(line.toLowerCase())
  })

  test('a long subject is folded and reads back completely', async () => {
    const subject = 'word '.repeat(190).trim()
    const { head } = await composed({ subject })
    expect(head.split('\r\n').every(line => line.length <= 78)).toBe(true)
    expect(head.replaceAll(/\r\n(?=[ \t])/g, '')).toContain(`Subject: ${subject}`)
  })
})

test('attachments come along whole, inline ones beside the html', async () => {
  const content = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))
  const { raw, bytes } = await composed({
    html: '<img src="cid:logo">',
    attachments: [
      { filename: 'data.bin', content: content.toString('base64') },
      {
        filename: 'logo.png',
        content: 'iVBORw==',
        content_type: 'image/png',
        content_id: 'logo',
        disposition: 'inline',
      },
      { filename: 'résumé.txt', content: 'YQ==', content_type: 'text/plain; charset=utf-8' },
    ],
  })
  expect(raw).toMatch(/Content-Type: multipart\/mixed/)
  expect(raw).toMatch(/Content-Type: multipart\/related/)
  expect(raw.replaceAll('\r\n', '')).toContain(content.toString('base64'))
  expect([...readMime(bytes).images.keys()]).toEqual(['logo'])
  expect(raw).toMatch(/filename\*0\*=utf-8''r%C3%A9sum%C3%A9.txt/i)
})

test('content that names a file or an address is only text', async () => {
  const { bytes } = await composed({ text: 'file:///etc/passwd', html: 'http://127.0.0.1/x' })
  expect(readMime(bytes)).toMatchObject({ text: 'file:///etc/passwd', html: 'http://127.0.0.1/x' })
})

describe('a large message, which is encoded in pieces,', () => {
  test.each<[string, string]>([
    ['Latin text', 'The quick brown fox jumps. '],
    ['umlauts', 'Grüße aus der Ferne, '],
    ['another script', '中文的一段话，'],
    ['line ends of three kinds', 'a\nb\r\nc\rd '],
    ['nothing but line feeds', '\n'],
    ['spaces before line ends', 'end   \n\t\n'],
    ['one long line', 'x'],
    ['characters of four octets', '😀é'],
  ])('contains the given text: %s', async (_, piece) => {
    const text = piece.repeat(Math.ceil(150_000 / piece.length))
    const { bytes } = await composed({ text, html: `<p>${text}</p>` })
    const read = readMime(bytes)
    const lines = (given: string) => given.replaceAll(/\r\n?|\n/g, '\r\n').trimEnd()
    expect(lines(read.text ?? '')).toBe(lines(text))
    expect(lines(read.html ?? '')).toBe(lines(`<p>${text}</p>`))
    expect(typeof readMessage(bytes, 1e9)).toBe('object')
    expect(readMessage(bytes, 1e9)).not.toHaveProperty('code')
  })

  test('is the same to the octet as one that is encoded in one step', async () => {
    const text = 'Grüße, und noch etwas mehr Text. '.repeat(20).trim()
    const attachments = [1, 56, 57, 58, 1_000].map(size => ({
      filename: `${size}.bin`,
      content: Buffer.alloc(size, 'Hello, Wörld').toString('base64'),
    }))
    const padding = { filename: 'padding.bin', content: Buffer.alloc(300_000, 1).toString('base64') }
    const parts = (raw: string) => {
      const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
      return raw.split(`--${boundary}`).slice(1, 7)
    }
    const small = await composed({ text, attachments })
    const large = await composed({ text, attachments: [...attachments, padding] })
    expect(parts(large.raw)).toEqual(parts(small.raw))
    const part = large.raw.split('padding.bin').at(-1) ?? ''
    const content = part.slice(part.indexOf('\r\n\r\n') + 4).split('\r\n--')[0] ?? ''
    expect(Buffer.from(content, 'base64')).toEqual(Buffer.alloc(300_000, 1))
    expect(
      content
        .split('\r\n')
        .slice(0, -1)
        .every(line => line.length === 76),
    ).toBe(true)
  })

  test('leaves others their turn', async () => {
    expect(await turnsDuring(() => composed({ text: 'ä\n'.repeat(500_000) }))).toBeGreaterThan(8)
  })
})
