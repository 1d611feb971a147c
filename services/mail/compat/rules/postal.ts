/** `POST /api/v1/send/message` of Postal: its message as a request of the own API, and its answers. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { ForeignRefusal } from './foreign-error.ts'
import { notServed } from './foreign-error.ts'
import { defined, type Fields, given, isFields } from './loose-input.ts'

const FIELDS = [
  ...['to', 'cc', 'bcc', 'from', 'sender', 'subject', 'tag', 'reply_to', 'plain_body', 'html_body'],
  ...['attachments', 'headers', 'bounce'],
] as const

/** What tags may be made of; any other one becomes metadata. */
const TAG = /^[A-Za-z0-9_-]{1,256}$/

/** Translates a message. Throws `not_implemented` for an envelope sender of its own and for bounces. */
export function postalToOwnEmail(body: unknown): unknown {
  if (!isFields(body)) return body
  const { sender, bounce, tag, plain_body, html_body, attachments, headers, ...plain } = given(body, FIELDS)
  if (sender !== undefined) throw notServed(sentence('compat.field_not_served', { field: 'sender' }))
  if (bounce === true) throw notServed(sentence('compat.field_not_served', { field: 'bounce' }))
  const isTag = typeof tag === 'string' && TAG.test(tag)
  return defined({
    ...plain,
    text: plain_body,
    html: html_body === '' ? undefined : html_body,
    attachments: Array.isArray(attachments) ? attachments.map(toOwnAttachment) : attachments,
    headers: isFields(headers) && Object.keys(headers).length === 0 ? undefined : headers,
    tags: isTag ? [{ name: 'tag', value: tag }] : undefined,
    metadata: isTag || tag === undefined ? undefined : { tag },
  })
}

function toOwnAttachment(attachment: unknown): unknown {
  if (!isFields(attachment)) return attachment
  const { name, content_type, data } = given(attachment, ['name', 'content_type', 'data'])
  return defined({ filename: name, content_type, content: data })
}

/** What a client of Postal gets for a message: an id for each recipient. */
export function postalAnswer(email: { id: string; message_id: string; recipients: readonly { email: string }[] }) {
  const messages = email.recipients.map(({ email: address }) => [address, { id: email.id, token: '' }])
  return { message_id: email.message_id.replaceAll(/^<|>$/g, ''), messages: Object.fromEntries(messages) as Fields }
}

const CODES: Partial<Record<ForeignRefusal['name'], string>> = {
  missing_api_key: 'AccessDenied',
  restricted_api_key: 'AccessDenied',
  invalid_api_key: 'InvalidServerAPIKey',
  suspended_api_key: 'ServerSuspended',
  invalid_from_address: 'UnauthenticatedFromAddress',
  application_error: 'InternalServerError',
}

/** Code of a refusal in the format of Postal. A sender that may not be used has one there. */
export function postalCode({ name, status }: ForeignRefusal): string {
  if (status === 403 && name === 'validation_error') return 'UnauthenticatedFromAddress'
  return CODES[name] ?? 'ValidationError'
}

/** Postal answers 200 to refusals; that an error passes is shown by the status. */
export function postalStatus({ status }: ForeignRefusal): number {
  return status === 429 || (status >= 500 && status !== 501) ? status : 200
}
