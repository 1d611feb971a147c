/** Reads the parts of a MIME message (RFC 2045, 2046) that a person looks at: text, HTML and its inline images. */
import { parameters, tokenOf } from './content-type.ts'
import { decodeQuotedPrintable, STEP_CHARACTERS } from './transfer-encoding.ts'

/** What there is to look at. `images` maps content ids to data: URLs. */
export interface Readable {
  html: string | undefined
  text: string | undefined
  images: ReadonlyMap<string, string>
}

/** A part without parts of its own, in its transfer encoding. Text is one code unit an octet. */
export interface MimePart {
  type: string
  parameters: ReadonlyMap<string, string>
  /** The value of the first field with this lower-case name. */
  field(name: string): string | undefined
  body: string
  /** Where the body begins in the message. */
  start: number
  /** Types of the multiparts around it, outermost first. */
  within: readonly string[]
}

/** Bounds against messages that are made to be expensive. */
const MAX_DEPTH = 10
const MAX_PARTS = 200
/** RFC 2046 5.1.1 has 70; a long one makes a pattern that no engine takes. */
const MAX_BOUNDARY = 250
/** As at acceptance, where only the first header is validated. */
const MAX_HEAD = 256 * 1024
const MAX_IMAGE_BYTES = 5 * 1024 * 1024

/** The first HTML and the first text part that are no attachments, and inline images up to 5 MiB together. */
export function readMime(raw: Buffer, parts: readonly MimePart[] = partsOf(raw.toString('latin1'))): Readable {
  const textOf = (type: 'text/plain' | 'text/html') => {
    const found = shownPart(parts, type)
    return found && decodeText(contentOf(found), found)
  }
  return { html: textOf('text/html'), text: textOf('text/plain'), images: imagesOf(parts) }
}

/** The part of a type of text that a person reads. */
export function shownPart(parts: readonly MimePart[], type: 'text/plain' | 'text/html'): MimePart | undefined {
  return parts.find(part => part.type === type && !isAttached(part))
}

/** The octets of a part, without its transfer encoding. */
export function contentOf({ body, field }: MimePart): Buffer {
  return decodeTransfer(body, tokenOf(field('content-transfer-encoding') ?? ''))
}

/** The same in pieces: a caller may give others their turn in between. Base64 is one piece, whose decoder is fast. */
export function* contentPieces({ body, field }: MimePart): Generator<Buffer> {
  const encoding = tokenOf(field('content-transfer-encoding') ?? '').toLowerCase()
  if (encoding === 'quoted-printable') yield* decodeQuotedPrintable(body)
  else yield decodeTransfer(body, encoding)
}

/** The header block and the rest of a message or part. */
export function splitHead(part: string): { head: string; body: string } {
  if (part.startsWith('\r\n')) return { head: '', body: part.slice(2) }
  const end = part.indexOf('\r\n\r\n')
  return end === -1 ? { head: part, body: '' } : { head: part.slice(0, end), body: part.slice(end + 4) }
}

/**
 * The leaves of a message in their order, as Latin-1 text with CRLF line ends. A message within the message is a leaf.
 * Nesting, parts and headers beyond the bounds above are left out.
 */
export function partsOf(message: string): MimePart[] {
  const search = findParts(message)
  for (;;) {
    const step = search.next()
    if (step.done) return step.value
  }
}

/** {@link partsOf} in steps that yield how many characters they searched: a caller may give others their turn in between. */
export function* findParts(message: string): Generator<number, MimePart[]> {
  const found: MimePart[] = []
  let parts = 0
  const walk = function* (part: string, at: number, within: readonly string[]): Generator<number, void> {
    if (++parts > MAX_PARTS) return
    const { head, body } = splitHead(part)
    const start = at + part.length - body.length
    const field = fieldsOf(head.slice(0, MAX_HEAD))
    yield head.length
    const [type, params] = parameters(field('content-type') ?? 'text/plain')
    const boundary = params.get('boundary')
    if (type.startsWith('multipart/') && boundary && boundary.length <= MAX_BOUNDARY && within.length < MAX_DEPTH)
      for (const child of yield* split(body, boundary)) yield* walk(child.text, start + child.at, [...within, type])
    else found.push({ type, parameters: params, field, body, start, within })
  }
  yield* walk(message, 0, [])
  return found
}

/** True for a part that readers offer as a file. */
export function isAttached({ field }: Pick<MimePart, 'field'>): boolean {
  return /^attachment\b/i.test(field('content-disposition') ?? '')
}

/** Looks fields up by lower-case name; folded lines are joined, of several the first counts. */
function fieldsOf(head: string): (name: string) => string | undefined {
  const fields = new Map<string, string>()
  for (const line of head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
  }
  return name => fields.get(name)
}

/** The parts between the boundary lines; preamble and epilogue are left out (RFC 2046 section 5.1.1). `at`: where a part begins. */
function* split(body: string, boundary: string): Generator<number, { text: string; at: number }[]> {
  const line = new RegExp(`\\r\\n--${RegExp.escape(boundary)}(?<last>--)?[ \\t]*(?=\\r\\n|$)`, 'g')
  const text = `\r\n${body}`
  const parts: { text: string; at: number }[] = []
  let start: number | undefined
  // The line end in front of the body is not part of it.
  const partOf = (from: number, to?: number) => ({ text: text.slice(from, to), at: from - 2 })
  for (let at = 0; at < text.length; ) {
    // A step has complete lines, each with the line end in front of it.
    const lineEnd = text.indexOf('\r\n', at + STEP_CHARACTERS)
    const end = lineEnd === -1 ? text.length : lineEnd
    for (const match of text.slice(at, end).matchAll(line)) {
      if (start !== undefined) parts.push(partOf(start, at + match.index))
      if (match.groups?.last || parts.length === MAX_PARTS) return parts
      start = at + match.index + match[0].length + 2
    }
    yield end - at
    at = end
  }
  if (start !== undefined) parts.push(partOf(start))
  return parts
}

/** The decoded octets of a Content-Transfer-Encoding (RFC 2045 section 6); an unknown one is treated as none. */
export function decodeTransfer(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64')
    case 'quoted-printable':
      return Buffer.concat([...decodeQuotedPrintable(body)])
    default:
      return Buffer.from(body, 'latin1')
  }
}

/** The octets of a part of text in its charset. */
export function decodeText(bytes: Buffer, { parameters }: Pick<MimePart, 'parameters'>): string {
  const charset = parameters.get('charset') ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

function imagesOf(parts: readonly MimePart[]): Map<string, string> {
  const images = new Map<string, string>()
  let size = 0
  for (const part of parts) {
    const contentId = part.field('content-id')?.replace(/^<|>$/g, '')
    if (!contentId || !/^image\/[\w.+-]+$/.test(part.type)) continue
    const bytes = contentOf(part)
    size += bytes.length
    if (size > MAX_IMAGE_BYTES) break
    images.set(contentId, `data:${part.type};base64,${bytes.toString('base64')}`)
  }
  return images
}
