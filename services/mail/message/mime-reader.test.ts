import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { partsOf, readMime } from './mime-reader.ts'

const read = (lines: string[]) => readMime(Buffer.from(lines.join('\r\n'), 'latin1'))

describe('a single part', () => {
  test.each<[string, string[], string]>([
    ['without any header', ['', 'Hello'], 'Hello'],
    ['plain', ['Subject: x', '', 'Hello'], 'Hello'],
    [
      'quoted-printable',
      ['Content-Transfer-Encoding: Quoted-Printable', '', 'caf=C3=A9 =', 'au lait=3D'],
      'café au lait=',
    ],
    ['base64', ['Content-Transfer-Encoding: base64', '', 'SGVs', 'bG8='], 'Hello'],
    ['another charset', ['Content-Type: text/plain; charset="iso-8859-1"', '', 'caf\u00e9'], 'café'],
    ['an unknown charset', ['Content-Type: text/plain; charset=klingon', '', 'Hello'], 'Hello'],
    ['a folded header', ['Content-Type: text/plain;', '\tcharset=utf-8', '', 'Hello'], 'Hello'],
  ])('%s', (_, lines, text) => {
    expect(read(lines).text).toBe(text)
  })
})

test('alternative with an inline image and an attachment', () => {
  const result = read([
    'Content-Type: multipart/mixed; boundary=A',
    '',
    'preamble',
    '--A',
    'Content-Type: multipart/related; boundary="B b"',
    '',
    '--B b  ',
    'Content-Type: multipart/alternative; boundary=AA',
    '',
    '--AA',
    '',
    'plain',
    '--AA',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<img src="cid:logo">',
    '--AA--',
    '--B b',
    'Content-Type: image/png; name=logo.png',
    'Content-ID: <logo>',
    'Content-Transfer-Encoding: base64',
    '',
    'iVBO',
    '--B b--',
    '--A',
    'Content-Type: text/html',
    'Content-Disposition: attachment; filename=evil.html',
    '',
    '<script>',
    '--A--',
    'epilogue',
  ])
  expect(result.text).toBe('plain')
  expect(result.html).toBe('<img src="cid:logo">')
  expect([...result.images]).toEqual([['logo', 'data:image/png;base64,iVBO']])
})

test('an attachment alone is nothing to look at', () => {
  expect(read(['Content-Type: text/html', 'Content-Disposition: attachment', '', '<p>'])).toMatchObject({
    html: undefined,
    text: undefined,
  })
})

test('endless nesting ends', () => {
  const nested = 'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n'.repeat(5000)
  expect(readMime(Buffer.from(nested)).html).toBeUndefined()
})

test.each([
  [
    'empty multiparts',
    Array.from({ length: 100_000 }, (_, n) => `--b\r\nContent-Type: multipart/x; boundary=q${n}\r\n\r\n`),
  ],
  ['parts without anything', Array.from({ length: 1_000_000 }, () => '--b')],
  ['names of fields', ['--b', ...Array.from({ length: 1_000_000 }, (_, n) => `${n}:`), '', '']],
])('a message full of %s is read immediately', (_, lines) => {
  const raw = Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${lines.join('\r\n')}`)
  const started = performance.now()
  expect(readMime(raw).html).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(1_000)
})

test.each([
  [250, '<p>'],
  [251, undefined],
  [100_000, undefined],
])('a boundary of %i characters', (length, html) => {
  const boundary = 'b'.repeat(length)
  const lines = [
    `Content-Type: multipart/mixed; boundary=${boundary}`,
    '',
    `--${boundary}`,
    'Content-Type: text/html',
    '',
  ]
  expect(read([...lines, '<p>', `--${boundary}--`]).html).toBe(html)
})

test('a boundary line is found wherever the steps of the search end', () => {
  const step = 256 * 1024
  for (const padding of Array.from({ length: 16 }, (_, n) => step - n)) {
    const message = `Content-Type: multipart/mixed; boundary=bb\r\n\r\n--bb\r\n\r\n${'x'.repeat(padding - 8)}\r\n--bb  \r\n\r\ny\r\n--bb--`
    expect(partsOf(message).map(({ body, start }) => [body.length, message.slice(start, start + 1)])).toEqual([
      [padding - 8, 'x'],
      [1, 'y'],
    ])
  }
})

test('inline images beyond 5 MiB are left out', () => {
  const image = (id: string, size: number) => [
    '--A',
    `Content-ID: <${id}>`,
    'Content-Type: image/png',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.alloc(size).toString('base64'),
  ]
  const mb = 1024 * 1024
  const result = read([
    'Content-Type: multipart/related; boundary=A',
    '',
    ...image('a', 4 * mb),
    ...image('b', 2 * mb),
    '--A--',
  ])
  expect([...result.images.keys()]).toEqual(['a'])
})

test('whatever the bytes, reading ends without an error', () => {
  const line = fc.constantFrom(
    'Content-Type: multipart/mixed; boundary=A',
    '--A',
    '--A--',
    '',
    '=C',
    '=',
    'Content-Transfer-Encoding: base64',
    'a: b',
    ':',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(line).map(lines => lines.join('\r\n')),
        fc.string(),
      ),
      text => {
        readMime(Buffer.from(text))
      },
    ),
  )
})
