/** What `POST /api/send`, `POST /api/v1/emails` and their kin take: the schemas and the rules between fields. */
import { z } from 'zod'
import { DAY_MS } from '../../../platform/durations.ts'
import type { Mailbox } from '../../message/address.ts'
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

/** Fields that are part of the design but not of this version. */
const UNSUPPORTED = ['template', 'track', 'unsubscribe'] as const

const common = {
  tags: tags.optional(),
  metadata: metadata.optional(),
  scheduled_at: instant.optional(),
  stream: z.enum(['transactional', 'bulk']).optional(),
  test: z.boolean().optional(),
}

/** Accepted by the schema only to be refused with a sentence of its own, so the document does not list it. */
const UNBUILT = z.unknown().meta({ hidden: true })
/** What zod cannot say of a message (see {@link faultsOf}): conditions do not disturb generated types. */
export const emailRequestKeywords = {
  description: `A message with text, html or both. to, cc and bcc together have at most ${EMAIL_LIMITS.recipients} addresses.`,
  if: { properties: { html: {} }, required: ['html'] },
  else: { properties: { text: {} }, required: ['text'] },
}

/** One message. */
export const emailRequest = z
  .strictObject({
    from: mailbox,
    to: recipients,
    cc: mailboxes.optional(),
    bcc: mailboxes.optional(),
    reply_to: mailboxes.optional(),
    subject: headerText(EMAIL_LIMITS.subject),
    text: bodyText.optional(),
    html: bodyText.optional(),
    attachments: z
      .array(attachment)
      .max(EMAIL_LIMITS.attachments, `At most ${EMAIL_LIMITS.attachments} attachments are allowed.`)
      .optional(),
    headers: headers.optional(),
    ...common,
    template: UNBUILT.optional(),
    track: UNBUILT.optional(),
    unsubscribe: UNBUILT.optional(),
  })
  .meta({
    id: 'EmailRequest',
    ...emailRequestKeywords,
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

/** A fault between fields: where, which, why. */
export interface RequestFault {
  pointer: string
  code: 'too_small' | 'too_big' | 'missing'
  message: string
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

/** Faults of a parsed message that no single field shows. */
export function faultsOf(request: EmailRequest, now: Date): RequestFault[] {
  const faults = commonFaults(request, now)
  if (request.text === undefined && request.html === undefined)
    faults.push({ pointer: '/text', code: 'missing', message: 'Give text, html or both.' })
  return faults
}

/** Faults of the fields that a raw message shares with a composed one. */
export function commonFaults(request: EmailRequest | RawRequest, now: Date): RequestFault[] {
  const faults: RequestFault[] = []
  const count = recipientsOf(request).length
  if (request.to.length === 0)
    faults.push({ pointer: '/to', code: 'too_small', message: 'Give at least one recipient in to.' })
  if (count > EMAIL_LIMITS.recipients)
    faults.push({
      pointer: '/to',
      code: 'too_big',
      message: `At most ${EMAIL_LIMITS.recipients} recipients are allowed in to, cc and bcc together; these are ${count}.`,
    })
  const latest = new Date(now.getTime() + EMAIL_LIMITS.scheduleDays * DAY_MS)
  if (request.scheduled_at !== undefined && new Date(request.scheduled_at) > latest)
    faults.push({
      pointer: '/scheduled_at',
      code: 'too_big',
      message: `A message can be scheduled at most ${EMAIL_LIMITS.scheduleDays} days ahead.`,
    })
  return faults
}

/** The unsupported fields that a message uses. */
export function unsupportedIn(request: object): string[] {
  return UNSUPPORTED.filter(field => Object.hasOwn(request, field))
}

/**
 * Takes from the body of `POST /api/send` what a message knows, so that an old caller with fields of its own never
 * breaks; says what was left out. Anything but an object is handed on for the schema to refuse.
 */
export function lenient(body: unknown): { body: unknown; warnings: Warning[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, warnings: [] }
  const warnings: Warning[] = []
  const kept: [string, unknown][] = []
  const warn = (code: Warning['code'], field: string, message: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push({ code, field: field.slice(0, 64), message })
  }
  for (const [field, value] of Object.entries(body)) {
    if ((UNSUPPORTED as readonly string[]).includes(field))
      warn('unsupported_field', field, 'This field is not supported yet and was ignored.')
    else if (Object.hasOwn(emailRequest.shape, field)) kept.push([field, value])
    else warn('unknown_field', field, 'This field was ignored.')
  }
  return { body: Object.fromEntries(kept), warnings }
}

const MAX_WARNINGS = 50
