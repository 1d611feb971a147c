/** A captured message as a program reads it: header, text, HTML, links, codes and attachments. */
import { concatInTurns, countTurns, runInTurns } from '../../../platform/concurrency/event-loop-turns.ts'
import { parameters } from '../../message/content-type.ts'
import { decodeWords, fieldText, parseHeader } from '../../message/headers.ts'
import { contentPieces, decodeText, findParts, type MimePart, shownPart } from '../../message/mime-reader.ts'
import { STEP_CHARACTERS } from '../../message/transfer-encoding.ts'
import { htmlToText } from '../../templates/rendering/html-to-text.ts'
import { findCodes } from '../rules/find-codes.ts'
import { findLinks, type MessageLink } from './find-links.ts'

/** A part that is neither the text nor the HTML that is shown. */
export interface Attachment {
  /** Its place among the attachments, from 0. */
  index: number
  filename: string
  /** As the message says, which proves nothing. */
  contentType: string
  size: number
  contentId: string | undefined
}

/** See {@link readMessage}. */
export interface ReadMessage {
  /** In their order, decoded; of several hundred the first. */
  headers: { name: string; value: string }[]
  text: string | undefined
  html: string | undefined
  /** Text or HTML is longer than what is here. */
  truncated: boolean
  links: MessageLink[]
  codes: string[]
  attachments: Attachment[]
}

const MAX_HEADERS = 200
const MAX_VALUE = 8_192
/** Characters of text, and of HTML. */
const MAX_TEXT = 1_000_000
/** Octets of them that are decoded: a character has at most four. */
const MAX_TEXT_OCTETS = 4 * MAX_TEXT
const MAX_ATTACHMENTS = 100

/** Reads a message of any origin in turns of the event loop, in time that grows with its size. Never throws. */
export async function readMessage(raw: Buffer): Promise<ReadMessage> {
  const parts = await runInTurns(findParts(raw.toString('latin1')))
  const processed = countTurns()
  const [text, html] = [
    await readText(shownPart(parts, 'text/plain'), processed),
    await readText(shownPart(parts, 'text/html'), processed),
  ]
  const words = text?.shown ?? (html ? await htmlToText(html.shown) : '')
  const attachments: Attachment[] = []
  for (const [index, part] of attachedParts(parts).entries())
    attachments.push(describe(part, index, await sizeOf(part, processed)))
  return {
    headers: headersOf(raw),
    text: text?.shown,
    html: html?.shown,
    truncated: text?.truncated === true || html?.truncated === true,
    links: await findLinks({ html: html?.shown, text: text?.shown }),
    codes: findCodes(words),
    attachments,
  }
}

/** The bytes of one attachment with its description; undefined: the message has none with this index. */
export async function readAttachment(
  raw: Buffer,
  index: number,
): Promise<(Attachment & { content: Buffer }) | undefined> {
  const part = attachedParts(await runInTurns(findParts(raw.toString('latin1'))))[index]
  if (!part) return undefined
  const pieces: Buffer[] = []
  for await (const piece of decodeInTurns(part, countTurns())) pieces.push(piece)
  const content = await concatInTurns(pieces)
  return { ...describe(part, index, content.length), content }
}

type Turns = ReturnType<typeof countTurns>

/** The beginning of a text. */
async function readText(part: MimePart | undefined, processed: Turns) {
  if (!part) return undefined
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of decodeInTurns(part, processed)) {
    pieces.push(piece)
    size += piece.length
    if (size > MAX_TEXT_OCTETS) break
  }
  const text = decodeText((await concatInTurns(pieces)).subarray(0, MAX_TEXT_OCTETS), part)
  return { shown: text.slice(0, MAX_TEXT), truncated: text.length > MAX_TEXT || size > MAX_TEXT_OCTETS }
}

async function sizeOf(part: MimePart, processed: Turns): Promise<number> {
  let size = 0
  for await (const { length } of decodeInTurns(part, processed)) size += length
  return size
}

async function* decodeInTurns(part: MimePart, processed: Turns): AsyncGenerator<Buffer> {
  for (const piece of contentPieces(part)) {
    yield piece
    // A piece of soft line breaks has no octets.
    await processed(Math.max(piece.length, Math.min(part.body.length, STEP_CHARACTERS)))
  }
}

/** Acceptance has validated the header; one that cannot be read is shown as none. */
function headersOf(raw: Buffer): { name: string; value: string }[] {
  const header = parseHeader(raw)
  if ('code' in header) return []
  return header.fields.slice(0, MAX_HEADERS).map(field => ({
    name: field.name,
    value: fieldText(field).slice(0, MAX_VALUE),
  }))
}

function attachedParts(parts: readonly MimePart[]): MimePart[] {
  const shown = [shownPart(parts, 'text/plain'), shownPart(parts, 'text/html')]
  return parts.filter(part => !shown.includes(part)).slice(0, MAX_ATTACHMENTS)
}

function describe(part: MimePart, index: number, size: number): Attachment {
  return {
    index,
    filename: filenameOf(part) ?? `part-${index + 1}`,
    contentType: /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(part.type) ? part.type : 'application/octet-stream',
    size,
    contentId: part.field('content-id')?.replace(/^<|>$/g, ''),
  }
}

const MAX_FILENAME = 200
/** Octets of a written name that are read: more than {@link MAX_FILENAME} characters have in UTF-8. */
const MAX_WRITTEN = 1_000

/** The name without a folder and without characters that a file system or a terminal treats in its own way. */
function filenameOf(part: MimePart): string | undefined {
  const [, disposition] = parameters(part.field('content-disposition') ?? '')
  const octets = disposition.get('filename') ?? part.parameters.get('name') ?? ''
  const name = decodeWords(Buffer.from(octets.slice(0, MAX_WRITTEN), 'latin1').toString('utf8'))
  const safe = name
    .slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
    .replaceAll(/[\p{Cc}\p{Cf}"<>:|?*]/gu, '_')
    .slice(0, MAX_FILENAME)
    .trim()
  return safe === '' || safe === '.' || safe === '..' ? undefined : safe
}
