/**
 * What a DKIM signature covers (RFC 6376, relaxed/relaxed), computed from the bytes as they go to the wire. Bytes are
 * handled as Latin-1 text: one character each, nothing re-encoded.
 */
import { createHash, type Hash } from 'node:crypto'
import type { DkimAlgorithm } from './dkim.ts'

/** Header fields that are signed when present; lists and identities included (RFC 8058 wants List-Unsubscribe-Post). */
const SIGNED = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-language', 'content-disposition'],
  ...[
    'list-id',
    'list-help',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'list-subscribe',
    'list-post',
    'auto-submitted',
  ],
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
 * go. A caller may yield between pieces.
 */
export function* relaxedBody(body: Buffer): Generator<string> {
  let end = body.length
  while (end > 0 && isBlank(body[end - 1])) end--
  for (let from = 0; from < end; ) {
    const near = from + STEP_BYTES >= end ? end : body.lastIndexOf('\r\n', from + STEP_BYTES) + 2
    // A line longer than a step cannot be accepted, but this must end all the same.
    const to = near > from ? near : end
    const text = body.toString('latin1', from, to)
    yield UNRELAXED.test(text) ? text.replace(/[ \t]+/g, ' ').replace(/ (?=\r\n)/g, '') : text
    from = to
  }
  if (end > 0) yield '\r\n'
}

/** Most text needs no change, and testing is a fifth of replacing. */
const UNRELAXED = /[ \t][ \t]|\t| \r\n/

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a
}

/** The body hash `bh=` for small bodies in one go. */
export function bodyHash(body: Buffer): string {
  const hash: Hash = createHash('sha256')
  for (const piece of relaxedBody(body)) hash.update(piece, 'latin1')
  return hash.digest('base64')
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

/** Drafts a signature. From is listed once more than it occurs, so that a second one breaks it (section 8.15). `at`: Unix seconds. */
export function draftSignature(header: string, hash: string, key: SignatureKey, at: number): SignatureDraft {
  const fields = readFields(header)
  const names = [...fields.map(({ name }) => name), 'from']
  // Verifiers take fields of one name from the bottom up (section 5.4.2).
  const relaxed = fields.map(({ line }) => line).join('')
  const tags = [
    `v=1`,
    `a=${key.algorithm}`,
    `c=relaxed/relaxed`,
    `d=${key.domain}`,
    `s=${key.selector}`,
    `t=${at}`,
    `h=${names.join(':')}`,
    `bh=${hash}`,
    `b=`,
  ]
  return {
    data: Buffer.from(`${relaxed}dkim-signature:${tags.join('; ')}`, 'latin1'),
    field: signature =>
      `DKIM-Signature: ${tags.slice(0, 3).join('; ')};\r\n ${tags.slice(3, 6).join('; ')};\r\n ${tags[6]};\r\n ${tags[7]};\r\n b=${signature.replace(/.{1,72}(?=.)/g, '$&\r\n ')}\r\n`,
  }
}

/** The fields to sign, those of one name from the bottom up, relaxed (section 3.4.2). */
function readFields(header: string): { name: string; line: string }[] {
  const found: { name: string; line: string }[] = []
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const colon = field.indexOf(':')
    const name = field.slice(0, Math.max(colon, 0)).trimEnd().toLowerCase()
    if (!SIGNED.has(name)) continue
    const value = field
      .slice(colon + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .replace(/^ | $/g, '')
    found.push({ name, line: `${name}:${value}\r\n` })
  }
  return found.reverse()
}

function withLineEnd(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}
