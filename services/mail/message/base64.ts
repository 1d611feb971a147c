/** Strict base64 (RFC 4648 section 4; line breaks are allowed), complete or in pieces. */

/** Decodes text that comes in pieces: {@link push} each, then {@link end}. */
export class Base64Decoder {
  readonly #pieces: Buffer[] = []
  /** What does not fill a group of four yet. */
  #rest = ''
  #isOver = false
  #failed = false

  /** Takes a piece of the text. */
  push(piece: string): void {
    if (this.#failed) return
    const compact = /[\r\n]/.test(piece) ? piece.replaceAll(/[\r\n]+/g, '') : piece
    const text = this.#rest + compact
    const complete = text.length - (text.length % 4)
    this.#rest = text.slice(complete)
    if (complete > 0) this.#decode(text.slice(0, complete))
  }

  /** The bytes; undefined when the text is no base64. */
  end(): Buffer[] | undefined {
    return this.#failed || this.#rest !== '' ? undefined : this.#pieces
  }

  #decode(groups: string): void {
    const bytes = Buffer.from(groups, 'base64')
    const padding = groups.endsWith('==') ? 2 : groups.endsWith('=') ? 1 : 0
    // The decoder skips what it does not know; the length shows whether it skipped anything.
    const isComplete = bytes.length === (groups.length / 4) * 3 - padding && !/[-_]/.test(groups)
    if (this.#isOver || !isComplete) this.#failed = true
    this.#isOver = padding > 0
    this.#pieces.push(bytes)
  }
}

/** Decodes a text that is not large; undefined when it is no base64. */
export function decodeBase64(text: string): Buffer | undefined {
  const decoder = new Base64Decoder()
  decoder.push(text)
  const pieces = decoder.end()
  return pieces && (pieces[0] ?? Buffer.alloc(0))
}

/** Base64 that was decoded before its request was validated, because it is large. */
export class DecodedBase64 {
  /** Undefined: the text was no base64. */
  readonly bytes: Buffer | undefined
  constructor(bytes: Buffer | undefined) {
    this.bytes = bytes
  }
}
