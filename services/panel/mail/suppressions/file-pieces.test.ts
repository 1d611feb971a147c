import { expect, test } from 'vitest'
import { piecesOf } from './file-pieces.ts'

const shown = (file: Uint8Array<ArrayBuffer>, rows: number) =>
  piecesOf(file, rows).map(({ content, rowsBefore }) => [new TextDecoder().decode(content), rowsBefore])
const bytes = (text: string) => new TextEncoder().encode(text)

test.each<[string, string, [string, number][]]>([
  ['an empty file', '', [['', 0]]],
  ['a heading alone', 'email\n', [['email\n', 0]]],
  ['what fits', 'email\na\nb\n', [['email\na\nb\n', 0]]],
  [
    'more rows, the last without an end',
    'email\na\nb\nc\nd\ne',
    [
      ['email\na\nb\n', 0],
      ['email\nc\nd\n', 2],
      ['email\ne', 4],
    ],
  ],
  [
    'line ends of Windows, and rows with a line end in a quoted cell',
    'email,note\r\na,"x\ny"\r\nb,"""\n"\r\nc,\r\n',
    [
      ['email,note\r\na,"x\ny"\r\nb,"""\n"\r\n', 0],
      ['email,note\r\nc,\r\n', 2],
    ],
  ],
  ['a quote that is never closed', 'email\n"a\nb\nc\nd', [['email\n"a\nb\nc\nd', 0]]],
])('%s', (_, file, expected) => {
  expect(shown(bytes(file), 3)).toEqual(expected)
})

test('a file in UTF-16 is one piece', () => {
  const file = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x62, 0, 0x0a, 0, 0x63, 0, 0x0a, 0])
  expect(piecesOf(file, 2)).toEqual([{ content: file, rowsBefore: 0 }])
})

test('every row below the heading is in one piece', () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => `u${n}@example.net\n`)
  const all = piecesOf(bytes(`email\n${rows.join('')}`), 100).flatMap(({ content, rowsBefore }) =>
    new TextDecoder()
      .decode(content)
      .split('\n')
      .slice(1, -1)
      .map((email, index) => [email, rowsBefore + index]),
  )
  expect(all).toEqual(rows.map((row, index) => [row.trim(), index]))
})
