/** Identifiers that sort by time: a prefix that names the kind, 48 bits of milliseconds, 80 random bits (the layout of ULID). */
import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** Random bytes are drawn for many ids in one call: a call into the kernel costs more than the id. */
const pool = Buffer.alloc(10 * 400)
let used = pool.length

/**
 * A new id such as `em_01k3…`: `prefix`, an underscore and 26 characters of Crockford's base 32 in lower case. Ids of a
 * later millisecond sort later.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let time = ''
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET.charAt(rest % 32) + time
  let random = ''
  let bits = 0
  let value = 0
  for (let i = 0; i < 10; i++) {
    value = ((value << 8) | (pool[used++] ?? 0)) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      random += ALPHABET.charAt((value >> bits) & 31)
    }
  }
  return `${prefix}_${time}${random}`
}

/** When an id of {@link newId} was made, in milliseconds; NaN for a text that is none. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1).slice(0, 10)
  let time = 0
  for (const digit of digits) {
    const value = ALPHABET.indexOf(digit)
    time = value === -1 ? Number.NaN : time * 32 + value
  }
  return digits.length === 10 ? time : Number.NaN
}
