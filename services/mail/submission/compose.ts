/** Makes the RFC 5322 message of an HTTP request: nodemailer encodes headers and parts, and reads no file and no URL. */
import { Readable } from 'node:stream'
import * as base64 from 'nodemailer/lib/base64'
import MailComposer, { type MailComposerOptions } from 'nodemailer/lib/mail-composer'
import * as mimeFuncs from 'nodemailer/lib/mime-funcs'
import type MimeNode from 'nodemailer/lib/mime-node'
import * as quotedPrintable from 'nodemailer/lib/qp'
import { concatInTurns, nextTurn } from '../../platform/concurrency/event-loop-turns.ts'
import type { Mailbox } from '../message/address.ts'
import { unsubscribeFields } from '../streams/rules/unsubscribe-fields.ts'
import { UNFOLDABLE } from './rules/email-parts.ts'
import type { EmailRequest } from './rules/email-request.ts'

/** What the composer adds to the request. */
export interface Stamp {
  /** With its angle brackets. */
  messageId: string
  date: Date
}

/** More text and attachments than these are encoded in turns, in octets. */
const LARGE_BYTES = 128 * 1024

/** The complete message with CRLF line ends. Bcc is in no header: the composer never gets it. */
export async function compose(request: EmailRequest, stamp: Stamp): Promise<Buffer> {
  if (sizeOf(request) <= LARGE_BYTES) {
    const [text, html] = [request.text, request.html].map(part => (part === undefined ? undefined : crlf(part)))
    return Buffer.from(render(compile({ ...request, text, html }, stamp)))
  }
  const [text, html] = [await crlfInTurns(request.text), await crlfInTurns(request.html)]
  const pieces: Buffer[] = []
  for await (const piece of renderInTurns(compile({ ...request, text, html }, stamp)))
    pieces.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
  return concatInTurns(pieces)
}

function sizeOf({ text = '', html = '', attachments = [] }: EmailRequest): number {
  return text.length + html.length + attachments.reduce((bytes, { content }) => bytes + content.length, 0)
}

/** Lines of the parts end in CRLF. */
function compile(request: EmailRequest, stamp: Stamp): MimeNode {
  return new MailComposer(optionsOf(request, stamp)).compile()
}

function optionsOf(request: EmailRequest, { messageId, date }: Stamp): MailComposerOptions {
  return {
    from: address(request.from),
    to: request.to.map(address),
    ...(request.cc?.length && { cc: request.cc.map(address) }),
    ...(request.reply_to?.length && { replyTo: request.reply_to.map(address) }),
    subject: foldable(request.subject?.trim() ?? ''),
    messageId,
    date,
    // An empty part must still be a part: nodemailer drops empty strings.
    ...(request.text !== undefined && { text: request.text || '\r\n' }),
    ...(request.html !== undefined && { html: request.html || '\r\n' }),
    headers: headersOf(request).map(([key, value]) => ({ key, value })),
    ...(request.attachments && { attachments: request.attachments.map(attachment) }),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function headersOf({ headers = new Map(), unsubscribe }: EmailRequest): [string, string][] {
  return [...headers, ...(unsubscribe?.url ? unsubscribeFields({ url: unsubscribe.url }) : [])]
}

function address({ name, email }: Mailbox): { name: string; address: string } {
  // A run of spaces could fill a complete folded line, which acceptance treats as a hidden end of the header.
  return { name: name.replaceAll(/\s{2,}/g, ' '), address: email }
}

function attachment(given: NonNullable<EmailRequest['attachments']>[number]) {
  return {
    filename: given.filename,
    content: given.content,
    ...(given.content_type !== undefined && { contentType: given.content_type }),
    ...(given.content_id !== undefined && { cid: given.content_id }),
    ...(given.disposition !== undefined && { contentDisposition: given.disposition }),
  }
}

/** Text that does not fold into lines of 998 octets (RFC 5322 2.1.1) goes as encoded words, which do. */
function foldable(text: string): string {
  return UNFOLDABLE.test(text) ? mimeFuncs.encodeWord(text, 'B', 52) : text
}

/** One kind of line end; a bare CR or LF would be refused. */
function crlf(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, '\r\n')
}

/** On octets: what a replacement of millions of line ends gives is a string of millions of pieces. */
async function crlfInTurns(text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined
  const bytes = Buffer.from(text)
  const ended = Buffer.allocUnsafe(bytes.length * 2)
  let to = 0
  for (let at = 0; at < bytes.length; at++) {
    const octet = bytes[at] ?? 0
    if (octet === LF && bytes[at - 1] === CR) continue // written with its CR
    if (octet === CR || octet === LF) {
      ended[to++] = CR
      ended[to++] = LF
    } else ended[to++] = octet
    if (at % TEXT_TURN === 0) await nextTurn()
  }
  return ended.toString('utf8', 0, to)
}

/** Writes a tree of small parts in one step: 0.09 ms for 4 KiB, where nodemailer's stream takes 0.33 ms. */
function render(node: MimeNode): string {
  const head = `${node.buildHeaders()}\r\n\r\n`
  if (node.childNodes.length === 0) return head + ended(encode(node))
  const boundary = String(node.boundary)
  return `${head}${node.childNodes.map(child => `--${boundary}\r\n${render(child)}`).join('')}--${boundary}--\r\n`
}

/** The same, with a turn for others after each piece of a large part: nodemailer encodes an attachment without any. */
async function* renderInTurns(node: MimeNode): AsyncGenerator<string | Buffer> {
  yield `${node.buildHeaders()}\r\n\r\n`
  if (node.childNodes.length === 0) {
    let last: string | Buffer = ''
    for await (last of encodeInTurns(node)) yield last
    if (!Buffer.from(last).subarray(-2).equals(CRLF)) yield CRLF
    return
  }
  for (const child of node.childNodes) {
    yield `--${node.boundary}\r\n`
    yield* renderInTurns(child)
  }
  yield `--${node.boundary}--\r\n`
}

const CR = 0x0d
const LF = 0x0a
const CRLF = Buffer.from([CR, LF])
/** Octets of text that are worked on in one turn. */
const TEXT_TURN = 256 * 1024
/** Octets of quoted-printable in one turn: 20 ms when all of them are line ends. */
const QUOTED_TURN = 8 * 1024
/** Octets of base64 in one turn: complete lines of 76 characters. */
const BASE64_TURN = 57 * 4096

function encode(node: MimeNode): string {
  const encoding = node.getTransferEncoding()
  if (encoding === 'base64') return base64.wrap(bytesOf(node).toString('base64'))
  const text = typeof node.content === 'string' ? node.content : ''
  return encoding === 'quoted-printable' ? quotedPrintable.wrap(quotedPrintable.encode(text)) : text
}

async function* encodeInTurns(node: MimeNode): AsyncGenerator<string | Buffer> {
  const encoding = node.getTransferEncoding()
  const bytes = bytesOf(node)
  await nextTurn()
  if (encoding === 'base64')
    for (let at = 0; at < bytes.length; at += BASE64_TURN) {
      yield `${base64.wrap(bytes.toString('base64', at, at + BASE64_TURN))}\r\n`
      await nextTurn()
    }
  else if (encoding === 'quoted-printable') {
    const encoder = new quotedPrintable.Encoder()
    Readable.from(slicesOf(bytes, QUOTED_TURN)).pipe(encoder)
    yield* encoder as AsyncIterable<Buffer>
  } else yield bytes
}

async function* slicesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size)
    await nextTurn()
  }
}

function bytesOf({ content }: MimeNode): Buffer {
  return content instanceof Buffer ? content : Buffer.from(typeof content === 'string' ? content : '')
}

function ended(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}
