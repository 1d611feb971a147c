/** Values of MIME fields (RFC 2045 section 5.1): type and parameters, without what a reader does not see. */

/**
 * A value with a space for each comment of RFC 5322 (section 3.2.2), which may occur between any two tokens. An
 * unterminated one extends to the end of the value.
 */
export function withoutComments(value: string): string {
  if (!value.includes('(')) return value
  let out = ''
  let depth = 0
  for (let at = 0; at < value.length; ) {
    const pattern = depth > 0 ? WITHIN_COMMENT : OUTSIDE
    pattern.lastIndex = at
    const token = pattern.exec(value)?.[0] ?? value.slice(at)
    at += token.length
    if (token === '(') depth++
    else if (depth === 0) out += token
    else if (token === ')' && --depth === 0) out += ' '
  }
  return out
}

const OUTSIDE = /\(|"(?:[^"\\]|\\.)*"?|[^"(]+|"/sy
/** Quotes mean nothing here. */
const WITHIN_COMMENT = /[()]|\\.|[^\\()]+|\\/sy

/** A value that is one token, such as a Content-Transfer-Encoding: in lower case, without comments and blanks. */
export function tokenOf(value: string): string {
  return withoutComments(value).replaceAll(/\s+/g, '').toLowerCase()
}

const PARAMETER = /;\s*([\w-]+)(?:\*(\d{1,3}))?(\*)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/gs

/**
 * `type/subtype; name=value; name="value"`: type and names in lower case. Values in pieces (`name*0=…; name*1=…`) and
 * with a charset (`name*=utf-8''…`, RFC 2231) are joined and decoded to octets, as Latin-1. Of two values with the same
 * name the first counts, and one in a single piece before one in several.
 */
export function parameters(value: string): [string, Map<string, string>] {
  const text = withoutComments(value)
  const [type = ''] = text.split(';', 1)
  const values = new Map<string, string>()
  const pieces = new Map<string, Map<number, string>>()
  for (const [, written = '', index, extended, quoted, plain = ''] of text.slice(type.length).matchAll(PARAMETER)) {
    const name = written.toLowerCase()
    const piece = quoted?.replace(/\\(.)/gs, '$1') ?? plain
    const decoded = extended ? decodeExtended(piece, index ?? '0') : piece
    if (index === undefined) values.set(name, values.get(name) ?? decoded)
    else {
      const known = pieces.get(name) ?? new Map<number, string>()
      pieces.set(name, known)
      known.set(Number(index), known.get(Number(index)) ?? decoded)
    }
  }
  for (const [name, known] of pieces) if (!values.has(name) && known.has(0)) values.set(name, joined(known))
  return [tokenOf(type), values]
}

/** After a gap nothing belongs to the value. */
function joined(pieces: ReadonlyMap<number, string>): string {
  let value = ''
  for (let index = 0; pieces.has(index); index++) value += pieces.get(index)
  return value
}

/** The charset and the language precede the first piece. */
function decodeExtended(piece: string, index: string): string {
  const text = Number(index) === 0 ? piece.replace(/^[^']*'[^']*'/, '') : piece
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
