/** The strings of a JSON document that is read in chunks. */
import { isUtf8 } from 'node:buffer'
import { type Sentence, SentenceError, sentence } from '../sentences/sentence.ts'

/** Large enough for nearly every string, small enough for the page cache of a processor. */
export const BLOCK_BYTES = 64 * 1024

/** The document is not JSON, or not JSON that is accepted here. Most sentences name the octet (from 0). */
export class JsonError extends SentenceError {
  /** `size`: well-formed so far, but with more values than allowed. */
  readonly kind: 'syntax' | 'size'
  constructor(reason: Sentence, kind: JsonError['kind'] = 'syntax') {
    super(reason)
    this.kind = kind
  }
}

/**
 * A string that is too long to be one: its content as UTF-8, escapes decoded, in blocks of {@link BLOCK_BYTES} (the last
 * one is shorter). Its encoding was not checked.
 */
export class LargeText {
  readonly blocks: readonly Buffer[]
  /** Octets of all blocks. */
  readonly bytes: number
  constructor(blocks: readonly Buffer[], bytes: number) {
    this.blocks = blocks
    this.bytes = bytes
  }
}

/** The text of UTF-8 octets. Throws {@link JsonError} with the place of the string when they are not UTF-8. */
export function decodeUtf8(bytes: Buffer, at: number): string {
  if (!isUtf8(bytes)) throw new JsonError(sentence('json.not_utf8_near', { at }))
  return bytes.toString()
}

/** Gathers the octets of a string. */
export class TextBuffer {
  #full: Buffer[] = []
  #block = Buffer.allocUnsafe(BLOCK_BYTES)
  #length = 0

  add(octet: number): void {
    if (this.#length === BLOCK_BYTES) this.#next()
    this.#block[this.#length++] = octet
  }

  addChar(char: number): void {
    if (char < 0x80) this.add(char)
    else for (const octet of Buffer.from(String.fromCodePoint(char))) this.add(octet)
  }

  append(bytes: Buffer, start: number, end: number): void {
    let at = start
    while (at < end) {
      if (this.#length === BLOCK_BYTES) this.#next()
      const taken = Math.min(end - at, BLOCK_BYTES - this.#length)
      bytes.copy(this.#block, this.#length, at, at + taken)
      this.#length += taken
      at += taken
    }
  }

  /** What was gathered; the next string begins. */
  take(textBytes: number, at: number): string | LargeText {
    const last = this.#block.subarray(0, this.#length)
    const bytes = this.#full.length * BLOCK_BYTES + this.#length
    const blocks = this.#full
    this.#length = 0
    if (blocks.length === 0) return decodeUtf8(last, at - bytes)
    this.#full = []
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES)
    return bytes > textBytes
      ? new LargeText([...blocks, last], bytes)
      : decodeUtf8(Buffer.concat([...blocks, last]), at - bytes)
  }

  #next(): void {
    this.#full.push(this.#block)
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES)
    this.#length = 0
  }
}
