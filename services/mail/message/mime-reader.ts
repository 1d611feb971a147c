/** Reads the parts of a MIME message (RFC 2045, 2046) that a person looks at: text, HTML and its inline images. */
import { parameters, tokenOf } from './content-type.ts'
import { decodeQuotedPrintable } from './transfer-encoding.ts'

/** What there is to look at. `images` maps content ids to data: URLs. */
export interface Readable {
  html: string | undefined
  text: string | undefined
  images: ReadonlyMap<string, string>
}

/** A leaf of the tree. */
interface Leaf {
  type: string
  charset: string
  contentId: string | undefined
  attached: boolean
  bytes: Buffer
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
export function readMime(raw: Buffer): Readable {
  const leaves = leavesOf(raw.toString('latin1'))
  const textOf = (type: string) => {
    const leaf = leaves.find(candidate => candidate.type === type && !candidate.attached)
    return leaf && decodeText(leaf.bytes, leaf.charset)
  }
  return { html: textOf('text/html'), text: textOf('text/plain'), images: imagesOf(leaves) }
}

/** The header block and the rest of a message or part. */
export function splitHead(part: string): { head: string; body: string } {
  if (part.startsWith('\r\n')) return { head: '', body: part.slice(2) }
  const end = part.indexOf('\r\n\r\n')
  return end === -1 ? { head: part, body: '' } : { head: part.slice(0, end), body: part.slice(end + 4) }
}

function leavesOf(message: string): Leaf[] {
  const leaves: Leaf[] = []
  let parts = 0
  const walk = (part: string, depth: number) => {
    if (++parts > MAX_PARTS) return
    const { head, body } = splitHead(part)
    const field = fieldsOf(head.slice(0, MAX_HEAD))
    const [type, params] = parameters(field('content-type') ?? 'text/plain')
    const boundary = params.get('boundary')
    if (type.startsWith('multipart/') && boundary && boundary.length <= MAX_BOUNDARY && depth < MAX_DEPTH)
      for (const child of split(body, boundary)) walk(child, depth + 1)
    else leaves.push(toLeaf(type, params.get('charset'), field, body))
  }
  walk(message, 0)
  return leaves
}

function toLeaf(
  type: string,
  charset: string | undefined,
  field: (name: string) => string | undefined,
  body: string,
): Leaf {
  return {
    type,
    charset: charset ?? 'utf-8',
    contentId: field('content-id')?.replace(/^<|>$/g, ''),
    attached: /^attachment\b/i.test(field('content-disposition') ?? ''),
    bytes: decodeTransfer(body, tokenOf(field('content-transfer-encoding') ?? '')),
  }
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

/** The parts between the boundary lines; preamble and epilogue are left out (RFC 2046 section 5.1.1). */
function split(body: string, boundary: string): string[] {
  const line = new RegExp(`\\r\\n--${RegExp.escape(boundary)}(?<last>--)?[ \\t]*(?=\\r\\n|$)`, 'g')
  const text = `\r\n${body}`
  const parts: string[] = []
  let start: number | undefined
  for (const match of text.matchAll(line)) {
    if (start !== undefined) parts.push(text.slice(start, match.index))
    if (match.groups?.last || parts.length === MAX_PARTS) return parts
    start = match.index + match[0].length + 2
  }
  if (start !== undefined) parts.push(text.slice(start))
  return parts
}

/** The decoded octets of a Content-Transfer-Encoding (RFC 2045 section 6); an unknown one is treated as none. */
export function decodeTransfer(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64')
    case 'quoted-printable':
      return decodeQuotedPrintable(body)
    default:
      return Buffer.from(body, 'latin1')
  }
}

function decodeText(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

function imagesOf(leaves: readonly Leaf[]): Map<string, string> {
  const images = new Map<string, string>()
  let size = 0
  for (const { type, contentId, bytes } of leaves) {
    if (!contentId || !/^image\/[\w.+-]+$/.test(type)) continue
    size += bytes.length
    if (size > MAX_IMAGE_BYTES) break
    images.set(contentId, `data:${type};base64,${bytes.toString('base64')}`)
  }
  return images
}
