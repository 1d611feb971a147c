/**
 * A message for a server that takes 7-bit mail only (no 8BITMIME, RFC 6152): the parts with octets above 127 are encoded,
 * all others keep their octets.
 */
import { isAscii } from 'node:buffer'
import { charsetOf } from './charset.ts'
import { parameters, tokenOf } from './content-type.ts'
import { foldValue } from './encoded-words.ts'
import { encodeHeader, encodingBudget } from './header-encoding.ts'
import { type Header, type HeaderField, parseHeader, unfold } from './headers.ts'
import { decodeTransfer } from './mime-reader.ts'
import { encodeBase64, encodeQuotedPrintable } from './transfer-encoding.ts'

/**
 * Why a message cannot be converted. `signed`: the octets are within a multipart/signed, whose signature conversion would
 * break (RFC 1847 section 2.1). `address`: an address has a local part beyond ASCII. `structure`: not MIME as far as it is
 * understood here.
 */
export type SevenBitError = 'signed' | 'address' | 'structure'

/** A message cannot be converted. */
export class Unconvertible extends Error {
  readonly reason: SevenBitError
  constructor(error: SevenBitError) {
    super(error)
    this.reason = error
  }
}

/** Bounds against messages that are made to be expensive. */
const MAX_DEPTH = 10
/** Parts of all levels, also those that keep their octets; each costs memory beside them. */
const MAX_PARTS = 1_000
/** Lines that begin like a boundary and are none. */
const MAX_NEAR_BOUNDARIES = 10_000
/** RFC 2046 section 5.1.1 has 70. */
const MAX_BOUNDARY = 250
/** Contents that claim an encoding and have octets above 127 all the same are decoded in one step, up to this size. */
const MAX_BROKEN = 1024 * 1024
/** Octets of a text that decide between the encodings. */
const SAMPLE = 64 * 1024

/**
 * The converted message in pieces, each some milliseconds of work, so that a caller can give others their turn in between.
 * Throws {@link Unconvertible}, also after the first pieces.
 */
export function toSevenBit(raw: Buffer): Generator<Buffer> {
  return new Conversion().entity(raw, { message: true, type: 'text/plain', depth: 0 })
}

interface Place {
  /** A message has fields that a part has not. */
  message: boolean
  /** Media type of what does not name one. */
  type: string
  depth: number
}

type Changes = Readonly<Record<string, string>>

class Conversion {
  readonly #budget = encodingBudget()
  #parts = 0
  #nearBoundaries = 0;

  *entity(octets: Buffer, place: Place): Generator<Buffer> {
    if (isAscii(octets)) {
      yield octets
      return
    }
    if (place.depth > MAX_DEPTH) throw new Unconvertible('structure')
    const header = parseHeader(octets)
    if ('code' in header || isAmbiguous(header)) throw new Unconvertible('structure')
    const fields = encodeHeader(octets, header, new Set(), this.#budget)
    if (!Array.isArray(fields)) throw new Unconvertible('structure')
    if (fields.some(({ value }) => /[\x80-\xff]/.test(value))) throw new Unconvertible('address')
    yield* this.#body(octets, { ...header, fields }, place)
  }

  *#body(octets: Buffer, header: Header, place: Place): Generator<Buffer> {
    const body = octets.subarray(header.length)
    const [type, options] = parameters(fieldOf(header, 'content-type') ?? place.type)
    const write = (changes: Changes) =>
      writeHeader(octets, header, place.message ? { 'MIME-Version': '1.0', ...changes } : changes)
    if (isAscii(body)) {
      yield write({})
      yield body
    } else if (type === 'multipart/signed') throw new Unconvertible('signed')
    else if (type.startsWith('multipart/')) {
      yield write(plainEncoding(header))
      yield* this.#multipart(body, options.get('boundary'), type, place.depth)
    } else if (type === 'message/rfc822' || type === 'message/global') {
      yield write(plainEncoding(header))
      yield* this.entity(body, { message: true, type: 'text/plain', depth: place.depth + 1 })
    } else if (type.startsWith('message/')) throw new Unconvertible('structure')
    else yield* leaf(body, header, type, place.message && place.depth === 0, write)
  }

  /** The parts between the boundary lines (RFC 2046 section 5.1.1); text around them is shown by no reader. */
  *#multipart(body: Buffer, boundary: string | undefined, type: string, depth: number): Generator<Buffer> {
    if (!boundary || boundary.length > MAX_BOUNDARY) throw new Unconvertible('structure')
    const place = {
      message: false,
      type: type === 'multipart/digest' ? 'message/rfc822' : 'text/plain',
      depth: depth + 1,
    }
    let at = 0
    let inside = false
    for (const { start, end, last } of this.#boundaries(body, boundary)) {
      // The line end in front of a boundary belongs to it, but an empty part may have none.
      const until = Math.max(at, start - 2)
      if (inside) yield* this.entity(body.subarray(at, until), place)
      else yield unseen(body.subarray(at, until))
      yield body.subarray(until, end)
      at = end
      inside = !last
      if (last) break
    }
    // Without a boundary the one that readers go by is another.
    if (at === 0) throw new Unconvertible('structure')
    if (inside) yield* this.entity(body.subarray(at), place)
    else yield unseen(body.subarray(at))
  }

  *#boundaries(body: Buffer, boundary: string): Generator<{ start: number; end: number; last: boolean }> {
    const mark = Buffer.from(`\r\n--${boundary}`, 'latin1')
    const isFirst = body.subarray(0, mark.length - 2).equals(mark.subarray(2))
    for (let start = isFirst ? 0 : lineOf(body, mark, 0); start >= 0; ) {
      const next = start + mark.length - 2
      const lineEnd = body.indexOf('\r\n', next)
      const end = lineEnd < 0 ? body.length : lineEnd + 2
      const rest = /^(--)?[ \t]*(?:\r\n)?$/.exec(body.toString('latin1', next, Math.min(end, next + 1000)))
      if (rest ? ++this.#parts > MAX_PARTS : ++this.#nearBoundaries > MAX_NEAR_BOUNDARIES)
        throw new Unconvertible('structure')
      if (rest) yield { start, end, last: rest[1] !== undefined }
      // Boundaries may share a line end.
      start = lineOf(body, mark, next)
    }
  }
}

/** Where the next line with the mark, which begins with a line end, begins; -1: there is none. */
function lineOf(body: Buffer, mark: Buffer, from: number): number {
  const at = body.indexOf(mark, from)
  return at < 0 ? -1 : at + 2
}

function* leaf(
  body: Buffer,
  header: Header,
  type: string,
  ended: boolean,
  write: (changes: Changes) => Buffer,
): Generator<Buffer> {
  const content = contentOf(body, fieldOf(header, 'content-transfer-encoding'))
  const quoted =
    type.startsWith('text/') && highOctets(content.subarray(0, SAMPLE)) * 6 < Math.min(content.length, SAMPLE)
  yield write({
    ...charset(header, type, content),
    'Content-Transfer-Encoding': quoted ? 'quoted-printable' : 'base64',
  })
  yield* quoted ? encodeQuotedPrintable(content) : encodeBase64(content)
  if (ended && !quoted) yield CRLF
}

/** Of two types or encodings readers take one each: what is text for this code could be signed for them. */
function isAmbiguous({ fields }: Header): boolean {
  const seen = new Set<string>()
  return fields.some(({ name }) => {
    if (name !== 'content-type' && name !== 'content-transfer-encoding') return false
    return seen.has(name) || !seen.add(name)
  })
}

const CRLF = Buffer.from('\r\n')

function fieldOf({ fields }: Header, name: string): string | undefined {
  const value = fields.find(field => field.name === name)?.value
  return value === undefined ? undefined : unfold(value)
}

/** The header with fields changed or added; all others keep their octets. */
function writeHeader(octets: Buffer, header: Header, changes: Changes): Buffer {
  const open = new Map(Object.entries(changes).map(([name, value]) => [name.toLowerCase(), { name, value }]))
  const lines = header.fields.map(field => {
    const change = open.get(field.name)
    open.delete(field.name)
    // The version of MIME is only added, never changed.
    if (change && field.name !== 'mime-version') return folded(change)
    return field.encoded ? encodedField(octets, field) : octets.toString('latin1', field.start, field.end)
  })
  const added = Array.from(open.values(), folded)
  return Buffer.from(`${[...lines, ...added].join('')}\r\n`, 'latin1')
}

function folded({ name, value }: { name: string; value: string }): string {
  return `${name}:${foldValue(name, ` ${value}`) ?? ` ${value}`}\r\n`
}

function encodedField(octets: Buffer, { name, value, start }: HeaderField): string {
  return `${octets.toString('latin1', start, start + name.length)}:${value}\r\n`
}

/** Multiparts and messages are not encoded themselves; what they hold is 7-bit now. */
function plainEncoding(header: Header): Changes {
  return fieldOf(header, 'content-transfer-encoding') === undefined ? {} : { 'Content-Transfer-Encoding': '7bit' }
}

/** A text names its charset: without one readers go by the octets, which are hidden now. */
function charset(header: Header, type: string, content: Buffer): Changes {
  const value = fieldOf(header, 'content-type')
  if (!type.startsWith('text/') || (value && parameters(value)[1].has('charset'))) return {}
  return { 'Content-Type': `${(value ?? type).replace(/[\s;]+$/, '')}; charset=${charsetOf(content)}` }
}

/** The decoded octets of a part. */
function contentOf(body: Buffer, encoding = ''): Buffer {
  const name = tokenOf(encoding)
  if (['', '7bit', '8bit', 'binary'].includes(name)) return body
  // It claims to be 7-bit, and is not.
  if (!['base64', 'quoted-printable'].includes(name) || body.length > MAX_BROKEN) throw new Unconvertible('structure')
  return decodeTransfer(body.toString('latin1'), name)
}

function highOctets(octets: Buffer): number {
  let count = 0
  for (const octet of octets) if (octet > 127) count++
  return count
}

/** Text around the parts stays while it is ASCII. With other octets it goes: masked, it could become a boundary. */
function unseen(octets: Buffer): Buffer {
  return isAscii(octets) ? octets : octets.subarray(0, 0)
}
