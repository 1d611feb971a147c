/**
 * What a DKIM signature covers (RFC 6376, relaxed/relaxed), computed from the bytes as they go to the wire. Bytes are
 * handled as Latin-1 text: one character each, nothing re-encoded.
 */
import { createHash, type Hash } from 'node:crypto'
import type { DkimAlgorithm } from '../../dns/records/dkim.ts'

/**
 * Fields that are listed once more than they occur (section 8.15): one that is added on the way, which some readers show
 * instead of ours, breaks the signature. A message has each of them once at most, or acceptance refuses it.
 */
const OVERSIGNED = [
  ...['from', 'subject', 'to', 'cc', 'reply-to', 'date', 'message-id', 'mime-version', 'content-type'],
  ...['content-transfer-encoding', 'list-unsubscribe', 'list-unsubscribe-post'],
] as const

/**
 * Fields that are signed when present. RFC 9477 wants the addresses for complaints signed, mailbox providers
 * Feedback-ID; every List-* field is signed as well.
 */
const SIGNED = new Set<string>([
  ...OVERSIGNED,
  ...['sender', 'in-reply-to', 'references', 'content-language', 'content-disposition', 'auto-submitted'],
  ...['resent-from', 'resent-sender', 'resent-to', 'resent-cc', 'resent-date', 'resent-message-id'],
  ...['feedback-id', 'cfbl-address', 'cfbl-feedback-id'],
])

/** A message split at its first empty line. `header` ends with CRLF. */
export interface SplitMessage {
  header: string
  body: Buffer
}

/** Splits a message; one without an empty line is all header. */
export function splitMessage(raw: Buffer): SplitMessage {
  const cut = raw.indexOf('\r\n\r\n')
  if (cut === -1) return { header: withLineEnd(raw.toString('latin1')), body: Buffer.alloc(0) }
  return { header: raw.toString('latin1', 0, cut + 2), body: raw.subarray(cut + 4) }
}

/** Bytes that are canonicalised between two turns of the event loop: about a millisecond. */
const STEP_BYTES = 256 * 1024

/**
 * The relaxed body (section 3.4.4) in pieces: blanks shrink to one, blanks at line ends and empty lines at the end
 * go. A caller may yield between pieces. Strings have one character for each octet.
 */
export function* relaxedBody(body: Buffer): Generator<string | Buffer> {
  let end = body.length
  while (end > 0 && isBlank(body[end - 1])) end--
  for (let from = 0; from < end; ) {
    const near = from + STEP_BYTES >= end ? end : body.lastIndexOf('\r\n', from + STEP_BYTES) + 2
    // A line longer than a step cannot be accepted, but this must end all the same.
    const to = near > from ? near : end
    yield relaxed(body.subarray(from, to))
    from = to
  }
  if (end > 0) yield '\r\n'
}

/** Encoded attachments have no blanks: looking for them takes a tenth of the time of reading the octets as text. */
function relaxed(octets: Buffer): string | Buffer {
  if (!octets.includes(SPACE) && !octets.includes(TAB)) return octets
  const text = octets.toString('latin1')
  return UNRELAXED.test(text) ? text.replace(/[ \t]+/g, ' ').replace(/ (?=\r\n)/g, '') : text
}

const [SPACE, TAB] = [0x20, 0x09]
/** Most text needs no change, and testing is a fifth of replacing. */
const UNRELAXED = /[ \t][ \t]|\t| \r\n/

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a
}

/** The body hash `bh=` for small bodies in one go. */
export function bodyHash(body: Buffer): string {
  const hash: Hash = createHash('sha256')
  for (const piece of relaxedBody(body)) updateHash(hash, piece)
  return hash.digest('base64')
}

/** Adds a piece of {@link relaxedBody} to a hash. */
export function updateHash(hash: Hash, piece: string | Buffer): void {
  if (typeof piece === 'string') hash.update(piece, 'latin1')
  else hash.update(piece)
}

/** The key side of a signature. */
export interface SignatureKey {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
}

/** What to sign, and how the header field looks once the signature (base64) is there. */
export interface SignatureDraft {
  data: Buffer
  field(signature: string): string
}

/** Drafts a signature over {@link SIGNED} and {@link OVERSIGNED} fields. `at`: Unix seconds. */
export function draftSignature(header: string, hash: string, key: SignatureKey, at: number): SignatureDraft {
  const fields = readFields(header)
  const names = [...fields.map(({ name }) => name), ...OVERSIGNED]
  const start =
    `DKIM-Signature: v=1; a=${key.algorithm}; c=relaxed/relaxed;\r\n d=${key.domain}; s=${key.selector}; t=${at};\r\n` +
    ` h=${folded(names)};\r\n bh=${hash};\r\n b=`
  return {
    data: Buffer.from(fields.map(({ line }) => line).join('') + relaxedField(start).slice(0, -2), 'latin1'),
    field: signature => `${start}${signature.replace(/.{1,72}(?=.)/g, '$&\r\n ')}\r\n`,
  }
}

/** Names with colons between them, folded after colons (section 3.5, `h=`). */
function folded(names: readonly string[]): string {
  let text = ''
  let column = 0
  for (const [index, name] of names.entries()) {
    const piece = index === names.length - 1 ? name : `${name}:`
    if (column + piece.length > LINE_LENGTH) {
      text += '\r\n '
      column = 0
    }
    text += piece
    column += piece.length
  }
  return text
}

/** Columns of a folded line, without its indentation. */
const LINE_LENGTH = 74

/** The fields to sign, relaxed. Verifiers take fields of one name from the bottom up (section 5.4.2), so all are reversed. */
function readFields(header: string): { name: string; line: string }[] {
  const found: { name: string; line: string }[] = []
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const name = field
      .slice(0, Math.max(field.indexOf(':'), 0))
      .trimEnd()
      .toLowerCase()
    if (SIGNED.has(name) || name.startsWith('list-')) found.push({ name, line: relaxedField(field) })
  }
  return found.reverse()
}

/** One field in relaxed form (section 3.4.2), with its CRLF. */
function relaxedField(field: string): string {
  const colon = field.indexOf(':')
  const value = field
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value}\r\n`
}

function withLineEnd(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}
