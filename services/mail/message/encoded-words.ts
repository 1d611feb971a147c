/** Header text beyond ASCII in ASCII: encoded words (RFC 2047), encoded parameters (RFC 2231), and folding. */

/** Most characters of an encoded word, less `=?utf-8?Q?` and `?=`. */
const WORD_LENGTH = 63
/** Characters that Q writes as one; so few because a word in a phrase allows no others (RFC 2047 section 5). */
const PLAIN = /^[\w!*+/ -]$/
const BEYOND_ASCII = /\P{ASCII}/u
const ENCODED = /^=\?[^?]*\?[bq]\?[^?]*\?=$/i

/**
 * Text as encoded words with one space between them, which readers drop. Each has at most 75 characters and is allowed
 * in unstructured text, in a phrase and in a comment.
 */
export function encodeText(text: string): string {
  const chars = Array.from(text)
  const base64 = chars.filter(isBeyondAscii).length * 2 > chars.length
  // Base64 rounds up to groups of four.
  const most = base64 ? WORD_LENGTH - 3 : WORD_LENGTH
  const words: string[] = []
  let piece = ''
  let length = 0
  const end = () =>
    words.push(base64 ? `=?utf-8?B?${Buffer.from(piece).toString('base64')}?=` : `=?utf-8?Q?${quoted(piece)}?=`)
  for (const char of chars) {
    const octets = octetsOf(char)
    const size = base64 ? (octets * 4) / 3 : PLAIN.test(char) ? 1 : octets * 3
    if (length + size > most) {
      end()
      piece = ''
      length = 0
    }
    piece += char
    length += size
  }
  end()
  return words.join(' ')
}

function isBeyondAscii(char: string): boolean {
  return char > '\x7f'
}

/** Octets of a character in UTF-8. */
function octetsOf(char: string): number {
  const code = char.codePointAt(0) ?? 0
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/** The Q encoding (RFC 2047 section 4.2). */
function quoted(text: string): string {
  const octets = Buffer.from(text).toString('latin1')
  return octets.replace(/[^\w!*+/ -]/g, octet => `=${hex(octet.charCodeAt(0))}`).replaceAll(' ', '_')
}

const HEX = Array.from({ length: 256 }, (_, octet) => octet.toString(16).toUpperCase().padStart(2, '0'))

function hex(octet: number): string {
  return HEX[octet] ?? ''
}

/** Unstructured text in which the words beyond ASCII are encoded; all others stay as they are. */
export function encodeUnstructured(text: string): string {
  const parts = text.split(/([ \t]+)/) // words, and at odd places what is between them
  let out = ''
  for (let first = 0; first < parts.length; ) {
    const next = nextRun(parts, first)
    const word = BEYOND_ASCII.test(parts[first] ?? '') ? encodeRun(parts, first, next) : parts[first]
    out += word + (parts[next - 1] ?? '')
    first = next
  }
  return out
}

/** The position after a run of neighbouring words beyond ASCII, or after one other word. */
function nextRun(parts: readonly string[], first: number): number {
  let next = first
  while (next < parts.length && BEYOND_ASCII.test(parts[next] ?? '')) next += 2
  return Math.max(next, first + 2)
}

/** Readers drop the space between two encoded words, so next to one it goes into ours. */
function encodeRun(parts: readonly string[], first: number, next: number): string {
  const before = ENCODED.test(parts[first - 2] ?? '') ? parts[first - 1] : ''
  const after = ENCODED.test(parts[next] ?? '') ? parts[next - 1] : ''
  return encodeText(`${before}${parts.slice(first, next - 1).join('')}${after}`)
}

/** A parameter as RFC 2231 writes it, in several pieces where it is long. */
export function encodeParameter(name: string, value: string): string {
  const octets = Array.from(Buffer.from(value), octet => {
    const char = String.fromCharCode(octet)
    return /[\w!#$&+.^`|~-]/.test(char) ? char : `%${hex(octet)}`
  })
  const pieces: string[] = ['']
  for (const octet of octets) {
    if ((pieces.at(-1) ?? '').length > 50) pieces.push('')
    pieces[pieces.length - 1] += octet
  }
  if (pieces.length === 1) return `${name}*=utf-8''${pieces[0]}`
  return pieces.map((piece, index) => `${name}*${index}*=${index === 0 ? "utf-8''" : ''}${piece}`).join('; ')
}

/** Columns that folded lines keep to where words allow it (RFC 5322 section 2.1.1). */
const COLUMNS = 76
/** Columns that no line may exceed. */
const MOST_COLUMNS = 998

/** Folds an unfolded value at its blanks; undefined when a word is longer than a line may be. */
export function foldValue(name: string, value: string): string | undefined {
  let column = name.length + 1
  let out = ''
  for (const [piece, blank = ''] of value.trimEnd().matchAll(/([ \t]*)[^ \t]+/g)) {
    // The first word stays beside the name, but for one that has no room there.
    const fold = blank !== '' && column + piece.length > (out === '' ? MOST_COLUMNS : COLUMNS)
    if (piece.length + (fold ? 0 : column) > MOST_COLUMNS) return undefined
    out += fold ? `\r\n${piece}` : piece
    column = fold ? piece.length : column + piece.length
  }
  return out
}
