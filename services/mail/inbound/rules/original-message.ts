/** The message that a report is about: a part of the report, its header only, or a copy below the text. */

import { parameters } from '../../message/content-type.ts'
import { contentOf, type MimePart, splitHead } from '../../message/mime-reader.ts'
import type { OriginalMessage } from './report.ts'
import { addressOf, type Field, firstValue, readFields } from './report-fields.ts'

/** Types of a part with the original (RFC 3462, RFC 6533), and one that some products use. */
const ORIGINAL_TYPES = new Set([
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global-headers',
])
/** Octets of the original that are read: its header is all that matters. */
const MAX_OCTETS = 256 * 1024
const MAX_HEADERS = 200

/** Lines after which qmail, Exim, sendmail and others put a copy of the message into the text. */
export const COPY_BELOW =
  /^-{2,}.{0,20}(?:Below this line is a copy of the message|This is a copy of (?:the|your) message|Original message|Unsent message (?:below|follows)|Returned (?:message|mail))|^Original message (?:headers|follows)|^-{3,} (?:Message header follows|Message text follows)/i

/** The original of a report in parts; undefined when the report has none. */
export function originalOfParts(parts: readonly MimePart[]): OriginalMessage | undefined {
  const part = parts.find(({ type }) => ORIGINAL_TYPES.has(type))
  // In base64 the octets need a third more room.
  return part && originalOf(contentOf({ ...part, body: part.body.slice(0, 2 * MAX_OCTETS) }).toString('latin1'))
}

/** The original of a report whose text has a copy of it. */
export function originalOfLines(lines: readonly string[]): OriginalMessage | undefined {
  const mark = lines.findIndex(line => COPY_BELOW.test(line.trimStart()))
  if (mark < 0) return undefined
  const first = lines.findIndex((line, index) => index > mark && /^[!-9;-~]+:/.test(line))
  return first < 0 ? undefined : originalOf(lines.slice(first).join('\r\n'))
}

/** Reads the header of a message; undefined when there is none. */
function originalOf(message: string): OriginalMessage | undefined {
  const text = message.slice(0, MAX_OCTETS).replace(/\r?\n/g, '\r\n')
  const fields = readFields(splitHead(text.replace(/^(?:\r\n)+/, '')).head)
  if (fields.length === 0) return undefined
  const headers = new Map<string, string>()
  for (const [name, value] of fields.slice(0, MAX_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  const named = {
    messageId: /<[^<>\s]{1,900}>/.exec(headers.get('message-id') ?? '')?.[0],
    from: addressOf(headers.get('from') ?? ''),
    feedbackId: firstValue(fields, 'feedback-id'),
    listUnsubscribe: firstValue(fields, 'list-unsubscribe'),
  }
  const { messageId, from, feedbackId, listUnsubscribe } = named
  return {
    ...(messageId && { messageId }),
    ...(from && { from }),
    ...(feedbackId && { feedbackId }),
    ...(listUnsubscribe && { listUnsubscribe }),
    headers,
    isReport: isReport(fields),
  }
}

/** RFC 3834 section 2: no automatic answer to what was sent with a null sender, or says that a program wrote it. */
function isReport(fields: readonly Field[]): boolean {
  const [type, parameter] = parameters(firstValue(fields, 'content-type') ?? '')
  return (
    fields.some(([name, value]) => name === 'return-path' && /^<\s*>$/.test(value)) ||
    (type === 'multipart/report' && parameter.get('report-type') !== 'feedback-report') ||
    /^auto-replied\b/i.test(firstValue(fields, 'auto-submitted') ?? '') ||
    /\bmailer-daemon@/i.test(firstValue(fields, 'from') ?? '')
  )
}
