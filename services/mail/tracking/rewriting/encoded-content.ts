/** The content of a part in its transfer encoding: its octets, and how octets between two of them are written. */
import { isAscii } from 'node:buffer'
import { decodeBase64 } from '../../message/base64.ts'
import { encodeBase64, encodeQuotedPrintable } from '../../message/transfer-encoding.ts'

/** A text put in the place of the octets from `start` to `end` of a content. ASCII. */
export interface ContentEdit {
  start: number
  end: number
  text: string
}

/** A content that can be changed. */
export interface EncodedContent {
  /** One code unit an octet. */
  octets: string
  /** The body of the part after edits, which do not overlap and are in order. All other octets stay. */
  withEdits(edits: readonly ContentEdit[]): Buffer
}

/** RFC 5322 section 2.1.1: octets of a line without its end. */
const LINE_OCTETS = 998

/** Undefined for an encoding that is unknown or not intact: its body is not touched. `body`: one code unit an octet. */
export function openContent(body: string, encoding: string): EncodedContent | undefined {
  switch (encoding) {
    case '':
    case '7bit':
    case '8bit':
    case 'binary':
      return { octets: body, withEdits: edits => editPlain(body, edits) }
    case 'quoted-printable':
      return openQuotedPrintable(body)
    case 'base64':
      return openBase64(body)
    default:
      return undefined
  }
}

/** Edits have lines of their own; one that no line can hold is left out. */
function editPlain(body: string, edits: readonly ContentEdit[]): Buffer {
  const pieces: string[] = []
  let at = 0
  for (const { start, end, text } of edits) {
    if (text.length >= LINE_OCTETS) continue
    // The space keeps what follows from beginning a line: it could look like a boundary.
    pieces.push(body.slice(at, start), `\r\n${text}\r\n `)
    at = end
  }
  return latin1([...pieces, body.slice(at)])
}

/** Lines that what follows must not begin: a boundary, an envelope of old mailboxes, a dot of SMTP. */
const RISKY = /^(?:--|From |\.)/

function openQuotedPrintable(body: string): EncodedContent {
  const { octets, places } = decodeWithPlaces(body)
  return {
    octets,
    withEdits(edits) {
      const pieces: string[] = []
      let at = 0
      for (const { start, end, text } of edits) {
        const from = places[start] ?? body.length
        const to = places[end] ?? body.length
        const rest = body.slice(to, to + 5)
        const quoted = [...encodeQuotedPrintable(Buffer.from(text, 'latin1'))].map(String).join('')
        pieces.push(body.slice(at, from), `=\r\n${quoted}`, rest === '' ? '' : `=\r\n${RISKY.test(rest) ? '=20' : ''}`)
        at = to
      }
      return latin1([...pieces, body.slice(at)])
    },
  }
}

/** The octets as `decodeQuotedPrintable` reads them, and where each of them, and the end, is written. */
function decodeWithPlaces(body: string): { octets: string; places: Uint32Array } {
  const places = new Uint32Array(body.length + 1)
  const octets = Buffer.allocUnsafe(body.length)
  const sign = /=(?:[ \t]*\r?\n|(?<octet>[0-9a-f]{2}))?/giy
  let length = 0
  for (let at = 0; at < body.length; ) {
    places[length] = at
    sign.lastIndex = at
    const found = body[at] === '=' ? sign.exec(body) : null
    const octet = found?.groups?.octet
    at += found?.[0].length ?? 1
    // A soft break has no octet; its sign alone represents itself.
    if (found && octet === undefined && found[0].length > 1) continue
    octets[length++] = octet === undefined ? body.charCodeAt(at - 1) : Number.parseInt(octet, 16)
  }
  places[length] = body.length
  return { octets: octets.toString('latin1', 0, length), places: places.subarray(0, length + 1) }
}

function openBase64(body: string): EncodedContent | undefined {
  const content = isAscii(Buffer.from(body, 'latin1')) ? decodeBase64(body.trimEnd()) : undefined
  if (!content) return undefined
  const octets = content.toString('latin1')
  const end = body.slice(body.trimEnd().length)
  return {
    octets,
    withEdits(edits) {
      const pieces: string[] = []
      let at = 0
      for (const { start, end: to, text } of edits) {
        pieces.push(octets.slice(at, start), text)
        at = to
      }
      const encoded = [...encodeBase64(latin1([...pieces, octets.slice(at)]))]
      return Buffer.concat([...encoded, latin1([end])])
    },
  }
}

function latin1(pieces: readonly string[]): Buffer {
  return Buffer.from(pieces.join(''), 'latin1')
}
