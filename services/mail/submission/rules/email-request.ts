/** What `POST /api/send`, `POST /api/v1/emails` and their kin take: the schemas and the rules between fields. */

import { z } from 'zod'
import { DAY_MS } from '../../../platform/durations.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { Mailbox } from '../../message/address.ts'
import { LIST_NAME } from '../../store/rules/stream.ts'
import {
  attachment,
  base64,
  bodyText,
  EMAIL_LIMITS,
  headers,
  headerText,
  instant,
  mailbox,
  mailboxes,
  metadata,
  recipients,
  tags,
} from './email-parts.ts'

/** Printable ASCII that cannot end the brackets of the header field. */
const UNSUBSCRIBE_URL = /^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]{0,252}(?::[0-9]{1,5})?(?:\/[!-;=?-~]{0,500})?$/

/** How recipients leave bulk mail. */
const unsubscribe = z
  .strictObject({
    list: z
      .string()
      .regex(LIST_NAME, reason('streams.list_name'))
      .optional()
      .describe('Unsubscribing ends the mail of this list; without it, all bulk mail of the account.'),
    url: z
      .string()
      .regex(UNSUBSCRIBE_URL, reason('streams.url'))
      .optional()
      .describe('An address of yours that takes the POST of RFC 8058; by default one of this service does.'),
  })
  .meta({ id: 'Unsubscribe' })

/** What of a message is tracked, of what its domain has on. */
const track = z
  .strictObject({
    opens: z.boolean().optional().describe('`false`: no image that shows whether the message was opened.'),
    clicks: z.boolean().optional().describe('`false`: links stay as they are.'),
  })
  .describe('Turns off what the domain tracks. `true` is refused while the domain does not track it.')
  .meta({ id: 'Track' })

const common = {
  tags: tags.optional(),
  metadata: metadata.optional(),
  scheduled_at: instant.optional(),
  stream: z
    .enum(['transactional', 'bulk'])
    .describe('`bulk` for newsletters and notices to many: recipients get a link and fields to unsubscribe.')
    .optional(),
  track: track.optional(),
  test: z.boolean().optional(),
}

/**
 * Rules of a message that zod cannot express (see {@link findRequestErrors}): conditions do not affect generated types.
 */
const emailRequestKeywords = {
  description: `A message with a subject and text, html or both; or with a template, which has them. to, cc and bcc together have at most ${EMAIL_LIMITS.recipients} addresses.`,
  if: { properties: { template: {} }, required: ['template'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    not: {
      anyOf: ['text', 'html'].map(part => ({ properties: { [part]: { type: 'string' } }, required: [part] })),
    },
  },
  else: {
    properties: { subject: { type: 'string' } },
    required: ['subject'],
    if: { properties: { html: {} }, required: ['html'] },
    else: { properties: { text: {} }, required: ['text'] },
  },
}

const IN_BULK = { properties: { stream: { const: 'bulk' } }, required: ['stream'] }

/** {@link emailRequestKeywords} for the old path, where what {@link lenient} drops may be anything. */
export const lenientRequestKeywords = {
  ...emailRequestKeywords,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  allOf: [{ if: IN_BULK, then: { properties: { unsubscribe: { $ref: '#/components/schemas/Unsubscribe' } } } }],
}

/** A template of the account in the place of subject, text and html. */
const template = z
  .strictObject({
    id: z.string().min(1).max(128).optional().describe('Id or name.'),
    name: z.string().min(1).max(128).optional(),
    version: z.number().int().min(1).max(1_000_000_000).optional().describe('By default the published one.'),
    variables: z
      .record(z.string().max(64), z.unknown())
      .meta({ maxProperties: EMAIL_LIMITS.templateVariables })
      .optional(),
  })
  .refine(({ id, name }) => (id === undefined) !== (name === undefined), reason('field.template_reference'))
  .meta({ id: 'TemplateReference', oneOf: [{ required: ['id'] }, { required: ['name'] }] })

/** One message. */
export const emailRequest = z
  .strictObject({
    from: mailbox,
    to: recipients,
    cc: mailboxes.optional(),
    bcc: mailboxes.optional(),
    reply_to: mailboxes.optional(),
    subject: headerText(EMAIL_LIMITS.subject).optional(),
    text: bodyText.optional(),
    html: bodyText.optional(),
    attachments: z.array(attachment).max(EMAIL_LIMITS.attachments).optional(),
    headers: headers.optional(),
    ...common,
    template: template.optional(),
    unsubscribe: unsubscribe.optional(),
  })
  .refine(({ subject, template }) => subject !== undefined || template !== undefined, {
    path: ['subject'],
    message: reason('field.required'),
    // Listed together with the errors of other fields.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    id: 'EmailRequest',
    ...emailRequestKeywords,
    dependentSchemas: { unsubscribe: IN_BULK },
  })

/** A message as the caller sends it. */
export type EmailInput = z.input<typeof emailRequest>
/** A message, parsed. */
export type EmailRequest = z.output<typeof emailRequest>

/** A finished message with its envelope. */
export const rawRequest = z
  .strictObject({
    from: mailbox,
    to: recipients,
    raw: base64,
    ...common,
  })
  .meta({ id: 'RawEmailRequest' })

/** A finished message, parsed. */
export type RawRequest = z.output<typeof rawRequest>

/** A notice to the caller that is no refusal. */
export interface Warning {
  code: 'unknown_field' | 'unsupported_field'
  field: string
  message: string
}

/** An error between fields: where, which, why. */
export interface RequestError {
  pointer: string
  reason: Sentence
  /** The code in the answer. */
  code: 'too_small' | 'too_big' | 'missing' | 'not_allowed'
}

/** One recipient of the envelope. */
export interface Recipient {
  email: string
  type: 'to' | 'cc' | 'bcc'
}

/** The envelope's recipients, each address once, under the first field that names it. */
export function recipientsOf(request: { to: Mailbox[]; cc?: Mailbox[] | undefined; bcc?: Mailbox[] | undefined }) {
  const found = new Map<string, Recipient>()
  for (const type of ['to', 'cc', 'bcc'] as const)
    for (const { email } of request[type] ?? []) if (!found.has(email)) found.set(email, { email, type })
  return [...found.values()]
}

/** Errors of a parsed message that no single field shows. */
export function findRequestErrors(request: EmailRequest, now: Date): RequestError[] {
  const errors = findCommonErrors(request, now)
  if (request.template) {
    for (const part of ['text', 'html'] as const)
      if (request[part] !== undefined)
        errors.push({ pointer: `/${part}`, reason: sentence('field.template_with_body'), code: 'not_allowed' })
  } else if (request.text === undefined && request.html === undefined)
    errors.push({ pointer: '/text', reason: sentence('field.body_missing'), code: 'missing' })
  if (request.unsubscribe && request.stream !== 'bulk')
    errors.push({ pointer: '/unsubscribe', reason: sentence('streams.for_bulk'), code: 'not_allowed' })
  return errors
}

/** Errors of the fields that a raw message shares with a composed one. */
export function findCommonErrors(request: EmailRequest | RawRequest, now: Date): RequestError[] {
  const errors: RequestError[] = []
  const count = recipientsOf(request).length
  if (request.to.length === 0)
    errors.push({ pointer: '/to', reason: sentence('field.recipient_missing'), code: 'too_small' })
  if (count > EMAIL_LIMITS.recipients)
    errors.push({
      pointer: '/to',
      reason: sentence('field.recipients', { limit: EMAIL_LIMITS.recipients, count }),
      code: 'too_big',
    })
  const latest = new Date(now.getTime() + EMAIL_LIMITS.scheduleDays * DAY_MS)
  if (request.scheduled_at !== undefined && new Date(request.scheduled_at) > latest)
    errors.push({
      pointer: '/scheduled_at',
      reason: sentence('field.schedule', { days: EMAIL_LIMITS.scheduleDays }),
      code: 'too_big',
    })
  return errors
}

/**
 * Reads the known fields from the body of `POST /api/send`, so that an old caller with fields of its own never breaks;
 * lists the dropped ones. Anything but an object is passed on for the schema to refuse. A template beside a text or html is
 * dropped too, unsubscribe outside of bulk mail, and of track what turns nothing off: earlier releases ignored these fields.
 */
export function lenient(body: unknown): { body: unknown; warnings: Warning[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, warnings: [] }
  const warnings: Warning[] = []
  const kept: [string, unknown][] = []
  const warn = (code: Warning['code'], field: string, message: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push({ code, field: field.slice(0, 64), message })
  }
  for (const [field, value] of Object.entries(body)) {
    if (field === 'template' && ['text', 'html'].some(part => Object.hasOwn(body, part)))
      warn('unsupported_field', field, 'A message with text or html uses no template; this field was ignored.')
    else if (field === 'unsubscribe' && (body as { stream?: unknown }).stream !== 'bulk')
      warn('unsupported_field', field, 'This field is for bulk mail and was ignored.')
    else if (field === 'track' && !turnsOff(value))
      warn('unsupported_field', field, 'The domain decides what is tracked; this field was ignored.')
    else if (Object.hasOwn(emailRequest.shape, field)) kept.push([field, value])
    else warn('unknown_field', field, 'This field was ignored.')
  }
  return { body: Object.fromEntries(kept), warnings }
}

/** True for a choice that asks for no tracking. */
function turnsOff(value: unknown): boolean {
  const { data } = track.safeParse(value)
  return data !== undefined && !data.opens && !data.clicks
}

const MAX_WARNINGS = 50
