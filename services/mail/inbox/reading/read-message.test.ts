import { describe, expect, test } from 'vitest'
import { readAttachment, readMessage } from './read-message.ts'

const lines = (...all: string[]) => Buffer.from(`${all.join('\r\n')}\r\n`, 'latin1')

const MIXED = lines(
  ...['From: =?utf-8?q?Gr=C3=BC=C3=9Fe?= <a@example.com>', 'To: b@example.net', 'Subject: =?utf-8?b?5L2g5aW9?='],
  ...['Content-Type: multipart/mixed; boundary=m', '', '--m', 'Content-Type: multipart/alternative; boundary=a', ''],
  ...['--a', 'Content-Type: text/plain; charset=utf-8', '', 'Your code is 482913: https://app.example/confirm', ''],
  ...[
    '--a',
    'Content-Type: text/html',
    '',
    '<p>Code <b>482913</b> <a href="https://app.example/go">Go</a></p>',
    '--a--',
    '',
  ],
  ...['--m', 'Content-Type: text/html', 'Content-Disposition: attachment; filename="../../evil\x01.html"', ''],
  ...['<script>alert(1)</script>', '--m', "Content-Type: application/pdf; name*=utf-8''Rechnung%20%C3%BC.pdf"],
  ...[
    'Content-Transfer-Encoding: base64',
    'Content-ID: <pdf@x>',
    '',
    Buffer.from('%PDF-1').toString('base64'),
    '--m--',
  ],
)

test('a message is read with everything that a program needs', async () => {
  const read = await readMessage(MIXED)
  expect(read).toMatchObject({
    ...{ text: 'Your code is 482913: https://app.example/confirm\r\n', truncated: false, codes: ['482913'] },
    html: '<p>Code <b>482913</b> <a href="https://app.example/go">Go</a></p>',
    links: [
      { href: 'https://app.example/go', text: 'Go' },
      { href: 'https://app.example/confirm', text: 'https://app.example/confirm' },
    ],
    attachments: [
      { index: 0, filename: 'evil_.html', contentType: 'text/html', size: 25, contentId: undefined },
      { index: 1, filename: 'Rechnung ü.pdf', contentType: 'application/pdf', size: 6, contentId: 'pdf@x' },
    ],
  })
  expect(read.headers.slice(0, 3)).toEqual([
    { name: 'from', value: 'Grüße <a@example.com>' },
    { name: 'to', value: 'b@example.net' },
    { name: 'subject', value: '你好' },
  ])
  expect((await readAttachment(MIXED, 1))?.content.toString()).toBe('%PDF-1')
  expect(await readAttachment(MIXED, 2)).toBeUndefined()
})

test('codes of a message without text are those of its HTML, without its hidden parts', async () => {
  const html = '<style>.x{width:4829px}</style><p>Your code</p><p>K7QX2M</p><script>var a=123456</script>'
  expect(await readMessage(lines('Content-Type: text/html', '', html))).toMatchObject({
    text: undefined,
    codes: ['K7QX2M'],
  })
})

describe('a file name', () => {
  test.each<[string, string, string]>([
    ['with folders', 'filename="a/b\\\\c.txt"', 'c.txt'],
    ['of a parent folder', 'filename=".."', 'part-1'],
    ['of nothing', 'filename=""', 'part-1'],
    ['with a quote and a line end', 'filename="a\\"b.txt"', 'a_b.txt'],
    ['that turns its direction', "filename*=utf-8''a%E2%80%AEtxt.exe", 'a_txt.exe'],
    ['in encoded words', 'filename="=?utf-8?q?Gr=C3=BC=C3=9Fe.txt?="', 'Grüße.txt'],
    ['that is long', `filename="${'x'.repeat(500)}"`, 'x'.repeat(200)],
    ['that is long in UTF-8', `filename*=utf-8''${encodeURIComponent('你'.repeat(500))}`, '你'.repeat(200)],
    ['with an encoded folder', 'filename="=?utf-8?b?YS9iLnR4dA==?="', 'b.txt'],
    ['with both separators', 'filename="a\\\\b/c\\\\d/e.txt"', 'e.txt'],
    ['of a folder', 'filename="a/b/"', 'part-1'],
  ])('%s is made safe', async (_, parameter, expected) => {
    const raw = lines('Content-Type: text/csv', `Content-Disposition: attachment; ${parameter}`, '', 'a,b')
    expect((await readMessage(raw)).attachments.map(({ filename }) => filename)).toEqual([expected])
  })
})

test('names of the size of a header, in as many parts as are shown, are cut', async () => {
  const part = (name: string) =>
    lines('--m', `Content-Disposition: attachment; filename="${name}"`, '', 'x').toString('latin1')
  const names = ['x'.repeat(250_000), 'x/'.repeat(125_000), `${'/'.repeat(250_000)}x`, `a/${'x'.repeat(250_000)}/b`]
  const parts = Array.from({ length: 100 }, (_, n) => part(names[n % names.length] ?? ''))
  const raw = Buffer.from(`Content-Type: multipart/mixed; boundary=m\r\n\r\n${parts.join('')}--m--\r\n`)
  const { attachments } = await readMessage(raw)
  const x = 'x'.repeat(200)
  expect(attachments.slice(0, 4).map(({ filename }) => filename)).toEqual([x, 'part-2', 'part-3', x])
  expect(attachments).toHaveLength(100)
  expect(await readAttachment(raw, 99)).toMatchObject({ filename: x, size: 1 })
})

test.each([
  ['nothing', ''],
  ['no header', 'no header at all'],
  ['an endless multipart', `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n'.repeat(50_000)}`],
  ['a type that is none', 'Content-Type: <script>\r\n\r\nx'],
  ['wrong base64', 'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%%'],
])('a message of %s is read as well', async (_, raw) => {
  const started = performance.now()
  const read = await readMessage(Buffer.from(raw))
  expect(read.attachments.length).toBeLessThanOrEqual(100)
  for (const { contentType } of read.attachments) expect(contentType).toMatch(/^[\w.+-]+\/[\w.+-]+$/)
  expect(performance.now() - started).toBeLessThan(5_000)
})

test.each([
  ['just short enough', 'utf-8', '8bit', 'x'.repeat(999_998), false],
  ['longer', 'utf-8', '8bit', 'x'.repeat(1_000_010), true],
  ['of four octets for a character', 'utf-8', '8bit', '\u{1f4ec}'.repeat(600_000), true],
  ['in quoted-printable', 'utf-8', 'quoted-printable', '=C3=BC'.repeat(12).concat('=\r\n').repeat(200_000), true],
  ['in base64', 'utf-16le', 'base64', Buffer.alloc(5_000_000, 'x\0').toString('base64'), true],
])('text that is %s is cut where it is too long, and said to be', async (_, charset, encoding, body, truncated) => {
  const header = [`Content-Type: text/plain; charset=${charset}`, `Content-Transfer-Encoding: ${encoding}`, '', '']
  const read = await readMessage(Buffer.from(`${header.join('\r\n')}${body}\r\n`))
  expect([read.text?.length, read.truncated]).toEqual([1_000_000, truncated])
  expect(new Set(read.text?.trimEnd()).size).toBe(1)
})

describe('the event loop is yielded', () => {
  const MIB = 1024 * 1024
  /** Rounds of the event loop until work is done. */
  const roundsOf = async (work: () => Promise<unknown>) => {
    let rounds = 0
    let over = false
    const round = () => {
      rounds++
      if (!over) setImmediate(round)
    }
    setImmediate(round)
    await work()
    over = true
    return rounds
  }
  const nested = (depth: number, inner: string): string => {
    if (depth === 0) return inner
    const part = nested(depth - 1, inner)
    return `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${part}\r\n--b${depth}--\r\n`
  }
  const base64 = (bytes: number) => `${'QUJD'.repeat(19)}\r\n`.repeat(bytes / 78)
  const attachment = (encoding: string, body: string) =>
    `Content-Type: application/pdf\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`
  const many = Array.from({ length: 20 }, () => `--m\r\n${attachment('base64', base64(2 * MIB))}`)

  const small = Array.from({ length: 64 }, () => `--m\r\n${attachment('base64', base64(MIB / 8))}`)

  test.each<[string, string, rounds: number]>([
    ['ten multiparts, one in the other', nested(10, attachment('base64', base64(8 * MIB))), 60],
    ['an attachment in quoted-printable', attachment('quoted-printable', '=3D=\r\n'.repeat(2 * MIB)), 10],
    ['an attachment of soft line breaks', attachment('quoted-printable', '=\r\n'.repeat(4 * MIB)), 10],
    ['many small attachments', `Content-Type: multipart/mixed; boundary=m\r\n\r\n${small.join('')}\r\n--m--`, 8],
    ['text in quoted-printable', `Content-Transfer-Encoding: quoted-printable\r\n\r\n${'=3D'.repeat(4 * MIB)}`, 3],
    ['many attachments', `Content-Type: multipart/mixed; boundary=m\r\n\r\n${many.join('')}\r\n--m--`, 50],
  ])('while a message with %s is read', async (_, raw, rounds) => {
    expect(await roundsOf(() => readMessage(Buffer.from(raw)))).toBeGreaterThanOrEqual(rounds)
  })

  test('while an attachment is decoded', async () => {
    const raw = Buffer.from(nested(1, attachment('quoted-printable', '=41=42=\r\n'.repeat(2 * MIB))))
    const rounds = await roundsOf(async () => expect((await readAttachment(raw, 0))?.size).toBe(4 * MIB))
    expect(rounds).toBeGreaterThanOrEqual(20)
  })
})
