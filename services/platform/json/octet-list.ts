/** Bytes that a client wrote as a list of numbers: kept as bytes while they arrive, a twentieth of a list of values. */
const BLOCK_BYTES = 64 * 1024
const COMMA = 0x2c
const BLANK = 0x20
const ZERO = 0x30

/** The entries of a list, all from 0 to 255. */
export class OctetList {
  readonly #full: Buffer[] = []
  #block = Buffer.allocUnsafe(0)
  #used = 0

  get length(): number {
    return this.#full.length * BLOCK_BYTES + this.#used
  }

  /** Adds an entry; false for one that is no octet. */
  add(value: unknown): boolean {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255 || Object.is(value, -0))
      return false
    this.#push(value)
    return true
  }

  /**
   * Adds the entries at the beginning of a chunk that are octets followed by a comma, with at most one blank after it.
   * Returns the place of the first octet that is not read: the reader reads all else.
   */
  read(bytes: Buffer, start: number): number {
    let at = start
    for (;;) {
      let value = 0
      let end = at
      for (; end - at < 3; end++) {
        const digit = (bytes[end] ?? 0) - ZERO
        if (digit < 0 || digit > 9) break
        value = value * 10 + digit
      }
      const hasZeroFirst = end - at > 1 && bytes[at] === ZERO
      if (end === at || value > 255 || hasZeroFirst || bytes[end] !== COMMA) return at
      this.#push(value)
      at = bytes[end + 1] === BLANK ? end + 2 : end + 1
    }
  }

  toBuffer(): Buffer {
    return Buffer.concat([...this.#full, this.#block.subarray(0, this.#used)])
  }

  #push(octet: number): void {
    if (this.#used === this.#block.length) this.#grow()
    this.#block[this.#used++] = octet
  }

  /** Most lists are short: the first block begins small. */
  #grow(): void {
    if (this.#block.length === BLOCK_BYTES) {
      this.#full.push(this.#block)
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
      this.#used = 0
      return
    }
    const larger = Buffer.allocUnsafeSlow(this.#block.length === 0 ? 64 : Math.min(BLOCK_BYTES, this.#block.length * 4))
    this.#block.copy(larger)
    this.#block = larger
  }
}
