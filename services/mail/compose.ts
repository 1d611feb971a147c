/** Makes the RFC 5322 message of an HTTP request: nodemailer encodes headers and parts, and reads no file and no URL. */
import * as base64 from 'nodemailer/lib/base64'
import MailComposer, { type MailComposerOptions } from 'nodemailer/lib/mail-composer'
import * as mimeFuncs from 'nodemailer/lib/mime-funcs'
import type MimeNode from 'nodemailer/lib/mime-node'
import * as quotedPrintable from 'nodemailer/lib/qp'
import type { Mailbox } from './rules/address.ts'
import { UNFOLDABLE } from './rules/email-parts.ts'
import type { EmailRequest } from './rules/email-request.ts'

/** What the composer adds to the request. */
export interface Stamp {
  /** With its angle brackets. */
  messageId: string
  date: Date
}

/** The complete message with CRLF line ends. Bcc stands in no header: it is never handed to the composer. */
export async function compose(request: EmailRequest, stamp: Stamp): Promise<Buffer> {
  const message = new MailComposer(optionsOf(request, stamp)).compile()
  // Attachments can be large: nodemailer encodes them in pieces, so that other requests get their turn in between.
  if (request.attachments?.length) return message.build()
  return Buffer.from(render(message))
}

function optionsOf(request: EmailRequest, { messageId, date }: Stamp): MailComposerOptions {
  return {
    from: address(request.from),
    to: request.to.map(address),
    ...(request.cc?.length && { cc: request.cc.map(address) }),
    ...(request.reply_to?.length && { replyTo: request.reply_to.map(address) }),
    subject: foldable(request.subject.trim()),
    messageId,
    date,
    // An empty part must still be a part: nodemailer drops empty strings.
    ...(request.text !== undefined && { text: crlf(request.text) || '\r\n' }),
    ...(request.html !== undefined && { html: crlf(request.html) || '\r\n' }),
    ...(request.headers && { headers: [...request.headers].map(([key, value]) => ({ key, value })) }),
    ...(request.attachments && { attachments: request.attachments.map(attachment) }),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

function address({ name, email }: Mailbox): { name: string; address: string } {
  // A run of spaces could fill a whole folded line, which the door takes for a hidden end of the header.
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

/** One kind of line end; a bare CR or LF would be refused at the door. */
function crlf(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, '\r\n')
}

/** Writes a tree of text parts at once: 0.09 ms for 4 KiB, where nodemailer's stream takes 0.33 ms. */
function render(node: MimeNode): string {
  const head = `${node.buildHeaders()}\r\n\r\n`
  if (node.childNodes.length === 0) return head + ended(encode(node))
  const boundary = String(node.boundary)
  return `${head}${node.childNodes.map(child => `--${boundary}\r\n${render(child)}`).join('')}--${boundary}--\r\n`
}

function encode(node: MimeNode): string {
  const text = typeof node.content === 'string' ? node.content : ''
  const encoding = node.getTransferEncoding()
  if (encoding === 'base64') return base64.wrap(base64.encode(text))
  return encoding === 'quoted-printable' ? quotedPrintable.wrap(quotedPrintable.encode(text)) : text
}

function ended(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}
