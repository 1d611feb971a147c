/** The DNS message format (RFC 1035 4), as much of it as queries, UPDATE (RFC 2136) and TSIG (RFC 8945) need. */
import { parseMx, txtChunks } from './records/record.ts'

/** Record types by name. */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  OPT: 41,
  TSIG: 250,
  ANY: 255,
} as const
/** Classes: NONE and ANY carry deletions and prerequisites in updates. */
export const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const
/** Response codes by number. */
export const RCODES: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
}

/** A question; in an update the zone. */
export interface Question {
  name: string
  type: number
  class: number
}

/** A resource record with raw data; names inside the data are never compressed. */
export interface ResourceRecord {
  name: string
  type: number
  class: number
  ttl: number
  data: Buffer
}

/** A message. `flags` are the 16 bits after the id. */
export interface Message {
  id: number
  flags: number
  questions: Question[]
  answers: ResourceRecord[]
  authorities: ResourceRecord[]
  additionals: ResourceRecord[]
}

/** A message as received. */
export interface Decoded extends Message {
  rcode: number
  /** Authoritative answer. */
  aa: boolean
  /** Truncated: ask again over TCP. */
  tc: boolean
  /** Where the last additional record begins: TSIG signs the octets before it. */
  lastRecordAt: number
}

/** Bytes that are no DNS message. */
export class WireError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WireError'
  }
}

/** Bytes of the longest name, with the lengths of its labels and the end (RFC 1035 3.1). */
const MAX_NAME = 255
/** Labels of the longest name: each may be elsewhere. */
const MAX_POINTERS = 127

/** The bytes of a name, uncompressed, in lower case (the canonical form that TSIG wants, RFC 8945 4.3.3). */
export function encodeName(name: string): Buffer {
  const labels = name === '' || name === '.' ? [] : name.replace(/\.$/, '').toLowerCase().split('.')
  const parts = labels.map(label => {
    const bytes = Buffer.from(label, 'latin1')
    if (bytes.length === 0 || bytes.length > 63) throw new WireError(`"${name}" is no DNS name`)
    return Buffer.concat([Buffer.of(bytes.length), bytes])
  })
  const encoded = Buffer.concat([...parts, Buffer.of(0)])
  if (encoded.length > MAX_NAME) throw new WireError(`"${name}" is longer than ${MAX_NAME} bytes`)
  return encoded
}

/** True for text that can stand in a question. */
export function isName(text: string): boolean {
  try {
    encodeName(text)
    return true
  } catch {
    return false
  }
}

/** The bytes of a message, without compression. */
export function encodeMessage(message: Message): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(message.id, 0)
  header.writeUInt16BE(message.flags, 2)
  const sections = [message.answers, message.authorities, message.additionals]
  ;[message.questions, ...sections].forEach((section, index) => {
    header.writeUInt16BE(section.length, 4 + 2 * index)
  })
  const questions = message.questions.map(({ name, type, class: klass }) =>
    Buffer.concat([encodeName(name), uint16(type), uint16(klass)]),
  )
  return Buffer.concat([header, ...questions, ...sections.flat().map(encodeRecord)])
}

/** The bytes of one record. */
export function encodeRecord({ name, type, class: klass, ttl, data }: ResourceRecord): Buffer {
  const time = Buffer.alloc(4)
  time.writeUInt32BE(ttl)
  return Buffer.concat([encodeName(name), uint16(type), uint16(klass), time, uint16(data.length), data])
}

/** Two bytes, big-endian. */
export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** Reads a message. Throws {@link WireError} on anything that does not hold together. */
export function decodeMessage(bytes: Buffer): Decoded {
  try {
    return decode(bytes)
  } catch (error) {
    if (error instanceof RangeError) throw new WireError('the message is cut short')
    throw error
  }
}

function decode(bytes: Buffer): Decoded {
  const flags = bytes.readUInt16BE(2)
  const count = (index: number) => bytes.readUInt16BE(4 + 2 * index)
  let at = 12
  let lastRecordAt = bytes.length
  const questions = Array.from({ length: count(0) }, () => {
    const { name, next } = readName(bytes, at)
    at = next + 4
    return { name, type: bytes.readUInt16BE(next), class: bytes.readUInt16BE(next + 2) }
  })
  const section = (length: number) =>
    Array.from({ length }, () => {
      lastRecordAt = at
      const { record, next } = readRecord(bytes, at)
      at = next
      return record
    })
  const [answers, authorities, additionals] = [section(count(1)), section(count(2)), section(count(3))]
  return {
    id: bytes.readUInt16BE(0),
    flags,
    rcode: flags & 0xf,
    aa: (flags & 0x0400) !== 0,
    tc: (flags & 0x0200) !== 0,
    questions,
    answers,
    authorities,
    additionals,
    lastRecordAt,
  }
}

function readRecord(bytes: Buffer, start: number): { record: ResourceRecord; next: number } {
  const { name, next: at } = readName(bytes, start)
  const type = bytes.readUInt16BE(at)
  const length = bytes.readUInt16BE(at + 8)
  const next = at + 10 + length
  if (next > bytes.length) throw new WireError('a record is cut short')
  const record = {
    name,
    type,
    class: bytes.readUInt16BE(at + 2),
    ttl: bytes.readUInt32BE(at + 4),
    data: expand(bytes, type, at + 10, next),
  }
  return { record, next }
}

/** Record data with the names in it uncompressed, so that it means the same outside the message. */
function expand(bytes: Buffer, type: number, at: number, end: number): Buffer {
  if (type === TYPE.CNAME || type === TYPE.NS || type === TYPE.PTR) return encodeName(readName(bytes, at).name)
  if (type === TYPE.MX) return Buffer.concat([bytes.subarray(at, at + 2), encodeName(readName(bytes, at + 2).name)])
  if (type !== TYPE.SOA) return bytes.subarray(at, end)
  const primary = readName(bytes, at)
  const contact = readName(bytes, primary.next)
  return Buffer.concat([encodeName(primary.name), encodeName(contact.name), bytes.subarray(contact.next, end)])
}

/**
 * Reads a name, following compression pointers backwards only, so that no loop is possible (RFC 1035 4.1.4). Length and
 * pointers are bounded: a message with thousands of names that point to one long chain would cost seconds.
 */
export function readName(bytes: Buffer, start: number): { name: string; next: number } {
  const labels: string[] = []
  let at = start
  let limit = start
  let next: number | undefined
  let size = 1
  for (let pointers = 0; pointers <= MAX_POINTERS; ) {
    const length = bytes.readUInt8(at)
    if (length === 0) return { name: labels.join('.').toLowerCase(), next: next ?? at + 1 }
    if ((length & 0xc0) === 0xc0) {
      next ??= at + 2
      at = targetOf(bytes, at, limit)
      limit = at
      pointers++
      continue
    }
    if (length > 63) throw new WireError('a label is too long')
    if (at + 1 + length > bytes.length) throw new WireError('a name is cut short')
    size += 1 + length
    if (size > MAX_NAME) throw new WireError('a name is too long')
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  throw new WireError('a name has too many pointers')
}

function targetOf(bytes: Buffer, at: number, limit: number): number {
  const target = bytes.readUInt16BE(at) & 0x3fff
  if (target >= limit) throw new WireError('a compression pointer does not point back')
  return target
}

/** Record data of a canonical value. */
export function encodeData(type: string, value: string): Buffer {
  if (type === 'TXT') return Buffer.concat(txtChunks(value).flatMap(chunk => [Buffer.of(chunk.length), chunk]))
  if (type === 'CNAME') return encodeName(value)
  if (type === 'MX') {
    const { preference, host } = parseMx(value)
    return Buffer.concat([uint16(preference), encodeName(host)])
  }
  if (type === 'A') return Buffer.from(value.split('.').map(Number))
  if (type === 'AAAA') return encodeIpv6(value)
  throw new WireError(`records of type ${type} are not written`)
}

function encodeIpv6(value: string): Buffer {
  const [head = '', tail] = value.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const all = tail === undefined ? before : [...before, ...zeros, ...after]
  return Buffer.concat(all.map(group => uint16(Number.parseInt(group, 16))))
}

/** The canonical value of record data; hex for types that are not decoded. Throws {@link WireError} when it does not fit its type. */
export function decodeData(type: number, data: Buffer): string {
  switch (type) {
    case TYPE.TXT:
      return decodeTxt(data)
    case TYPE.A:
      return [...ofLength(data, 4)].join('.')
    case TYPE.AAAA:
      return decodeIpv6(ofLength(data, 16))
    case TYPE.CNAME:
    case TYPE.NS:
    case TYPE.PTR:
      return readName(data, 0).name
    case TYPE.MX:
      return `${data.readUInt16BE(0)} ${readName(data, 2).name}`
    default:
      return data.toString('hex')
  }
}

/** An address of another length would be read as one by whoever gets its text: two octets as 127.1. */
function ofLength(data: Buffer, length: number): Buffer {
  if (data.length !== length) throw new WireError(`an address has ${data.length} bytes`)
  return data
}

function decodeTxt(data: Buffer): string {
  const chunks: Buffer[] = []
  let at = 0
  while (at < data.length) {
    const end = at + 1 + data.readUInt8(at)
    chunks.push(data.subarray(at + 1, end))
    at = end
  }
  if (at > data.length) throw new WireError('a character-string is cut short')
  return Buffer.concat(chunks).toString('utf8')
}

function decodeIpv6(data: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => data.readUInt16BE(2 * index).toString(16))
  // The URL parser is the platform's own RFC 5952 printer.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** The least time that "no such name" is remembered: the smaller of the SOA's TTL and its last field (RFC 2308 5). */
export function negativeTtl(authorities: readonly ResourceRecord[]): number | undefined {
  const soa = authorities.find(({ type }) => type === TYPE.SOA)
  return soa && soa.data.length >= 4 ? Math.min(soa.ttl, soa.data.readUInt32BE(soa.data.length - 4)) : undefined
}
