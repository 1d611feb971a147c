/**
 * Header fields in ASCII, whatever the client submitted: text in UTF-8 or in an older charset is encoded, so that the
 * message needs SMTPUTF8 (RFC 6531) only when an address has a local part beyond ASCII.
 */

import { isAscii } from 'node:buffer'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { normaliseEmail } from './address.ts'
import { unlabelledDecoder } from './charset.ts'
import { encodeParameter, encodeText, encodeUnstructured, foldValue } from './encoded-words.ts'
import { decodeWords, type Header, type HeaderField } from './headers.ts'

/**
 * What is left of the work that one message may ask for, all its headers together. Honest mail has a dozen fields beyond
 * ASCII, and a few kilobytes in them.
 */
export interface EncodingBudget {
  fields: number
  /** Octets above 127, each of which becomes three or more. */
  octets: number
}

const MOST_FIELDS = 200
const MOST_OCTETS = 64 * 1024

/** The budget of one message: some 20 ms of work. */
export function encodingBudget(): EncodingBudget {
  return { fields: MOST_FIELDS, octets: MOST_OCTETS }
}

const BEYOND_ASCII = /\P{ASCII}/u
const HIGH_OCTET = /[\x80-\xff]/
const HIGH_OCTETS = /[\x80-\xff]+/g

/** Fields whose display names and comments are text, but not their addresses. */
const ADDRESSES =
  /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$|^(?:disposition-notification-to|return-receipt-to|errors-to|cfbl-address|list-id)$/
/** Fields with parameters (RFC 2231). */
const PARAMETERS = /^content-(?:type|disposition)$/
/** Fields of identifiers or addresses of the web: the same octets are always written the same way, so threads hold. */
const IDENTIFIERS = /^(?:(?:resent-)?message-id|in-reply-to|references|content-id|content-location|list-.*)$/
/** Fields of other grammars, in which nothing can be encoded and octets above 127 never meant anything. */
const ASCII_ONLY =
  /^(?:(?:resent-)?date|mime-version|content-transfer-encoding|received|auto-submitted|dkim-signature|arc-.*)$/

/**
 * The fields with those beyond ASCII encoded, and marked so; otherwise returns why one cannot be encoded. `raw` is the whole message:
 * its body helps to find the charset of fields that are not in UTF-8. Fields named in `except` stay as they are. `budget`
 * is reduced by what was done.
 */
export function encodeHeader(
  raw: Buffer,
  header: Header,
  except: ReadonlySet<string> = new Set(),
  budget: EncodingBudget = encodingBudget(),
): HeaderField[] | Sentence {
  if (isAscii(raw.subarray(0, header.length))) return header.fields
  const body = raw.subarray(header.length)
  const decode = unlabelledDecoder(raw.subarray(0, header.length), body, declaredCharset(header, body))
  const fields: HeaderField[] = []
  for (const field of header.fields) {
    const beyondAscii = HIGH_OCTET.test(field.value) && !except.has(field.name)
    const encoded = beyondAscii ? (overBudget(field, budget) ?? encodeField(field, decode)) : field
    if ('code' in encoded) return encoded
    fields.push(encoded)
  }
  return fields
}

function overBudget({ value }: HeaderField, budget: EncodingBudget): Sentence | undefined {
  if (--budget.fields < 0) return sentence('detail.header_fields_beyond_ascii', { count: MOST_FIELDS })
  budget.octets -= value.length - value.replaceAll(HIGH_OCTETS, '').length
  if (budget.octets < 0) return sentence('detail.header_octets_beyond_ascii', { count: MOST_OCTETS })
  return undefined
}

/** The charset of the message's text: of its Content-Type, or of the first part that names one. */
function declaredCharset({ fields }: Header, body: Buffer): string | undefined {
  const type = fields.find(({ name }) => name === 'content-type')?.value ?? ''
  const pattern = /charset\s{0,5}=\s{0,5}"?([\w.:-]{1,40})/i
  return (pattern.exec(type) ?? pattern.exec(body.toString('latin1', 0, 65_536)))?.[1]
}

function encodeField(field: HeaderField, decode: (octets: Uint8Array) => string): HeaderField | Sentence {
  const { name } = field
  const text = decode(Buffer.from(field.value.replace(/\r\n(?=[ \t])/g, ''), 'latin1'))
  const encoded = encodeValue(name, text)
  const value = encoded && foldValue(name, encoded)
  if (value === undefined) return sentence('detail.header_not_encodable', { field: name })
  // Of all that only local parts can be beyond ASCII still; they go as UTF-8 (RFC 6532).
  return { ...field, value: Buffer.from(value, 'utf8').toString('latin1'), encoded: true }
}

function encodeValue(name: string, text: string): string | undefined {
  if (ADDRESSES.test(name)) return encodeAddresses(text) ?? encodeUnstructured(text)
  if (PARAMETERS.test(name)) return encodeParameters(text)
  if (IDENTIFIERS.test(name)) return text.replace(/\P{ASCII}+/gu, encodeURIComponent)
  return ASCII_ONLY.test(name) ? masked(text) : encodeUnstructured(text)
}

function masked(text: string): string {
  return text.replace(/\P{ASCII}/gu, '?')
}

/** `type; name=value; …`. A boundary is the one value that the body repeats, so that it cannot change. */
function encodeParameters(text: string): string | undefined {
  const [type = ''] = text.split(';', 1)
  let out = masked(type)
  const parameter = /;(\s*)([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)|;[^;]*/y
  for (parameter.lastIndex = type.length; parameter.lastIndex < text.length; ) {
    const [all = '', blank = '', name = '', value = ''] = parameter.exec(text) ?? []
    if (all === '') return undefined
    if (!BEYOND_ASCII.test(all)) out += all
    else if (!/^[\w-]+$/.test(name)) out += masked(all)
    else if (name.toLowerCase() === 'boundary') return undefined
    else out += `;${blank || ' '}${encodeParameter(name, unquote(value.trim()))}`
  }
  return out
}

/** Words with the blanks between them, quoted strings and single delimiters; comments are found by their parentheses. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[^"(),:;<>@[\]\\]+|(?:\\.)+|[\s\S]/gu

/** A list of mailboxes and groups (RFC 5322 section 3.4); undefined when a quote or comment does not end. */
function encodeAddresses(text: string): string | undefined {
  const tokens = joinComments(text)
  if (!tokens) return undefined
  let out = ''
  for (let at = 0; at <= tokens.length; ) {
    const end = indexOf(tokens, ['<', ':', ',', ';'], at)
    const delimiter = tokens[end] ?? ''
    const run = tokens.slice(at, end)
    out += (delimiter === '<' || delimiter === ':' ? encodePhrase(run) : encodeWithoutBrackets(run)) + delimiter
    at = end + 1
    if (delimiter !== '<') continue
    const close = indexOf(tokens, ['>'], at)
    out += encodeAddress(tokens.slice(at, close).join('')) + (tokens[close] ?? '')
    at = close + 1
  }
  return out
}

/** Position of the first of some delimiters; the end when there is none. */
function indexOf(tokens: readonly string[], delimiters: readonly string[], from: number): number {
  let at = from
  while (at < tokens.length && !delimiters.includes(tokens[at] ?? '')) at++
  return at
}

/** The tokens with each outermost comment as one. */
function joinComments(text: string): string[] | undefined {
  const tokens: string[] = []
  let comment = ''
  let depth = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '"' && depth === 0) return undefined
    if (token === '(') depth++
    if (depth > 0) comment += token
    else tokens.push(token)
    if (token !== ')' || depth === 0 || --depth > 0) continue
    tokens.push(comment)
    comment = ''
  }
  return depth === 0 ? tokens : undefined
}

function encodeWithoutBrackets(tokens: readonly string[]): string {
  if (!tokens.includes('@')) return encodePhrase(tokens)
  const address = tokens.filter(token => !token.startsWith('(')).join('')
  const comments = tokens.filter(token => token.startsWith('(')).map(encodeComment)
  return [encodeAddress(address.trimEnd()), ...comments].join(' ')
}

/** A display name or the name of a group; blanks at its ends stay. */
function encodePhrase(tokens: readonly string[]): string {
  const text = tokens.join('')
  if (!BEYOND_ASCII.test(text)) return text
  const words = tokens.filter(token => !token.startsWith('('))
  const phrase = words.map(unquote).join('')
  const comments = tokens.filter(token => token.startsWith('(')).map(encodeComment)
  const encoded = BEYOND_ASCII.test(words.join('')) ? encodeText(decodeWords(phrase.trim())) : words.join('').trim()
  return `${/^\s/.test(text) ? ' ' : ''}${[encoded, ...comments].join(' ')}${/\s$/.test(text) ? ' ' : ''}`
}

function encodeComment(comment: string): string {
  if (!BEYOND_ASCII.test(comment)) return comment
  return `(${encodeText(comment.slice(1, -1).replace(/\\(.)/gu, '$1'))})`
}

/** An address whose domain goes as an A-label; what is no address keeps its place, but nothing beyond ASCII. */
function encodeAddress(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text
  const blank = /^\s*/.exec(text)?.[0] ?? ''
  return blank + (normaliseEmail(text.trim()) ?? masked(text.trim()))
}

function unquote(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gu, '$1') : text
}
