/**
 * Puts tracked links and an image into the HTML of a message. What is to be changed is found once for a message; its
 * recipients then differ in the addresses alone. Every other octet stays, and what cannot be changed safely stays as well.
 */
import { isUtf8 } from 'node:buffer'
import { newDecoder } from '../../message/charset.ts'
import { tokenOf } from '../../message/content-type.ts'
import { parseHeader, unfold } from '../../message/headers.ts'
import { isAttached, type MimePart, partsOf } from '../../message/mime-reader.ts'
import { type ContentEdit, type EncodedContent, openContent } from './encoded-content.ts'
import { attributeValue, type FoundLink, findPlaces, MAX_LINKS } from './find-links.ts'
import { targetOf, type UntrackedLinks } from './link-target.ts'

/** Makes the addresses of one recipient, from characters that need no escaping in an attribute. */
export interface TrackedAddresses {
  link(target: string): string
  image(): string
}

/** Writes the message for one recipient. `raw`: the octets that were given. */
export type Rewriting = (raw: Buffer, addresses: TrackedAddresses) => Buffer

/** What of a message is tracked. */
export interface RewritingOptions {
  opens: boolean
  clicks: boolean
  /** Prefixes of links that are ours. */
  ownPrefixes: readonly string[]
}

/** Longest HTML of a part, in octets of its body: mail programs cut longer ones. */
const MAX_HTML = 1024 * 1024

/** Undefined: nothing of the message is tracked. */
export async function planRewriting(raw: Buffer, options: RewritingOptions): Promise<Rewriting | undefined> {
  const header = parseHeader(raw)
  // A signature of the sender would no longer verify.
  if ('code' in header || header.fields.some(({ name }) => name === 'dkim-signature')) return undefined
  const leave = header.fields.filter(({ name, removed }) => name === 'list-unsubscribe' && !removed)
  const untracked = { urls: urlsOf(leave.map(({ value }) => unfold(value))), prefixes: options.ownPrefixes }
  const changes: PartChange[] = []
  let most = options.clicks ? MAX_LINKS : 0
  for (const part of partsOf(raw.toString('latin1'))) {
    if (!isTrackable(part)) continue
    // The first part is the one that is shown; others are variants or signatures of it.
    const image = options.opens && !changes.some(change => change.image)
    const change = await changeOf(part, { image, most, untracked })
    if (!change) continue
    changes.push(change)
    most -= change.links.length
  }
  return changes.length === 0 ? undefined : (given, addresses) => write(given, changes, addresses)
}

/** The addresses in angle brackets, as browsers normalise them. */
function urlsOf(values: readonly string[]): Set<string> {
  const found = values.flatMap(value => [...value.matchAll(/<\s*(https?:[^<>\s]+)\s*>/gi)])
  return new Set(found.flatMap(([, url = '']) => URL.parse(url)?.href ?? []))
}

/** What a signature covers, or an encryption contains, must keep its octets (RFC 1847). */
const CLOSED = new Set(['multipart/signed', 'multipart/encrypted', 'multipart/report'])

function isTrackable(part: MimePart): boolean {
  return (
    part.type === 'text/html' &&
    !isAttached(part) &&
    part.body.length <= MAX_HTML &&
    !part.within.some(type => CLOSED.has(type))
  )
}

/** The changes of one part, with where its body is in the message. */
interface PartChange {
  start: number
  end: number
  content: EncodedContent
  links: readonly (FoundLink & { target: string })[]
  image: boolean
  imageAt: number
}

async function changeOf(
  part: MimePart,
  { image, most, untracked }: { image: boolean; most: number; untracked: UntrackedLinks },
): Promise<PartChange | undefined> {
  const content = openContent(part.body, tokenOf(part.field('content-transfer-encoding') ?? ''))
  const charset = decoderOf(part)
  if (!content || !charset || isClosed(content.octets)) return undefined
  const places = await findPlaces(content.octets)
  const links: PartChange['links'][number][] = []
  for (const link of places.links) {
    if (links.length >= most) break
    const target = targetOf(valueIn(link, content.octets, charset), charset.encoding === 'utf-8', untracked)
    if (target !== undefined) links.push({ ...link, target })
  }
  if (links.length === 0 && !image) return undefined
  return { start: part.start, end: part.start + part.body.length, content, links, image, imageAt: places.imageAt }
}

/** Texts that hide their characters in other octets, and those signed or encrypted within the text. */
function isClosed(octets: string): boolean {
  return ['\0', '\x1b', '-----BEGIN PGP '].some(mark => octets.includes(mark))
}

/** Charsets in which octets of markup mean nothing else. */
const MARKUP_SAFE =
  /^(?:utf-8|windows-\d+|iso-8859-\d+(?:-i)?|koi8-[ru]|gbk|gb18030|big5|euc-(?:jp|kr)|shift_jis|macintosh|x-mac-cyrillic|ibm866)$/

type Decoder = NonNullable<ReturnType<typeof newDecoder>>

/** Undefined for a charset that is unknown or not safe. */
function decoderOf({ parameters, body }: MimePart): Decoder | undefined {
  const label = parameters.get('charset') ?? (isUtf8(Buffer.from(body, 'latin1')) ? 'utf-8' : 'windows-1252')
  const decoder = newDecoder(label)
  return decoder && MARKUP_SAFE.test(decoder.encoding) ? decoder : undefined
}

/** The value of a link in characters. */
function valueIn({ start, end, value }: FoundLink, octets: string, charset: Decoder): string {
  const written = octets.slice(start, end)
  if (!/[\x80-\xff]/.test(written)) return value
  return attributeValue(charset.decode(Buffer.from(written, 'latin1')))
}

function write(raw: Buffer, changes: readonly PartChange[], addresses: TrackedAddresses): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const change of changes) {
    pieces.push(raw.subarray(at, change.start), change.content.withEdits(editsOf(change, addresses)))
    at = change.end
  }
  return Buffer.concat([...pieces, raw.subarray(at)])
}

function editsOf({ links, image, imageAt }: PartChange, addresses: TrackedAddresses): ContentEdit[] {
  const edits = links.map(({ start, end, target }) => ({ start, end, text: `href="${addresses.link(target)}"` }))
  if (!image) return edits
  const text = `<img src="${addresses.image()}" width="1" height="1" alt="" style="border:0">`
  return [...edits, { start: imageAt, end: imageAt, text }].toSorted((a, b) => a.start - b.start)
}
