/**
 * Reads JSON (RFC 8259) from bytes as they arrive. `JSON.parse` blocks the process for a time proportional to the
 * document; this reader processes a chunk at a time, refuses a document with too many values before they fill the
 * memory, and never builds a string of many megabytes. Strict about text: invalid UTF-8 and lone surrogates are errors.
 */
import { type Sentence, sentence } from '../sentences/sentence.ts'
import { BLOCK_BYTES, decodeUtf8, JsonError, type LargeText, TextBuffer } from './json-text.ts'
import { OctetList } from './octet-list.ts'

/** What a document may have. */
export interface JsonLimits {
  /** Values, containers included. */
  values: number
  /** Members of one object, repeated names included. */
  members: number
  /** Containers inside one another. */
  depth: number
  /** Strings of more octets become {@link LargeText}. */
  text: number
  /**
   * Lists of more than this number of integers from 0 to 255, and of nothing else, become a Buffer: bytes that clients
   * write as numbers count as one value. Without it they are lists.
   */
  octets?: number
}

/** Longest name of a member, and longest number, in octets. */
const NAME_BYTES = 64 * 1024
const WORD_BYTES = 1_024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** 1 for octets that represent themselves in a string; non-ASCII text is validated at its end. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet < 0x20 || octet === QUOTE || octet === BACKSLASH ? 0 : 1,
)
/** 1 for what numbers and words consist of. */
const IN_WORD = Uint8Array.from({ length: 256 }, (_, octet) =>
  /[-+.\dA-Za-z]/.test(String.fromCharCode(octet)) ? 1 : 0,
)
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }
const ESCAPES: Readonly<Record<number, number>> = {
  [QUOTE]: QUOTE,
  [BACKSLASH]: BACKSLASH,
  47: 0x2f,
  98: 0x08,
  102: 0x0c,
  110: 0x0a,
  114: 0x0d,
  116: 0x09,
}

/** An incomplete container; `name` is that of the next value's member. */
interface Level {
  container: unknown[] | Record<string, unknown>
  name: string
  /** Members of an object so far. */
  members: number
  /** Entries of a list so far, while all of them are octets and nothing else was in it. */
  octets?: OctetList
}

/** Tokens that may follow. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing'

/** What was expected, as an error names it. */
const EXPECTED: Readonly<Record<Expected, Sentence | string>> = {
  value: sentence('json.a_value'),
  'value or ]': sentence('json.a_value_or_end'),
  name: sentence('json.a_name'),
  'name or }': sentence('json.a_name_or_end'),
  ':': '":"',
  ', or end': sentence('json.a_comma_or_end'),
  nothing: sentence('json.the_end'),
}

/** Reads one document: {@link push} its bytes in order, then {@link end}. Both throw {@link JsonError}. */
export class JsonReader {
  readonly #limits: JsonLimits
  readonly #text = new TextBuffer()
  #token: 'string' | 'word' | undefined
  #expected: Expected = 'value'
  #word = ''
  /** Remaining digits of `\uXXXX`; -1: after a backslash. 0: in no escape. */
  #escape = 0
  #unit = 0
  /** A high surrogate that waits for its low one. */
  #high = 0
  #result: unknown
  #values = 0
  readonly #stack: Level[] = []
  /** The last of the stack. */
  #top: Level | undefined
  /** Octets of earlier chunks. */
  #before = 0

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /** Reads a chunk. */
  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#token === 'string') at = this.#readString(bytes, at)
      else if (this.#token === 'word') at = this.#readWord(bytes, at)
      else at = this.#readOctets(bytes, at) ?? this.#readStructure(bytes, at)
    }
    this.#before += bytes.length
  }

  /** The document; it is complete. */
  end(): unknown {
    if (this.#token === 'word') this.#endWord(0)
    if (this.#token || this.#expected !== 'nothing') throw this.#unexpected(0, sentence('json.the_end'))
    return this.#result
  }

  /** The way that is fast, for the entries of a list of octets; undefined where there are none to read. */
  #readOctets(bytes: Buffer, at: number): number | undefined {
    if (!this.#top?.octets || this.#expected !== 'value') return undefined
    const next = this.#top.octets.read(bytes, at)
    return next > at ? next : undefined
  }

  #readStructure(bytes: Buffer, at: number): number {
    const octet = bytes[at] ?? 0
    if (octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09) return at + 1
    const expected = this.#expected
    if (octet === QUOTE && expected !== ':' && expected !== ', or end' && expected !== 'nothing') {
      this.#token = 'string'
      return this.#readWholeString(bytes, at + 1)
    }
    if (expected === 'value' || expected === 'value or ]') return this.#startValue(bytes, octet, at)
    if (octet === COLON && expected === ':') this.#expected = 'value'
    else if (octet === CLOSE_OBJECT && expected === 'name or }') this.#close()
    else if (expected === ', or end') this.#continue(bytes, octet, at)
    else throw this.#unexpectedCharacter(bytes, at)
    return at + 1
  }

  #startValue(bytes: Buffer, octet: number, at: number): number {
    if (octet === OPEN_OBJECT) this.#open({}, 'name or }', at)
    else if (octet === OPEN_ARRAY) this.#open([], 'value or ]', at)
    else if (octet === CLOSE_ARRAY && this.#expected === 'value or ]') this.#close()
    else if (IN_WORD[octet] === 1) return this.#readWord(bytes, at)
    else throw this.#unexpectedCharacter(bytes, at)
    return at + 1
  }

  /** After a value in a container. */
  #continue(bytes: Buffer, octet: number, at: number): void {
    const inArray = Array.isArray(this.#top?.container)
    if (octet === COMMA) this.#expected = inArray ? 'value' : 'name'
    else if (octet === (inArray ? CLOSE_ARRAY : CLOSE_OBJECT)) this.#close()
    else throw this.#unexpectedCharacter(bytes, at)
  }

  #open(container: Level['container'], expected: Expected, at: number): void {
    if (this.#stack.length === this.#limits.depth)
      throw new JsonError(sentence('json.levels', { count: this.#limits.depth, at: this.#before + at }), 'size')
    this.#put(container)
    this.#top = { container, name: '', members: 0 }
    if (this.#limits.octets !== undefined && Array.isArray(container)) this.#top.octets = new OctetList()
    this.#stack.push(this.#top)
    this.#expected = expected
  }

  #close(): void {
    const { octets } = this.#stack.pop() ?? {}
    this.#top = this.#stack.at(-1)
    if (octets && octets.length > 0) this.#replaceLast(octets)
    this.#expected = this.#top ? ', or end' : 'nothing'
  }

  /** The list that ends here was put into its container when it began. */
  #replaceLast(octets: OctetList): void {
    const isLong = octets.length > (this.#limits.octets ?? 0)
    if (!isLong) this.#countValues(octets.length)
    const value = isLong ? octets.toBuffer() : [...octets.toBuffer()]
    const { container, name } = this.#top ?? {}
    if (!container) this.#result = value
    else if (Array.isArray(container)) container[container.length - 1] = value
    else if (name !== undefined) container[name] = value
  }

  #countValues(count: number): void {
    this.#values += count
    if (this.#values > this.#limits.values)
      throw new JsonError(sentence('json.values', { count: this.#limits.values }), 'size')
  }

  /** True when the value was taken as one of a list of octets. A list with anything else becomes one of values. */
  #putOctet(top: Level, value: unknown): boolean {
    if (!top.octets) return false
    if (top.octets.add(value)) return true
    this.#countValues(top.octets.length)
    if (Array.isArray(top.container)) for (const octet of top.octets.toBuffer()) top.container.push(octet)
    delete top.octets
    return false
  }

  #put(value: unknown): void {
    if (this.#top?.octets && this.#putOctet(this.#top, value)) {
      this.#expected = ', or end'
      return
    }
    this.#countValues(1)
    const top = this.#top
    if (!top) this.#result = value
    else if (Array.isArray(top.container)) top.container.push(value)
    else {
      top.members++
      if (top.members > this.#limits.members)
        throw new JsonError(sentence('json.members', { count: this.#limits.members }), 'size')
      top.container[top.name] = value
    }
    this.#expected = top ? ', or end' : 'nothing'
  }

  #readWord(bytes: Buffer, start: number): number {
    let at = start
    while (IN_WORD[bytes[at] ?? 0] === 1) at++ // continues after the chunk
    this.#token = 'word'
    this.#word += bytes.toString('latin1', start, at)
    if (this.#word.length > WORD_BYTES)
      throw new JsonError(sentence('json.number_too_long', { count: WORD_BYTES, at: this.#before + at }))
    if (at < bytes.length) this.#endWord(at)
    return at
  }

  #endWord(at: number): void {
    const word = this.#word
    const known = Object.hasOwn(WORDS, word)
    if (!known && !NUMBER.test(word)) throw this.#unexpected(at, JSON.stringify(word.slice(0, 32)))
    this.#token = undefined
    this.#word = ''
    this.#put(known ? WORDS[word] : Number(word))
  }

  /** Most strings end in their chunk and have no escape: nothing of them is copied. */
  #readWholeString(bytes: Buffer, start: number): number {
    let at = start
    let seen = 0
    for (let octet = bytes[at] ?? 0; PLAIN[octet] === 1; octet = bytes[at] ?? 0) {
      seen |= octet
      at++
    }
    if (bytes[at] !== QUOTE || at - start > BLOCK_BYTES) return start
    const isAscii = seen < 0x80
    const text = isAscii
      ? bytes.toString('latin1', start, at)
      : decodeUtf8(bytes.subarray(start, at), this.#before + start)
    this.#endString(text, at)
    return at + 1
  }

  #readString(bytes: Buffer, start: number): number {
    if (this.#escape !== 0) return this.#readEscape(bytes[start] ?? 0, start)
    let at = start
    while (PLAIN[bytes[at] ?? 0] === 1) at++
    if (at > start) {
      this.#refuseHigh(start)
      this.#text.append(bytes, start, at)
    }
    if (at >= bytes.length) return at
    const octet = bytes[at]
    if (octet === BACKSLASH) this.#escape = -1
    else if (octet === QUOTE) {
      this.#refuseHigh(at)
      this.#endString(this.#text.take(this.#limits.text, this.#before + at), at)
    } else throw new JsonError(sentence('json.control_character', { at: this.#before + at }))
    return at + 1
  }

  /** A letter after the backslash, or a digit of `\uXXXX`. */
  #readEscape(octet: number, at: number): number {
    if (this.#escape === -1) {
      if (octet === 0x75) this.#escape = 4
      else {
        this.#refuseHigh(at)
        const plain = ESCAPES[octet]
        if (plain === undefined) throw this.#unknownEscape(at)
        this.#text.add(plain)
        this.#escape = 0
      }
      return at + 1
    }
    const digit = Number.parseInt(String.fromCharCode(octet), 16)
    if (Number.isNaN(digit)) throw this.#unknownEscape(at)
    this.#unit = this.#unit * 16 + digit
    this.#escape--
    if (this.#escape === 0) {
      this.#endUnit(this.#unit, at)
      this.#unit = 0
    }
    return at + 1
  }

  /** A code unit of UTF-16: a character or one surrogate. */
  #endUnit(unit: number, at: number): void {
    const low = unit >= 0xdc00 && unit <= 0xdfff
    if (low !== (this.#high !== 0)) throw this.#loneSurrogate(at)
    if (low) this.#text.addChar(0x10000 + ((this.#high - 0xd800) << 10) + (unit - 0xdc00))
    else if (unit >= 0xd800 && unit <= 0xdbff) {
      this.#high = unit
      return
    } else this.#text.addChar(unit)
    this.#high = 0
  }

  #refuseHigh(at: number): void {
    if (this.#high !== 0) throw this.#loneSurrogate(at)
  }

  #loneSurrogate(at: number): JsonError {
    return new JsonError(sentence('json.half_pair_before', { at: this.#before + at }))
  }

  #unknownEscape(at: number): JsonError {
    return new JsonError(sentence('json.escape', { at: this.#before + at }))
  }

  #endString(value: string | LargeText, at: number): void {
    this.#token = undefined
    if (this.#expected !== 'name' && this.#expected !== 'name or }') {
      this.#put(value)
      return
    }
    if (typeof value !== 'string' || value.length > NAME_BYTES)
      throw new JsonError(sentence('json.name_too_long', { count: NAME_BYTES, at: this.#before + at }), 'size')
    if (value === '__proto__') throw new JsonError(sentence('json.name_forbidden', { name: value }))
    if (this.#top) this.#top.name = value
    this.#expected = ':'
  }

  /** Names the whole character: “ begins with an octet that alone would be â. */
  #unexpectedCharacter(bytes: Buffer, at: number): JsonError {
    const [character = ''] = bytes.toString('utf8', at, at + 4)
    return this.#unexpected(at, JSON.stringify(character))
  }

  #unexpected(at: number, found: Sentence | string): JsonError {
    const expected = this.#token === 'string' ? sentence('json.end_of_string') : EXPECTED[this.#expected]
    return new JsonError(sentence('json.unexpected', { found, expected, at: this.#before + at }))
  }
}
