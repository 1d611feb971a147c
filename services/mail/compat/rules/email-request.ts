/** A message of Resend as a request of the own API. What is wrong with its values is for the own schema to find. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { toOwnAttachments } from './attachments.ts'
import { notServed } from './foreign-error.ts'
import { defined, type Fields, given, isAbsent, isFields } from './loose-input.ts'
import { toInstant } from './relative-time.ts'

const FIELDS = [
  ...['from', 'to', 'cc', 'bcc', 'reply_to', 'subject', 'html', 'text'],
  ...['attachments', 'headers', 'tags', 'scheduled_at', 'template', 'topic_id'],
] as const

/**
 * Header fields that the service writes. Frameworks pass on those of the message that they have composed, and the original
 * replaces them.
 */
const WRITTEN_HERE =
  /^(?:from|to|cc|bcc|reply-to|sender|subject|date|message-id|mime-version|return-path|content-type|content-transfer-encoding)$/i

/** Translates one message; `now` is for times from now on. Throws `not_implemented` for a topic. */
export function toOwnEmail(body: unknown, now: Date): unknown {
  if (!isFields(body)) return body
  const { attachments, headers, scheduled_at, template, topic_id, ...plain } = given(body, FIELDS)
  // Ignored, the message would reach those who do not want mail about the topic.
  if (topic_id !== undefined) throw notServed(sentence('compat.field_not_served', { field: 'topic_id' }))
  return defined({
    ...withoutEmptyTexts(plain),
    attachments: attachments === undefined ? undefined : toOwnAttachments(attachments),
    headers: headers === undefined ? undefined : toOwnHeaders(headers),
    // An empty text is what libraries send for "now".
    scheduled_at: scheduled_at === undefined || scheduled_at === '' ? undefined : toInstant(scheduled_at, now),
    template: template === undefined ? undefined : toOwnTemplate(template),
  })
}

/** Copies of a message and its other part are left out when they are empty; an empty sender or subject is an error. */
function withoutEmptyTexts(fields: Fields): Fields {
  const optional = ['cc', 'bcc', 'reply_to', 'html', 'text']
  const html = fields.html ?? ''
  const text = fields.text ?? ''
  const kept = Object.entries(fields).filter(([name, value]) => value !== '' || !optional.includes(name))
  // A message of nothing but an empty text is one.
  if (html === '' && text === '' && fields.text === '') kept.push(['text', ''])
  return Object.fromEntries(kept)
}

function toOwnHeaders(headers: unknown): unknown {
  if (!isFields(headers)) return headers
  const kept = Object.entries(headers).filter(([name, value]) => !WRITTEN_HERE.test(name) && !isAbsent(value))
  return Object.fromEntries(kept.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]))
}

function toOwnTemplate(template: unknown): unknown {
  return isFields(template) ? given(template, ['id', 'variables']) : template
}
