/** The record values that planning, providers and checks share, in one canonical form. */
import ipaddr from 'ipaddr.js'
import { canonicalName } from './names.ts'

/** The types that are read and written. */
export type RecordType = 'TXT' | 'A' | 'AAAA' | 'CNAME' | 'MX'

/** A record as wanted: canonical name, TXT value joined and without quotes, MX as `10 mx.example.com`. TTL in seconds. */
export interface WantedRecord {
  name: string
  type: RecordType
  value: string
  ttl: number
}

/** A record as a provider stores it. `type` may be any other type, which only matters as an obstacle. */
export interface StoredRecord {
  id: string
  name: string
  type: string
  value: string
  ttl: number
  /** The provider does not let anybody change it. */
  locked?: boolean
  /** Present but not served. */
  disabled?: boolean
  /** Served as the address of a web proxy, which hides SMTP. */
  proxied?: boolean
}

/** The canonical form of a value, for comparing: addresses shortened, names in lower case, TXT byte for byte. */
export function canonicalValue(type: string, value: string): string {
  if ((type === 'A' || type === 'AAAA') && ipaddr.isValid(value)) return ipaddr.parse(value).toString()
  if (type === 'CNAME' || type === 'NS' || type === 'PTR') return canonicalName(value)
  if (type === 'MX') {
    const { preference, host } = parseMx(value)
    return `${preference} ${host}`
  }
  return value
}

/** The parts of an MX value (RFC 1035 3.3.9); `host` is canonical, and empty for a null MX (RFC 7505). */
export function parseMx(value: string): { preference: number; host: string } {
  const [preference, host = ''] = value.trim().split(/\s+/)
  return { preference: Number(preference), host: canonicalName(host) }
}

/** True when the stored record says what is wanted; TTL and case of names do not matter. */
export function sameRecord(stored: StoredRecord, wanted: Pick<WantedRecord, 'name' | 'type' | 'value'>): boolean {
  return (
    stored.name === wanted.name &&
    stored.type === wanted.type &&
    canonicalValue(stored.type, stored.value) === canonicalValue(wanted.type, wanted.value)
  )
}

/**
 * The joined value of TXT presentation text: one or several quoted character-strings, or plain text (RFC 1035 5.1).
 * A value with a quote at one end only is plain.
 */
export function parseTxt(text: string): string {
  const trimmed = text.trim()
  if (!/^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*$/s.test(trimmed)) return text
  return txtStrings(trimmed).join('')
}

/** The quoted character-strings of TXT presentation text, unescaped. */
export function txtStrings(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(match => unescapeTxt(match[1] ?? ''))
}

/** TXT presentation text: quoted character-strings of at most 255 bytes each (RFC 1035 3.3). */
export function quoteTxt(value: string): string {
  return txtChunks(value)
    .map(chunk => `"${chunk.toString('latin1').replace(/["\\]|[^\x20-\x7e]/g, escapeByte)}"`)
    .join(' ')
}

/** The character-strings of a TXT value, in bytes. An empty value is one empty string. */
export function txtChunks(value: string): Buffer[] {
  const bytes = Buffer.from(value, 'utf8')
  const count = Math.max(1, Math.ceil(bytes.length / 255))
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * 255, (index + 1) * 255))
}

function escapeByte(char: string): string {
  return char === '"' || char === '\\' ? `\\${char}` : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`
}

const BACKSLASH = 0x5c
const ZERO = 0x30

/** In one pass and in place: the text may be the answer of an untrusted server. */
function unescapeTxt(text: string): string {
  if (!text.includes('\\')) return text
  const octets = Buffer.from(text, 'utf8')
  let end = 0
  for (let at = 0; at < octets.length; at++) {
    const isEscape = octets[at] === BACKSLASH
    const code = isEscape ? codeAt(octets, at + 1) : undefined
    if (isEscape) at += code === undefined ? 1 : 3
    if (at < octets.length) octets[end++] = code ?? octets[at] ?? 0
  }
  return octets.toString('utf8', 0, end)
}

/** The octet that three decimal digits name; undefined for anything else. */
function codeAt(octets: Buffer, at: number): number | undefined {
  let code = 0
  for (let digit = at; digit < at + 3; digit++) {
    const value = (octets[digit] ?? 0) - ZERO
    if (value < 0 || value > 9) return undefined
    code = code * 10 + value
  }
  return code > 255 ? undefined : code
}
