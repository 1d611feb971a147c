/**
 * A message for a server that takes 7-bit mail only (no 8BITMIME, RFC 6152): the parts with octets above 127 are encoded,
 * all others keep their octets.
 */
import { isAscii } from 'node:buffer'
import { charsetOf } from './charset.ts'
import { foldValue } from './encoded-words.ts'
import { encodeHeader } from './header-encoding.ts'
import { type Header, type HeaderField, parseHeader, unfold } from './headers.ts'
import { decodeTransfer, parameters } from './mime-reader.ts'
import { encodeBase64, encodeQuotedPrintable } from './transfer-encoding.ts'

/**
 * Why a message cannot be converted. `signed`: the octets are within a multipart/signed, whose signature conversion would
 * break (RFC 1847 section 2.1). `address`: an address has a local part beyond ASCII. `structure`: not MIME as far as it is
 * understood here.
 */
export type SevenBitFault = 'signed' | 'address' | 'structure'

/** A converted message in pieces; encoding happens while they are read, so that others can have their turn. */
export type SevenBit = { pieces: Iterable<Buffer> } | { fault: SevenBitFault }

/** Bounds against messages that are made to be expensive. */
const MAX_DEPTH = 10
const MAX_PARTS = 200
/** RFC 2046 section 5.1.1 has 70. */
const MAX_BOUNDARY = 250
/** Contents that claim an encoding and have octets above 127 all the same are decoded at once, up to this size. */
const MAX_BROKEN = 1024 * 1024
/** Octets of a text that decide between the encodings. */
const SAMPLE = 64 * 1024

/** Plans the conversion of a whole message. */
export function toSevenBit(raw: Buffer): SevenBit {
  const plan = new Plan()
  try {
    plan.entity(raw, { message: true, type: 'text/plain', depth: 0 })
  } catch (error) {
    if (error instanceof Unconvertible) return { fault: error.fault }
    throw error
  }
  return { pieces: plan.pieces() }
}

class Unconvertible extends Error {
  readonly fault: SevenBitFault
  constructor(fault: SevenBitFault) {
    super(fault)
    this.fault = fault
  }
}

interface Place {
  /** A message has fields that a part has not. */
  message: boolean
  /** Media type of what does not name one. */
  type: string
  depth: number
}

class Plan {
  readonly #steps: (Buffer | (() => Iterable<Buffer>))[] = []
  #parts = 0

  entity(octets: Buffer, place: Place): void {
    if (isAscii(octets)) {
      this.#steps.push(octets)
      return
    }
    if (place.depth > MAX_DEPTH || ++this.#parts > MAX_PARTS) throw new Unconvertible('structure')
    const header = parseHeader(octets)
    const fields = typeof header === 'string' ? header : encodeHeader(octets, header)
    if (typeof header === 'string' || typeof fields === 'string') throw new Unconvertible('structure')
    if (fields.some(({ value }) => !isAscii(Buffer.from(value, 'latin1')))) throw new Unconvertible('address')
    this.#body(octets, { ...header, fields }, place)
  }

  *pieces(): Generator<Buffer> {
    for (const step of this.#steps) {
      if (typeof step === 'function') yield* step()
      else yield step
    }
  }

  #body(octets: Buffer, header: Header, place: Place): void {
    const body = octets.subarray(header.length)
    const [type, options] = parameters(fieldOf(header, 'content-type') ?? place.type)
    const write = (changes: Readonly<Record<string, string>>) =>
      this.#steps.push(writeHeader(octets, header, place.message ? { 'MIME-Version': '1.0', ...changes } : changes))
    if (isAscii(body)) {
      write({})
      this.#steps.push(body)
    } else if (type === 'multipart/signed') throw new Unconvertible('signed')
    else if (type.startsWith('multipart/')) {
      write(plainEncoding(header))
      this.#multipart(body, options.get('boundary'), type, place.depth)
    } else if (type === 'message/rfc822' || type === 'message/global') {
      write(plainEncoding(header))
      this.entity(body, { message: true, type: 'text/plain', depth: place.depth + 1 })
    } else if (type.startsWith('message/')) throw new Unconvertible('structure')
    else this.#leaf(body, header, type, place.message && place.depth === 0, write)
  }

  #leaf(
    body: Buffer,
    header: Header,
    type: string,
    ended: boolean,
    write: (changes: Readonly<Record<string, string>>) => void,
  ): void {
    const content = contentOf(body, fieldOf(header, 'content-transfer-encoding'))
    const quoted =
      type.startsWith('text/') && highOctets(content.subarray(0, SAMPLE)) * 6 < Math.min(content.length, SAMPLE)
    write({
      ...charset(header, type, content),
      'Content-Transfer-Encoding': quoted ? 'quoted-printable' : 'base64',
    })
    this.#steps.push(() => (quoted ? encodeQuotedPrintable(content) : encodeBase64(content)))
    if (ended && !quoted) this.#steps.push(CRLF)
  }

  /** The parts between the boundary lines (RFC 2046 section 5.1.1); what stands around them is shown by no reader. */
  #multipart(body: Buffer, boundary: string | undefined, type: string, depth: number): void {
    if (!boundary || boundary.length > MAX_BOUNDARY) throw new Unconvertible('structure')
    const place = {
      message: false,
      type: type === 'multipart/digest' ? 'message/rfc822' : 'text/plain',
      depth: depth + 1,
    }
    let at = 0
    let inside = false
    for (const { start, end, last } of boundaries(body, boundary)) {
      // The line end in front of a boundary belongs to it, but an empty part may have none.
      const until = Math.max(at, start - 2)
      if (inside) this.entity(body.subarray(at, until), place)
      else this.#steps.push(masked(body.subarray(at, until)))
      this.#steps.push(body.subarray(until, end))
      at = end
      inside = !last
      if (last) break
    }
    if (inside) this.entity(body.subarray(at), place)
    else this.#steps.push(masked(body.subarray(at)))
  }
}

const CRLF = Buffer.from('\r\n')

function fieldOf({ fields }: Header, name: string): string | undefined {
  const value = fields.find(field => field.name === name)?.value
  return value === undefined ? undefined : unfold(value)
}

/** The header with fields changed or added; all others keep their octets. */
function writeHeader(octets: Buffer, header: Header, changes: Readonly<Record<string, string>>): Buffer {
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
function plainEncoding(header: Header): Readonly<Record<string, string>> {
  return fieldOf(header, 'content-transfer-encoding') === undefined ? {} : { 'Content-Transfer-Encoding': '7bit' }
}

/** A text names its charset: without one readers go by the octets, which are hidden now. */
function charset(header: Header, type: string, content: Buffer): Readonly<Record<string, string>> {
  const value = fieldOf(header, 'content-type')
  if (!type.startsWith('text/') || (value && parameters(value)[1].has('charset'))) return {}
  return { 'Content-Type': `${(value ?? type).replace(/[\s;]+$/, '')}; charset=${charsetOf(content)}` }
}

/** What the octets of a part stand for. */
function contentOf(body: Buffer, encoding = ''): Buffer {
  const name = encoding.toLowerCase()
  if (['', '7bit', '8bit', 'binary'].includes(name)) return body
  // It claims to be 7-bit, and is not.
  if (!['base64', 'quoted-printable'].includes(name) || body.length > MAX_BROKEN) throw new Unconvertible('structure')
  return decodeTransfer(body.toString('latin1'), name)
}

function* boundaries(body: Buffer, boundary: string): Generator<{ start: number; end: number; last: boolean }> {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  for (let start = body.indexOf(mark); start >= 0; start = body.indexOf(mark, start + mark.length)) {
    if (start > 0 && body.toString('latin1', start - 2, start) !== '\r\n') continue
    const behind = start + mark.length
    const lineEnd = body.indexOf('\r\n', behind)
    const end = lineEnd < 0 ? body.length : lineEnd + 2
    const rest = /^(--)?[ \t]*(?:\r\n)?$/.exec(body.toString('latin1', behind, Math.min(end, behind + 1000)))
    if (rest) yield { start, end, last: rest[1] !== undefined }
  }
}

function highOctets(octets: Buffer): number {
  let count = 0
  for (const octet of octets) if (octet > 127) count++
  return count
}

function masked(octets: Buffer): Buffer {
  return isAscii(octets) ? octets : Buffer.from(octets.map(octet => (octet > 127 ? 0x3f : octet)))
}
