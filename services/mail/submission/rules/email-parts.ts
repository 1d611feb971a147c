/** The parts of a message as callers give them over HTTP, each checked so that nothing of it can leave its place. */
import { z } from 'zod'
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
} as const

/** Text without control characters and the line separators of Unicode, as JSON Schema says it: without flags. */
const HEADER_TEXT = { type: 'string', pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$` }

/** What an address field takes. */
export type AddressInput = string | { email: string; name?: string | undefined }

/** One address. */
export const mailbox = z
  .transform((value: AddressInput, context): Mailbox => {
    const result = readMailbox(value)
    if ('mailbox' in result) return result.mailbox
    context.issues.push(issueOf(result, value))
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

function issueOf({ fault: message, tooBig }: { fault: string; tooBig?: true }, input: unknown) {
  if (!tooBig) return { code: 'custom' as const, message, input }
  return { code: 'too_big' as const, origin: 'string' as const, maximum: WRITTEN_ADDRESS_MAX, message, input }
}

/** One address or a list of them; always a list afterwards. A fault points at the field, or at its place in the list. */
export const mailboxes = mailboxList(0)

/** The same, with at least one address for readers of the contract; `commonFaults` checks that. */
export const recipients = mailboxList(1)

function mailboxList(minItems: number) {
  const item = { $ref: '#/components/schemas/Mailbox' }
  return z
    .transform((value: AddressInput | AddressInput[], context): Mailbox[] => {
      const list = Array.isArray(value) ? value : [value]
      if (list.length > EMAIL_LIMITS.recipients)
        context.issues.push(issueOf({ fault: `At most ${EMAIL_LIMITS.recipients} addresses are allowed.` }, value))
      return list.slice(0, EMAIL_LIMITS.recipients).flatMap((one, index) => {
        const result = readMailbox(one)
        if ('mailbox' in result) return [result.mailbox]
        context.issues.push({ ...issueOf(result, value), path: Array.isArray(value) ? [index] : [] })
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
  z
    .string()
    .max(max, { error: `At most ${max} characters are allowed.`, abort: true })
    .regex(new RegExp(HEADER_TEXT.pattern), 'Line breaks and other control characters are not allowed.')

/** A body part. */
export const bodyText = z
  .string()
  .refine(value => Buffer.byteLength(value) <= EMAIL_LIMITS.text, `At most ${EMAIL_LIMITS.text} bytes are allowed.`)
  .meta({ maxLength: EMAIL_LIMITS.text, description: `At most ${EMAIL_LIMITS.text} bytes of UTF-8.` })

/** Strict base64, which may have been decoded already; decoded afterwards. */
export const base64 = z
  .custom<string | DecodedBase64>(
    value => typeof value === 'string' || value instanceof DecodedBase64,
    'This must be a text of base64.',
  )
  .register(z.globalRegistry, { type: 'string', format: 'byte', contentEncoding: 'base64' })
  .transform((value, context) => {
    const bytes = typeof value === 'string' ? decodeBase64(value) : value.bytes
    if (bytes) return bytes
    context.addIssue({ code: 'custom', message: 'This is not base64.' })
    return z.NEVER
  })

// Without flags and without \w, which means more than ASCII where it is Unicode: clients read it as JSON Schema.
const CONTENT_TYPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it excludes
  /^[A-Za-z0-9][A-Za-z0-9_.+-]*\/[A-Za-z0-9][A-Za-z0-9_.+-]*(?: *; *[A-Za-z0-9_-]+=(?:[A-Za-z0-9_.+-]+|"[^"\\\u0000-\u001f\u007f-\u009f]*"))*$/
/** Types whose bodies have a structure of their own, in which headers could hide. */
const STRUCTURED = /^(?:[Mm][Uu][Ll][Tt][Ii][Pp][Aa][Rr][Tt]|[Mm][Ee][Ss][Ss][Aa][Gg][Ee])\//

const NO_MEDIA_TYPE = 'This is not a media type like application/pdf; multipart and message types are not allowed.'

/** One attachment; its content comes along, never an address to fetch it from. */
export const attachment = z.strictObject({
  filename: headerText(255).min(1),
  content: base64,
  content_type: z
    .string()
    .max(255, { abort: true })
    .regex(CONTENT_TYPE, NO_MEDIA_TYPE)
    .refine(type => !STRUCTURED.test(type), NO_MEDIA_TYPE)
    .meta({ not: { pattern: STRUCTURED.source } })
    .optional(),
  content_id: z
    .string()
    .regex(/^[A-Za-z0-9_.@+$%-]{1,255}$/, 'A content id has letters, digits and . _ @ + $ % - only.')
    .optional(),
  disposition: z.enum(['attachment', 'inline']).optional(),
})

/** Headers that the composer or acceptance writes, or that would be false about the path of the message. */
const DENIED =
  /^(?:from|to|cc|bcc|sender|date|subject|message-id|mime-version|reply-to|return-path|received|received-spf|authentication-results|delivered-to|original-recipient|content-.*|dkim-.*|domainkey-.*|arc-.*|resent-.*|x-idempotency-key)$/i

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
    const fault = (message: string, path: string[] = []) => context.addIssue({ code: 'custom', message, path })
    if (entries.length > EMAIL_LIMITS.headers) fault(`At most ${EMAIL_LIMITS.headers} headers are allowed.`)
    let bytes = 0
    for (const [name, value] of entries) {
      bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4
      if (!HEADER_NAME.test(name)) fault('This is not a header name.', [name])
      else if (UNFOLDABLE.test(value))
        fault('A header has no word of 900 characters and no 40 spaces in a row: its lines end after 998.', [name])
      else if (DENIED.test(name)) fault('This header is set by the service; use the field made for it.', [name])
    }
    if (bytes > EMAIL_LIMITS.headerBytes) fault(`All headers together have at most ${EMAIL_LIMITS.headerBytes} bytes.`)
    return new Map(entries.map(([name, value]) => [name, value.trim()]))
  })

const KEY = /^[A-Za-z0-9_-]{1,64}$/
const TAG = /^[A-Za-z0-9_-]{1,256}$/

/** Tags for finding and counting. */
export const tags = z
  .array(
    z.strictObject({
      name: z.string().regex(TAG, 'Letters, digits, _ and - only, at most 256.'),
      value: z.string().regex(TAG, 'Letters, digits, _ and - only, at most 256.'),
    }),
  )
  .max(EMAIL_LIMITS.tags, `At most ${EMAIL_LIMITS.tags} tags are allowed.`)

/** The caller's own notes on a message. */
export const metadata = z
  .record(z.string().regex(KEY, 'A key has letters, digits, _ and - only, at most 64.'), z.string().max(512))
  .refine(
    value => Object.keys(value).length <= EMAIL_LIMITS.metadata,
    `At most ${EMAIL_LIMITS.metadata} keys are allowed.`,
  )
  .meta({ maxProperties: EMAIL_LIMITS.metadata })

/** A point in time with its zone, as in 2026-12-24T18:00:00Z. */
export const instant = z.iso.datetime({ offset: true, message: 'A time looks like 2026-12-24T18:00:00Z.' })
