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
  expect(readAttachment(MIXED, 1)?.content.toString()).toBe('%PDF-1')
  expect(readAttachment(MIXED, 2)).toBeUndefined()
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
  expect(readAttachment(raw, 99)).toMatchObject({ filename: x, size: 1 })
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

test('long text and HTML are cut, and said to be', async () => {
  const read = await readMessage(lines('Content-Type: text/plain', '', 'x'.repeat(1_000_010)))
  expect([read.text?.length, read.truncated]).toEqual([1_000_000, true])
})
