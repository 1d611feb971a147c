/** A captured message as a program reads it: header, text, HTML, links, codes and attachments. */
import { parameters } from '../../message/content-type.ts'
import { decodeWords, fieldText, parseHeader } from '../../message/headers.ts'
import { contentOf, isAttached, type MimePart, partsOf, readMime } from '../../message/mime-reader.ts'
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
const MAX_ATTACHMENTS = 100

/** Reads a message of any origin, in time that grows with its size. Never throws. */
export async function readMessage(raw: Buffer): Promise<ReadMessage> {
  const { text, html } = readMime(raw)
  const [shownText, shownHtml] = [text?.slice(0, MAX_TEXT), html?.slice(0, MAX_TEXT)]
  const words = shownText ?? (shownHtml === undefined ? '' : await htmlToText(shownHtml))
  return {
    headers: headersOf(raw),
    text: shownText,
    html: shownHtml,
    truncated: shownText !== text || shownHtml !== html,
    links: await findLinks({ html: shownHtml, text: shownText }),
    codes: findCodes(words),
    attachments: attachedParts(raw).map(toAttachment),
  }
}

/** The bytes of one attachment with its description; undefined: the message has none with this index. */
export function readAttachment(raw: Buffer, index: number): (Attachment & { content: Buffer }) | undefined {
  const part = attachedParts(raw)[index]
  return part && { ...toAttachment(part, index), content: contentOf(part) }
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

function attachedParts(raw: Buffer): MimePart[] {
  const parts = partsOf(raw.toString('latin1'))
  const shown = ['text/plain', 'text/html'].map(type => parts.find(part => part.type === type && !isAttached(part)))
  return parts.filter(part => !shown.includes(part)).slice(0, MAX_ATTACHMENTS)
}

function toAttachment(part: MimePart, index: number): Attachment {
  return {
    index,
    filename: filenameOf(part) ?? `part-${index + 1}`,
    contentType: /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(part.type) ? part.type : 'application/octet-stream',
    size: contentOf(part).length,
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
