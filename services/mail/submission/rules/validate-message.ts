/** What a submitted message must be, and what is added to it before it is queued. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { domainOf } from '../../message/address.ts'
import { encodeHeader } from '../../message/header-encoding.ts'
import { fieldText, type Header, type HeaderField, parseHeader, unfold } from '../../message/headers.ts'
import { findLineError, type LineError } from '../../message/line-endings.ts'
import { MAX_FROM_MAILBOXES, readMailboxes } from '../../message/mailboxes.ts'
import { type OwnUnsubscribe, readOwnUnsubscribe } from '../../streams/rules/unsubscribe-fields.ts'
import { removeSender, replaceSenders, replaceUnreadable } from './fallback-sender.ts'
import { findRepeatedField, type Identity, REMOVED, readIdentities } from './header-policy.ts'

/** Why a submission is refused; the code is one of the register of problems. */
export interface SubmissionError {
  code:
    | 'bad_line_endings'
    | 'bad_bytes'
    | 'line_too_long'
    | 'bad_header'
    | 'too_many_authors'
    | 'mail_loop'
    | 'message_too_large'
    | 'sender_not_allowed'
  detail: Sentence
}

/** A message that was read once; every later check and change uses this reading. */
export interface ReadMessage {
  /** In ASCII but for local parts of addresses; fields that were encoded for that are marked. */
  header: Header
  /** Addresses of the one From field, domains as A-labels; at least one. */
  from: readonly [string, ...string[]]
  /** Further addresses that the message claims to come from: those of Sender, Resent-From and Resent-Sender. */
  identities: readonly Identity[]
  subject: string
  /** With its angle brackets; absent when the message has none. */
  messageId?: string
  hasDate: boolean
  /** Value of X-Idempotency-Key. */
  idempotencyKey?: string
  /** Values of X-Postwright-Stream and X-Postwright-List, in lower case. */
  stream?: string
  list?: string
  /** What X-Postwright-Track turns off. */
  track?: { opens?: boolean; clicks?: boolean }
  /** What the message says itself about leaving its list. */
  unsubscribe: OwnUnsubscribe
  hasFeedbackId: boolean
}

/** More hops than any honest path has (RFC 5321 6.3 wants a limit of at least 100 hops when relaying; we submit). */
const MAX_RECEIVED = 50
/** Longest subject that is kept for lists; the message itself keeps all of it. */
const SUBJECT_LENGTH = 300

/**
 * Validates the bytes of a message and reads what acceptance needs. `rest`: what is known of the bytes after `raw`,
 * which holds the whole header. With a fallback sender, a From or Sender that is no address of the internet (`root@web1`)
 * is replaced and no error.
 */
export function readMessage(
  raw: Buffer,
  maxBytes: number,
  rest?: { size: number; lineError: LineError | undefined },
  fallbackSender?: string,
): ReadMessage | SubmissionError {
  const size = raw.length + (rest?.size ?? 0)
  if (size > maxBytes)
    return { code: 'message_too_large', detail: sentence('detail.message_limit', { limit: maxBytes }) }
  const lineError = rest ? rest.lineError : findLineError(raw)
  if (lineError) return { code: lineError.code, detail: LINE_ERRORS[lineError.code](lineError.at) }
  const header = parseHeader(raw)
  if ('code' in header) return badHeader(header)
  const error = findRepeatedField(header.fields)
  if (error) return badHeader(error)
  const fields = encodeHeader(raw, header, REMOVED)
  if (!Array.isArray(fields)) return badHeader(fields)
  return readFields({ ...header, fields: fallbackSender ? replaceUnreadable(fields, fallbackSender) : fields })
}

/** The message without its Sender field. */
export function withoutSender(read: ReadMessage): ReadMessage {
  return {
    ...read,
    header: { ...read.header, fields: removeSender(read.header.fields) },
    identities: read.identities.filter(({ field }) => field !== 'Sender'),
  }
}

/** The message in the name of the fallback sender: it is the one author, and there is no other Sender. */
export function withFallbackSender(read: ReadMessage, fallbackSender: string): ReadMessage {
  const rest = withoutSender(read)
  const fields = replaceSenders(rest.header.fields, fallbackSender)
  return { ...rest, header: { ...rest.header, fields }, from: [fallbackSender] }
}

const LINE_ERRORS = {
  bad_line_endings: (at: number) => sentence('detail.line_ending', { at }),
  bad_bytes: (at: number) => sentence('detail.nul', { at }),
  line_too_long: (at: number) => sentence('detail.line_length', { at }),
}

function readFields(header: Header): ReadMessage | SubmissionError {
  const named = (name: string): HeaderField[] => header.fields.filter(field => field.name === name)
  if (named('received').length > MAX_RECEIVED)
    return { code: 'mail_loop', detail: sentence('detail.received_fields', { count: MAX_RECEIVED }) }
  const [author] = named('from')
  if (!author) return badHeader(sentence('detail.field_exactly_once', { field: 'From' }))
  const authors = readMailboxes(unfold(author.value))
  if (authors === 'too_many')
    return { code: 'too_many_authors', detail: sentence('detail.authors', { count: MAX_FROM_MAILBOXES }) }
  const [first, ...rest] = authors ?? []
  if (first === undefined) return badHeader(sentence('detail.from_addresses'))
  const identities = readIdentities(header.fields)
  if (!Array.isArray(identities)) return badHeader(identities)
  const [subject] = named('subject')
  const [id] = named('message-id')
  const [key] = named('x-idempotency-key')
  const wordOf = (name: string) => named(name).map(({ value }) => unfold(value).trim().toLowerCase())[0]
  const [stream, list] = [wordOf('x-postwright-stream'), wordOf('x-postwright-list')]
  const track = readTrack(wordOf('x-postwright-track'))
  if (track === null) return badHeader(sentence('tracking.header'))
  return {
    header,
    from: [first, ...rest],
    identities,
    subject: subject ? fieldText(subject).slice(0, SUBJECT_LENGTH) : '',
    hasDate: named('date').length > 0,
    unsubscribe: readOwnUnsubscribe(header.fields),
    hasFeedbackId: named('feedback-id').length > 0,
    ...(id && { messageId: unfold(id.value) }),
    ...(key && { idempotencyKey: unfold(key.value) }),
    ...(stream !== undefined && { stream }),
    ...(list !== undefined && { list }),
    ...(track && { track }),
  }
}

/** The words of X-Postwright-Track: what is still tracked. Null for another word. */
function readTrack(word: string | undefined): ReadMessage['track'] | null {
  switch (word) {
    case undefined:
      return undefined
    case 'off':
      return { opens: false, clicks: false }
    case 'opens':
      return { clicks: false }
    case 'clicks':
      return { opens: false }
    default:
      return null
  }
}

function badHeader(detail: Sentence): SubmissionError {
  return { code: 'bad_header', detail }
}

/** What the trace and the missing fields are made of. */
export interface Stamp {
  id: string
  hostname: string
  at: Date
  received: { from: string; ip: string; protocol: string }
  /** Recipients may read the client's name and address. */
  showClient: boolean
  smtputf8: boolean
}

/**
 * The bytes that are queued: the message without the fields of {@link REMOVED} and with those that were encoded, after
 * a Received field and, where they are missing, Date and Message-ID (RFC 6409 8). Returns them with the Message-ID.
 */
export function finishMessage(raw: Buffer, read: ReadMessage, stamp: Stamp): { raw: Buffer; messageId: string } {
  const messageId = read.messageId || `<${stamp.id}@${domainOf(read.from[0])}>`
  const added = [
    receivedField(stamp),
    ...(read.hasDate ? [] : [`Date: ${mailDate(stamp.at)}\r\n`]),
    ...(read.messageId ? [] : [`Message-ID: ${messageId}\r\n`]),
  ]
  const pieces: Uint8Array[] = [Buffer.from(added.join(''), 'latin1')]
  let kept = 0
  for (const field of read.header.fields) {
    const removed = field.removed || REMOVED.has(field.name) || (field.name === 'message-id' && !read.messageId)
    if (!removed && !field.encoded) continue
    pieces.push(raw.subarray(kept, field.start))
    if (!removed) pieces.push(encodedField(raw, field))
    kept = field.end
  }
  pieces.push(raw.subarray(kept))
  return { raw: Buffer.concat(pieces), messageId }
}

/** The name keeps its case. */
function encodedField(raw: Buffer, { name, value, start }: HeaderField): Buffer {
  return Buffer.from(`${raw.toString('latin1', start, start + name.length)}:${value}\r\n`, 'latin1')
}

/**
 * Trace field of RFC 5321 4.4. It contains the origin of the message only on request: recipients do not need the
 * address of a person at home (the log has it). The client's HELO name is reduced to valid characters of a host name.
 */
function receivedField({ id, hostname, at, received, showClient, smtputf8 }: Stamp): string {
  const helo = received.from.replace(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'
  const address = received.ip.includes(':') ? `IPv6:${received.ip}` : received.ip
  const from = showClient ? `from ${helo} ([${address}])\r\n\t` : ''
  const protocol = smtputf8 ? received.protocol.replace(/^ESMTP/, 'UTF8SMTP') : received.protocol
  return `Received: ${from}by ${hostname} with ${protocol} id ${id};\r\n\t${mailDate(at)}\r\n`
}

/** `Sat, 21 Nov 2026 10:26:32 +0000` (RFC 5322 3.3). */
function mailDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

/**
 * True when an address may be used by a login: `allowed` holds addresses and `@domain`s, an empty list allows all.
 * Compared without case; the domain is an A-label on both sides.
 */
export function isAllowedSender(email: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true
  const address = email.toLowerCase()
  const domain = `@${domainOf(address)}`
  return allowed.some(entry => entry.toLowerCase() === (entry.startsWith('@') ? domain : address))
}
