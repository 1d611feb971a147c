/**
 * Terms of the message log's search: complete words, addresses and their parts, Message-IDs and tags. A message and a
 * query are split by the same rules, so a query finds a message when all of the query's terms are among the message's.
 */
import { normaliseEmail } from '../../message/address.ts'

/** The parts of a message that are searched. */
export interface Searchable {
  from: string
  subject: string
  /** With or without angle brackets. */
  message_id: string
  rcpts: readonly { email: string }[]
  tags?: readonly { name: string; value: string }[] | undefined
  template?: { id: string } | undefined
  /** What submitted it: the id of a token or an SMTP login. */
  via?: { id?: string } | undefined
}

/** Characters of a subject that are indexed, and words of a local part. */
const SUBJECT_MAX = 400
const LOCAL_WORDS = 4
/** Parent domains of a domain that are indexed, itself included: a.b.example.com, b.example.com, example.com. */
const DOMAIN_LEVELS = 3

/** Scripts that are written without spaces between words; pairs of characters are used as words there. */
/**
 * Lengths of the beginnings of an address's parts that are indexed: a query finds the blocks of the longest one that it
 * has. Shorter queries lead to no term.
 */
const BEGINNINGS = [3, 5, 8, 12, 18]
/** Parts of an address whose beginnings are indexed: itself, words of the local part, labels of the domain. */
const PARTS = 8

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const UNSPACED_RUN = new RegExp(`([${UNSPACED}]+)`, 'u')
const WORDS = new RegExp(`[${UNSPACED}]+|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+`, 'gv')
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u')
const OUTER_START = /^[^\p{L}\p{N}\p{M}]+/u
/** Where a part of an address begins, in an expression. */
const PART_START = '(?:^|[^\\p{L}\\p{N}\\p{M}])'
const OUTER = /^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu

/** All terms of a message, each once. */
export function messageTerms({
  from,
  subject,
  message_id: messageId,
  rcpts,
  tags = [],
  template,
  via,
}: Searchable): Set<string> {
  const terms = new Set<string>()
  addAddress(terms, from)
  for (const { email } of rcpts) {
    addAddress(terms, email)
    addBeginnings(terms, email)
  }
  add(terms, trimmed(messageId))
  for (const chunk of chunksOf(subject.slice(0, SUBJECT_MAX))) addChunk(terms, chunk)
  for (const { name, value } of tags) {
    terms.add(tagTerm(name))
    terms.add(tagTerm(`${name}:${value}`))
  }
  if (template) terms.add(templateTerm(template.id))
  if (via?.id !== undefined) terms.add(submitterTerm(via.id))
  return terms
}

/** Terms that a message must have to match the text of a search field: an AND of complete words, addresses and ids. */
export function queryTerms(text: string): Set<string> {
  const terms = new Set<string>()
  for (const chunk of chunksOf(text)) {
    if (chunk.includes('@')) add(terms, exactTerm(chunk))
    else for (const part of chunk.split(UNSPACED_RUN)) addRun(terms, trimmed(part), false)
  }
  return terms
}

/** The term of a recipient's address of which only a part is known, see {@link recipientPattern}; undefined: too short. */
export function recipientTerm(part: string): string | undefined {
  const text = part.toLowerCase().replace(OUTER_START, '')
  const length = BEGINNINGS.findLast(most => most <= text.length)
  return length === undefined ? undefined : beginningTerm(text.slice(0, length))
}

/** An expression for addresses with that part; one that begins with a separator, such as `@example.com`, brings its own start. */
export function recipientPattern(part: string): string {
  return `${OUTER_START.test(part) ? '' : PART_START}${escapePattern(part)}`
}

/** A text in an expression for the database, which refuses the `\uXXXX` that JavaScript writes for blanks above U+00FF. */
export function escapePattern(text: string): string {
  return RegExp.escape(text).replaceAll(/\\(?:u([0-9a-f]{4})|.)/gs, (sequence, hex?: string) =>
    hex === undefined ? sequence : `\\x{${hex}}`,
  )
}

/** The term of one complete address, domain or Message-ID. */
export function exactTerm(value: string): string {
  return trimmed(normaliseEmail(value) ?? value)
}

/** The term of a tag, `name` or `name:value`; the space keeps it apart from words. */
export function tagTerm(tag: string): string {
  return `tag ${tag}`
}

/** The term of a template's id. */
export function templateTerm(id: string): string {
  return `template ${id}`
}

/** The term of a token or an SMTP login that submits. */
export function submitterTerm(id: string): string {
  return `via ${id}`
}

/**
 * A 32-bit number for a term of an account. Different terms may share one: what it leads to is compared with the query
 * itself. Includes the account, so that a search never looks at blocks without a message of that account.
 */
export function hashTerm(userId: string, term: string): number {
  let [a, b] = [0x9e3779b9, 0x85ebca6b]
  for (const text of [userId, '\0', term])
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      a = Math.imul(a ^ unit, 0x01000193)
      b = Math.imul(b ^ unit, 0x5bd1e995)
    }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b)
  b = Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  return (a ^ (b >>> 16) ^ b) | 0
}

/** The parts of a text between white space, in lower case. */
export function chunksOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/u).filter(Boolean)
}

/** What a part of a query is compared with by text: an address as it is stored, or the part without outer punctuation. */
export function chunkText(chunk: string): string {
  return (chunk.includes('@') ? exactTerm(chunk) : trimmed(chunk)) || chunk
}

function trimmed(chunk: string): string {
  return chunk.toLowerCase().replaceAll(OUTER, '')
}

function wordsOf(text: string): readonly string[] {
  return text.match(WORDS) ?? []
}

function add(terms: Set<string>, term: string): void {
  if (term !== '') terms.add(term)
}

/** A part of a subject: itself without outer punctuation, as in `ord-17`, and its words. */
function addChunk(terms: Set<string>, chunk: string): void {
  if (chunk.includes('@')) add(terms, exactTerm(chunk))
  for (const part of chunk.split(UNSPACED_RUN)) {
    const core = trimmed(part)
    if (!IS_UNSPACED.test(core)) add(terms, core)
    for (const word of wordsOf(core)) addRun(terms, word, true)
  }
}

/** A word, or the pairs of an unspaced run. `singles`: also each of its characters, so that a query of one finds it. */
function addRun(terms: Set<string>, run: string, singles: boolean): void {
  if (!IS_UNSPACED.test(run)) {
    add(terms, run)
    return
  }
  const characters = [...run]
  if (singles || characters.length === 1) for (const character of characters) terms.add(character)
  for (let i = 1; i < characters.length; i++) terms.add(`${characters[i - 1]}${characters[i]}`)
}

function addAddress(terms: Set<string>, address: string): void {
  const lower = address.toLowerCase()
  add(terms, exactTerm(address))
  const at = lower.lastIndexOf('@')
  const local = lower.slice(0, Math.max(0, at))
  add(terms, trimmed(local))
  for (const word of wordsOf(local).slice(0, LOCAL_WORDS)) addRun(terms, word, true)
  const labels = lower.slice(at + 1).split('.')
  for (let level = 0; level < DOMAIN_LEVELS && labels.length - level >= 2; level++)
    terms.add(labels.slice(level).join('.'))
}

/** The space keeps it apart from words. */
function beginningTerm(text: string): string {
  return `to ${text}`
}

/** The beginnings of `ada.king@mail.example.com` from `ada`, `king`, `mail`, `example` and `com` on. */
function addBeginnings(terms: Set<string>, address: string): void {
  const lower = address.toLowerCase()
  const starts = [...lower.matchAll(/(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}\p{M}]/gu)].slice(0, PARTS)
  for (const { index } of starts)
    for (const length of BEGINNINGS)
      if (index + length <= lower.length) terms.add(beginningTerm(lower.slice(index, index + length)))
}
