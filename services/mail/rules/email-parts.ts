/** The parts of a message as callers give them over HTTP, each checked so that nothing of it can leave its place. */
import { z } from 'zod'
import { type Mailbox, readMailbox, UNSAFE } from './address.ts'

/** Limits of one message over HTTP; `GET /api/v1/limits` tells them. Sizes in bytes. */
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

/** What an address field takes. */
export type AddressInput = string | { email: string; name?: string | undefined }

/** One address. */
export const mailbox = z.transform((value: AddressInput, context): Mailbox => {
  const result = readMailbox(value)
  if ('mailbox' in result) return result.mailbox
  context.issues.push({ code: 'custom', message: result.fault, input: value })
  return z.NEVER
})

/** One address or a list of them; always a list afterwards. A fault points at the field, or at its place in the list. */
export const mailboxes = z.transform((value: AddressInput | AddressInput[], context): Mailbox[] => {
  const list = Array.isArray(value) ? value : [value]
  const fault = (message: string, path: number[]) =>
    context.issues.push({ code: 'custom', message, input: value, path })
  if (list.length > EMAIL_LIMITS.recipients) fault(`At most ${EMAIL_LIMITS.recipients} addresses are allowed.`, [])
  return list.slice(0, EMAIL_LIMITS.recipients).flatMap((one, index) => {
    const result = readMailbox(one)
    if ('mailbox' in result) return [result.mailbox]
    fault(result.fault, Array.isArray(value) ? [index] : [])
    return []
  })
})

/** A value that stands in one header line. */
export const headerText = (max: number) =>
  z
    .string()
    .max(max, `At most ${max} characters are allowed.`)
    .refine(value => !UNSAFE.test(value), 'Line breaks and other control characters are not allowed.')

/** A body part. */
export const bodyText = z
  .string()
  .refine(value => Buffer.byteLength(value) <= EMAIL_LIMITS.text, `At most ${EMAIL_LIMITS.text} bytes are allowed.`)

/** Strict base64 (RFC 4648 section 4; line breaks are allowed); decoded afterwards. */
export const base64 = z.string().transform((value, context) => {
  const compact = /[\r\n]/.test(value) ? value.replaceAll(/[\r\n]+/g, '') : value
  const bytes = Buffer.from(compact, 'base64')
  const padding = compact.endsWith('==') ? 2 : compact.endsWith('=') ? 1 : 0
  // The decoder skips what it does not know; the length shows whether it skipped anything.
  if (compact.length % 4 === 0 && bytes.length === (compact.length / 4) * 3 - padding && !/[-_]/.test(compact))
    return bytes
  context.addIssue({ code: 'custom', message: 'This is not base64.' })
  return z.NEVER
})

const CONTENT_TYPE =
  /^(?!multipart\/|message\/)[a-z0-9][\w.+-]*\/[a-z0-9][\w.+-]*(?: *; *[\w-]+=(?:[\w.+-]+|"[^"\\\p{Cc}]*"))*$/iu

/** One attachment; its content comes along, never an address to fetch it from. */
export const attachment = z.strictObject({
  filename: headerText(255).min(1),
  content: base64,
  content_type: z
    .string()
    .max(255)
    .regex(CONTENT_TYPE, 'This is not a media type like application/pdf; multipart and message types are not allowed.')
    .optional(),
  content_id: z
    .string()
    .regex(/^[\w.@+$%-]{1,255}$/, 'A content id has letters, digits and . _ @ + $ % - only.')
    .optional(),
  disposition: z.enum(['attachment', 'inline']).optional(),
})

/** Headers that the composer or the door writes, or that would lie about the way of the message. */
const DENIED =
  /^(?:from|to|cc|bcc|sender|date|subject|message-id|mime-version|reply-to|return-path|received|received-spf|authentication-results|delivered-to|original-recipient|content-.*|dkim-.*|domainkey-.*|arc-.*|resent-.*|x-idempotency-key)$/i

/**
 * What may not fold into lines of 998 octets (RFC 5322 2.1.1): lines are folded between words only, and a line of
 * spaces alone looks like the end of the header.
 */
export const UNFOLDABLE = /[!-~]{900}|\s{40}/

/** Further headers. A map, so that a name can never reach a prototype. */
export const headers = z.record(z.string(), headerText(998)).transform((given, context) => {
  const entries = Object.entries(given)
  const fault = (message: string, path: string[] = []) => context.addIssue({ code: 'custom', message, path })
  if (entries.length > EMAIL_LIMITS.headers) fault(`At most ${EMAIL_LIMITS.headers} headers are allowed.`)
  let bytes = 0
  for (const [name, value] of entries) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4
    if (!/^[!-9;-~]{1,76}$/.test(name)) fault('This is not a header name.', [name])
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
  .max(EMAIL_LIMITS.tags)

/** The caller's own notes on a message. */
export const metadata = z
  .record(z.string().regex(KEY, 'A key has letters, digits, _ and - only, at most 64.'), z.string().max(512))
  .refine(
    value => Object.keys(value).length <= EMAIL_LIMITS.metadata,
    `At most ${EMAIL_LIMITS.metadata} keys are allowed.`,
  )

/** A point in time with its zone, as in 2026-12-24T18:00:00Z. */
export const instant = z.iso.datetime({ offset: true, message: 'A time looks like 2026-12-24T18:00:00Z.' })
