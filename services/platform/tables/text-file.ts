/**
 * Reads an uploaded table: UTF-8, UTF-16 or GB18030, separated by comma, semicolon or tab. Invalid bytes are errors
 * with their position and are never replaced: two references that differ only in them would become equal.
 */
import { isUtf8 } from 'node:buffer'
import { nextTurn } from '../concurrency/event-loop-turns.ts'
import { SEPARATORS, type Separator, separatorLine } from './rules/csv.ts'

/** Encoding of a file. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030'

/** Why a file cannot be read at all. */
export type FileError = 'spreadsheet' | 'charset'

/** A file as text. */
export interface TextFile {
  encoding: Encoding
  separator: Separator
  text: string
  /** Offset of the heading, and the number of its row. */
  from: number
  firstRow: number
}

/** Encodings by the names that Content-Type uses for them; GBK and GB2312 are parts of GB18030. */
const CHARSETS: Readonly<Record<string, Encoding>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  gb18030: 'gb18030',
  gbk: 'gb18030',
  gb2312: 'gb18030',
}
/** Byte order marks. */
const MARKS: readonly (readonly [bytes: string, encoding: Encoding])[] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
]
/** Signatures of zip archives (.xlsx, .ods) and OLE documents (.xls). */
const SPREADSHEETS = ['504b0304', 'd0cf11e0a1b11ae1']

/** Bytes decoded between two yields to other requests: some milliseconds of work. */
const PIECE_BYTES = 128 * 1024
/** Replacement character for invalid bytes. */
export const DAMAGED = '\uFFFD'

/** Reads the file. `charset` is that of its Content-Type; empty: the bytes decide. */
export async function readTextFile(bytes: Buffer, charset: string): Promise<TextFile | { error: FileError }> {
  const head = bytes.subarray(0, 8).toString('hex')
  if (SPREADSHEETS.some(start => head.startsWith(start))) return { error: 'spreadsheet' }
  const name = charset.toLowerCase()
  const mark = MARKS.find(([start]) => head.startsWith(start))
  const declared = name === '' || name === 'utf-16' ? undefined : CHARSETS[name]
  if (name !== '' && name !== 'utf-16' && declared === undefined) return { error: 'charset' }
  const encoding = mark?.[1] ?? declared ?? (await guess(bytes))
  let text = ''
  for await (const piece of decoded(bytes, encoding)) text += piece
  const named = separatorLine(text)
  const from = named?.length ?? 0
  return {
    encoding,
    text,
    from,
    separator: named?.separator ?? separatorOf(text.slice(0, HEAD_CHARS)),
    firstRow: named ? 2 : 1,
  }
}

/**
 * Without a byte order mark: zero bytes indicate UTF-16; invalid UTF-8 indicates GB18030, unless most of it is damaged
 * UTF-8.
 */
async function guess(bytes: Buffer): Promise<Encoding> {
  const [first, second] = bytes
  if (bytes.length % 2 === 0 && first !== 0 && second === 0) return 'utf-16le'
  if (bytes.length % 2 === 0 && first === 0 && second !== 0) return 'utf-16be'
  if (isUtf8(bytes)) return 'utf-8'
  let [good, bad] = [0, 0]
  for await (const piece of decoded(bytes, 'utf-8')) {
    const damaged = piece.split(DAMAGED).length - 1
    bad += damaged
    good += (piece.match(NOT_ASCII)?.length ?? 0) - damaged
  }
  return good > bad ? 'utf-8' : 'gb18030'
}

const NOT_ASCII = /[\u0080-\uffff]/g
/** Code points of GB18030 that are not used in practice but are common in misread bytes of other encodings. */
const PRIVATE_USE = /[\ue000-\uf8ff]/g

async function* decoded(bytes: Buffer, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  const clean = (text: string) => (encoding === 'gb18030' ? text.replaceAll(PRIVATE_USE, DAMAGED) : text)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield clean(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }))
    await nextTurn()
  }
  yield decoder.decode()
}

/** Characters at the beginning of a file in which its separator is searched. */
const HEAD_CHARS = 4 * 1024

/** The most frequent separator of the first line that has one, outside of quoted cells; comma without any. */
function separatorOf(head: string): Separator {
  const counts = new Map<string, number>(SEPARATORS.map(separator => [separator, 0]))
  let quoted = false
  let found = false
  for (const char of head) {
    if (char === '"') quoted = !quoted
    if (quoted) continue
    if (found && (char === '\n' || char === '\r')) break
    const count = counts.get(char)
    if (count === undefined) continue
    counts.set(char, count + 1)
    found = true
  }
  const most = Math.max(...counts.values())
  return SEPARATORS.find(separator => counts.get(separator) === most) ?? ','
}
