/** Reads the header of a message into fields, strictly: what one reader takes for a field and another for text is refused. */
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { newDecoder } from './charset.ts'

/** One field with its place in the message. */
export interface HeaderField {
  /** Lower case. */
  name: string
  /** Text after the colon with its folding, as Latin-1 code units of the octets. */
  value: string
  /** First octet of the name, and the octet after the field's last CRLF. */
  start: number
  end: number
  /** `value` is not what was submitted, but what replaces it (header-encoding.ts, submission.ts). */
  encoded?: true
  /** It does not leave. */
  removed?: true
}

/** The header of a message. */
export interface Header {
  fields: HeaderField[]
  /** Octets up to and with the empty line. */
  length: number
}

/** Largest header: no honest client comes near, and validating it is the only part that works on strings. */
const MAX_HEADER_OCTETS = 256 * 1024
/** Names are printable ASCII without colon (RFC 5322 2.2); a space before the colon is obsolete and hides fields. */
const FIELD_NAME = /^[!-9;-~]{1,200}$/

/**
 * Parses the header of a message whose lines are known to end in CRLF. Returns why it cannot be read otherwise.
 * A message without an empty line is all header (RFC 5322 3.5 makes the body optional).
 */
export function parseHeader(raw: Buffer): Header | Sentence {
  const blank = raw.indexOf('\r\n\r\n')
  const length = raw.toString('latin1', 0, 2) === '\r\n' ? 2 : blank < 0 ? raw.length : blank + 4
  if (length > MAX_HEADER_OCTETS) return sentence('detail.header_octets', { count: MAX_HEADER_OCTETS })
  const text = raw.toString('latin1', 0, length)
  const fields: HeaderField[] = []
  for (let start = 0; start < length && !text.startsWith('\r\n', start); ) {
    const end = endOfField(text, start)
    const field = toField(text, start, end)
    if ('code' in field) return field
    fields.push(field)
    start = end
  }
  return { fields, length }
}

/** The octet after a field: its line and all that start with white space. */
function endOfField(text: string, start: number): number {
  let end = start
  do {
    const lineEnd = text.indexOf('\r\n', end)
    end = lineEnd < 0 ? text.length : lineEnd + 2
  } while (text[end] === ' ' || text[end] === '\t')
  return end
}

function toField(text: string, start: number, end: number): HeaderField | Sentence {
  const colon = text.indexOf(':', start)
  const name = colon < 0 || colon >= end ? '' : text.slice(start, colon)
  if (!FIELD_NAME.test(name)) return sentence('detail.header_line', { at: start })
  const value = text.slice(colon + 1, end).replace(/\r\n$/, '')
  if (/\r\n[ \t]*(\r\n|$)/.test(value)) return sentence('detail.header_fold', { at: start })
  return { name: name.toLowerCase(), value, start, end }
}

/** The text of a field as people read it: unfolded, UTF-8, encoded words decoded (RFC 2047). */
export function fieldText(field: HeaderField): string {
  return decodeWords(unfold(field.value))
}

/** A value on one line without white space around it, as UTF-8 (invalid octets become U+FFFD). */
export function unfold(value: string): string {
  return Buffer.from(value.replace(/\r\n(?=[ \t])/g, ''), 'latin1')
    .toString('utf8')
    .trim()
}

const ENCODED_WORD = /=\?([\w.:+-]{1,40})(?:\*[\w-]*)?\?([bq])\?([!->@-~]*)\?=/i
const ENCODED_WORDS = new RegExp(ENCODED_WORD.source, 'gi')
const BETWEEN_ENCODED_WORDS = new RegExp(`(${ENCODED_WORD.source})[ \\t]+(?==\\?)`, 'gi')

/** Charsets of one text; honest text has one or two, and an unknown one costs an exception. */
const MAX_CHARSETS = 10

/** Text with its encoded words decoded (RFC 2047); one in a charset that is not known stays as it is. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  const decoderOf = charsetDecoders()
  return text
    .replace(BETWEEN_ENCODED_WORDS, '$1')
    .replace(ENCODED_WORDS, (word, charset: string, encoding: string, data: string) => {
      const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(data, 'base64') : quotedPrintable(data)
      return decoderOf(charset.toLowerCase())?.decode(bytes) ?? word
    })
}

function charsetDecoders() {
  const decoders = new Map<string, ReturnType<typeof newDecoder>>()
  return (charset: string) => {
    if (!decoders.has(charset) && decoders.size < MAX_CHARSETS) decoders.set(charset, newDecoder(charset))
    return decoders.get(charset)
  }
}

function quotedPrintable(data: string): Buffer {
  return Buffer.from(
    data
      .replace(/_/g, ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}
