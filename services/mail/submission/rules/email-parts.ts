/** The parts of a message as callers give them over HTTP, each checked so that nothing of it can leave its place. */

import { z } from 'zod'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type Mailbox, readMailbox, WRITTEN_ADDRESS_MAX } from '../../message/address.ts'
import { DecodedBase64, decodeBase64 } from '../../message/base64.ts'

/** Limits of one message over HTTP; `GET /api/v1/limits` returns them. Sizes in bytes. */
export const EMAIL_LIMITS = {
  recipients: 50,
  subject: 998,
  text: 2 * 1024 * 1024,
  attachments: 20,
  headers: 50,
  headerBytes: 16 * 1024,
  tags: 10,
  metadata: 20,
  batch: 100,
  scheduleDays: 30,
  /** Values for a template; more than it can have variables, so that others can be ignored. */
  templateVariables: 200,
} as const

/** Text without control characters and the line separators of Unicode, as a JSON Schema pattern without flags. */
const HEADER_TEXT = { type: 'string', pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$` }

/** What an address field takes. */
export type AddressInput = string | { email: string; name?: string | undefined }

const REQUIRED = { error: sentence('field.required') }

/** One address. */
export const mailbox = z
  .transform((value: AddressInput | undefined, context): Mailbox => {
    const result = value === undefined ? REQUIRED : readMailbox(value)
    if ('mailbox' in result) return result.mailbox
    context.issues.push(issueOf(result.error, value))
    return z.NEVER
  })
  .register(z.globalRegistry, {
    id: 'Mailbox',
    description: 'An address, with a display name if wanted. International domains and local parts are allowed.',
    anyOf: [
      {
        type: 'string',
        format: 'mailbox',
        maxLength: WRITTEN_ADDRESS_MAX,
        examples: ['user@example.com', 'Ann Example <ann@example.com>', '"Example, Ann" <ann@example.com>'],
      },
      {
        type: 'object',
        properties: {
          email: { type: 'string', format: 'idn-email', examples: ['user@example.com'] },
          name: { ...HEADER_TEXT, maxLength: 255 },
        },
        required: ['email'],
        additionalProperties: false,
      },
    ],
  })

function issueOf({ code: message, params = {} }: Sentence, input: unknown) {
  return { code: 'custom' as const, message, params: { ...params }, input }
}

/** One address or a list of them; always a list afterwards. An error points at the field, or at its place in the list. */
export const mailboxes = mailboxList(0)

/** The same, with at least one address for readers of the contract; `findCommonErrors` checks that. */
export const recipients = mailboxList(1)

function mailboxList(minItems: number) {
  const item = { $ref: '#/components/schemas/Mailbox' }
  return z
    .transform((value: AddressInput | AddressInput[] | undefined, context): Mailbox[] => {
      const list = Array.isArray(value) ? value : [value]
      if (list.length > EMAIL_LIMITS.recipients)
        context.issues.push(issueOf(sentence('field.too_many', { count: EMAIL_LIMITS.recipients }), value))
      return list.slice(0, EMAIL_LIMITS.recipients).flatMap((one, index) => {
        const result = one === undefined ? REQUIRED : readMailbox(one)
        if ('mailbox' in result) return [result.mailbox]
        context.issues.push({ ...issueOf(result.error, value), path: Array.isArray(value) ? [index] : [] })
        return []
      })
    })
    .register(z.globalRegistry, {
      description: `One address or a list of at most ${EMAIL_LIMITS.recipients}.`,
      anyOf: [item, { type: 'array', items: item, minItems, maxItems: EMAIL_LIMITS.recipients }],
    })
}

/** A value of one header line. */
export const headerText = (max: number) =>
  z.string().max(max, { abort: true }).regex(new RegExp(HEADER_TEXT.pattern), reason('field.control_characters'))

/** A body part. */
export const bodyText = z
  .string()
  .refine(value => Buffer.byteLength(value) <= EMAIL_LIMITS.text, {
    message: reason('field.too_many_bytes'),
    params: { count: EMAIL_LIMITS.text },
  })
  .meta({ maxLength: EMAIL_LIMITS.text, description: `At most ${EMAIL_LIMITS.text} bytes of UTF-8.` })

/** Strict base64, which may have been decoded already; decoded afterwards. */
export const base64 = z
  .custom<string | DecodedBase64>(
    value => typeof value === 'string' || value instanceof DecodedBase64,
    reason('field.base64_text'),
  )
  .register(z.globalRegistry, { type: 'string', format: 'byte', contentEncoding: 'base64' })
  .transform((value, context) => {
    const bytes = typeof value === 'string' ? decodeBase64(value) : value.bytes
    if (bytes) return bytes
    context.addIssue({ code: 'custom', message: reason('field.base64') })
    return z.NEVER
  })

// Without flags and without \w, which means more than ASCII where it is Unicode: clients read it as JSON Schema.
const CONTENT_TYPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it excludes
  /^[A-Za-z0-9][A-Za-z0-9_.+-]*\/[A-Za-z0-9][A-Za-z0-9_.+-]*(?: *; *[A-Za-z0-9_-]+=(?:[A-Za-z0-9_.+-]+|"[^"\\\u0000-\u001f\u007f-\u009f]*"))*$/
/** Types whose bodies have a structure of their own, in which headers could hide. */
const STRUCTURED = /^(?:[Mm][Uu][Ll][Tt][Ii][Pp][Aa][Rr][Tt]|[Mm][Ee][Ss][Ss][Aa][Gg][Ee])\//

/** One attachment; its content comes along, never an address to fetch it from. */
export const attachment = z.strictObject({
  filename: headerText(255).min(1),
  content: base64,
  content_type: z
    .string()
    .max(255, { abort: true })
    .regex(CONTENT_TYPE, reason('field.media_type'))
    .refine(type => !STRUCTURED.test(type), reason('field.media_type'))
    .meta({ not: { pattern: STRUCTURED.source } })
    .optional(),
  content_id: z
    .string()
    .regex(/^[A-Za-z0-9_.@+$%-]{1,255}$/, reason('field.content_id'))
    .optional(),
  disposition: z.enum(['attachment', 'inline']).optional(),
})

/** Headers that the composer or acceptance writes, or that would be false about the path of the message. */
const DENIED =
  /^(?:from|to|cc|bcc|sender|date|subject|message-id|mime-version|reply-to|return-path|received|received-spf|authentication-results|delivered-to|original-recipient|content-.*|dkim-.*|domainkey-.*|arc-.*|resent-.*|x-idempotency-key|x-postwright-stream|x-postwright-list|x-postwright-track)$/i

/**
 * What may not fold into lines of 998 octets (RFC 5322 2.1.1): lines are folded between words only, and a line of
 * spaces alone looks like the end of the header.
 */
export const UNFOLDABLE = /[!-~]{900}|\s{40}/

const HEADER_NAME = /^[!-9;-~]{1,76}$/

/** Further headers. A map, so that a name can never reach a prototype. */
export const headers = z
  .record(z.string(), headerText(998).meta({ not: { pattern: UNFOLDABLE.source } }))
  .meta({
    description: `Further headers, all together at most ${EMAIL_LIMITS.headerBytes} bytes. Those that the service sets, as Subject and Content-*, have fields of their own.`,
    propertyNames: { pattern: HEADER_NAME.source },
    maxProperties: EMAIL_LIMITS.headers,
  })
  .transform((given, context) => {
    const entries = Object.entries(given)
    const error = (given: Sentence, path: string[] = []) => context.issues.push({ ...issueOf(given, entries), path })
    if (entries.length > EMAIL_LIMITS.headers) error(sentence('field.too_many', { count: EMAIL_LIMITS.headers }))
    let bytes = 0
    for (const [name, value] of entries) {
      bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4
      if (!HEADER_NAME.test(name)) error(sentence('field.header_name'), [name])
      else if (UNFOLDABLE.test(value)) error(sentence('field.header_word'), [name])
      else if (DENIED.test(name)) error(sentence('field.header_reserved'), [name])
    }
    if (bytes > EMAIL_LIMITS.headerBytes) error(sentence('field.header_bytes', { count: EMAIL_LIMITS.headerBytes }))
    return new Map(entries.map(([name, value]) => [name, value.trim()]))
  })

const KEY = /^[A-Za-z0-9_-]{1,64}$/
const TAG = /^[A-Za-z0-9_-]{1,256}$/

/** Tags for finding and counting. */
export const tags = z
  .array(
    z.strictObject({
      name: z.string().regex(TAG, reason('field.tag')),
      value: z.string().regex(TAG, reason('field.tag')),
    }),
  )
  .max(EMAIL_LIMITS.tags)

/** The caller's own notes on a message. */
export const metadata = z
  .record(z.string().regex(KEY, reason('field.metadata_key')), z.string().max(512))
  .refine(value => Object.keys(value).length <= EMAIL_LIMITS.metadata, {
    message: reason('field.too_many'),
    params: { count: EMAIL_LIMITS.metadata },
  })
  .meta({ maxProperties: EMAIL_LIMITS.metadata })

/** A point in time with its zone, as in 2026-12-24T18:00:00Z. */
export const instant = z.iso.datetime({ offset: true, message: reason('field.instant') })
