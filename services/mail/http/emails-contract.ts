/** The operations that send mail and read the delivery log. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { idempotencyHeader } from '../../platform/http/idempotency-key.ts'
import { RECIPIENT_STATUSES } from '../store/rules/email-status.ts'
import { EMAIL_LIMITS, instant } from '../submission/rules/email-parts.ts'
import { emailRequest, emailRequestKeywords, rawRequest } from '../submission/rules/email-request.ts'
import type { Access } from './shared/access.ts'

const SEND: Access = { kind: 'account', scope: 'emails:send' }
/** What old callers of the configured API_TOKEN may do as well. */
const SEND_LEGACY: Access = { kind: 'account', scope: 'emails:send', legacy: true }
const READ: Access = { kind: 'account', scope: 'emails:read' }

const status = z.enum(RECIPIENT_STATUSES)
const time = z.iso.datetime()
const flag = z
  .enum(['true', 'false', '1', '0'])
  .optional()
  .transform(value => value === 'true' || value === '1')

/** Path parameter of one message. */
const emailId = z.strictObject({ id: z.string().regex(/^em_[0-9a-z]{26}$/, 'This is not the id of a message.') })

const recipient = z
  .strictObject({
    email: z.string(),
    type: z.enum(['to', 'cc', 'bcc', 'envelope']),
    status,
    smtp_code: z.number().int().optional(),
    enhanced_code: z.string().optional(),
    at: time.optional(),
  })
  .meta({ id: 'EmailRecipient' })

const warning = z.strictObject({ code: z.string(), field: z.string(), message: z.string() }).meta({ id: 'Warning' })

/** The durable answer to a send. */
export const emailAccepted = z
  .strictObject({
    object: z.literal('email'),
    id: z.string(),
    message_id: z.string(),
    status: z.enum(['queued', 'scheduled']),
    created_at: time,
    recipients: z.array(
      z.strictObject({
        email: z.string(),
        type: z.enum(['to', 'cc', 'bcc', 'envelope']),
        // The wire form of the send API names `suppressed`; no release sets it.
        status: z.enum(['queued', 'scheduled', 'suppressed']),
      }),
    ),
    warnings: z.array(warning),
  })
  .meta({ id: 'EmailAccepted' })

/** The answer to a dry run: what would be sent, and nothing was. */
export const emailPreview = z
  .strictObject({
    object: z.literal('email_preview'),
    from: z.string(),
    size: z.number().int(),
    recipients: z.array(z.strictObject({ email: z.string(), type: z.enum(['to', 'cc', 'bcc', 'envelope']) })),
    headers: z.string(),
    text: z.string().nullable(),
    html: z.string().nullable(),
    warnings: z.array(warning),
  })
  .meta({ id: 'EmailPreview' })

/** A refusal inside an answer that is itself a success (batch). */
const problem = z.looseObject({ code: z.string(), status: z.number().int(), title: z.string(), detail: z.string() })

const batchItem = z
  .strictObject({
    index: z.number().int(),
    status: z.number().int(),
    id: z.string().optional(),
    email: emailAccepted.optional(),
    error: problem.optional(),
  })
  .meta({ id: 'BatchItem' })

/** A message in a list. */
export const emailSummary = z
  .strictObject({
    object: z.literal('email'),
    id: z.string(),
    message_id: z.string(),
    from: z.string(),
    subject: z.string(),
    status,
    source: z.enum(['api', 'smtp', 'system']),
    test: z.boolean(),
    size: z.number().int(),
    tags: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    recipients: z.array(recipient),
    created_at: time,
    scheduled_at: time.nullable(),
    final_at: time.nullable(),
  })
  .meta({ id: 'Email' })

/** A message with everything that is known of it. */
export const emailDetail = emailSummary
  .extend({
    mail_from: z.string(),
    domain: z.string(),
    stream: z.enum(['transactional', 'bulk', 'system']),
    metadata: z.record(z.string(), z.string()),
    submitted_with: z.string().nullable(),
    expires_at: time,
    has_raw: z.boolean(),
    waiting: z.array(
      z.strictObject({
        email: z.string(),
        attempts: z.number().int(),
        next_attempt_at: time,
        last_reply: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'EmailDetail' })

/** One entry of a message's history. */
export const emailEvent = z
  .strictObject({
    object: z.literal('event'),
    id: z.string(),
    type: z.string(),
    timestamp: time,
    email_id: z.string(),
    recipient: z.string(),
    attempt: z.number().int().nullable(),
    smtp_code: z.number().int().nullable(),
    enhanced_code: z.string().nullable(),
    mx_host: z.string().nullable(),
    text: z.string(),
    ambiguous: z.boolean(),
  })
  .meta({ id: 'EmailEvent' })

/** One delivery attempt with its conversation. */
export const emailAttempt = z
  .strictObject({
    object: z.literal('attempt'),
    id: z.string(),
    email_id: z.string(),
    recipient: z.string(),
    attempt: z.number().int(),
    outcome: z.string(),
    at: time,
    duration_ms: z.number(),
    mx_host: z.string().nullable(),
    ip: z.string().nullable(),
    tls: z.strictObject({ version: z.string(), cipher: z.string(), verified: z.boolean() }).nullable(),
    smtp_code: z.number().int().nullable(),
    enhanced_code: z.string().nullable(),
    reply: z.string(),
    ambiguous: z.boolean(),
    conversation: z.string().nullable(),
  })
  .meta({ id: 'EmailAttempt' })

/** 1 to 256 printable characters, blanks only inside. */
export const IDEMPOTENCY_KEY = /^[!-~](?:[ -~]{0,254}[!-~])?$/
/** Request headers of the operations that send. */
const sendHeaders = z.object(idempotencyHeader(IDEMPOTENCY_KEY, 'sends nothing'))
const LOCATION = { description: 'Address of the message.', schema: { type: 'string' }, required: true }
const REPLAYED = { description: '`true`: the answer of an earlier request with this key.', schema: { type: 'string' } }
/** Headers of the answer to one message. */
const accepted = { Location: LOCATION, 'Idempotency-Replayed': REPLAYED }
/** The answer to a dry run. */
const preview = { status: 200, description: 'With dry_run: what would be sent.', response: emailPreview }

const list = <T extends z.ZodType>(item: T) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })

/** A list whose next page starts behind `next`, also when this page is short: see the operation. */
const pages = <T extends z.ZodType>(item: T) => list(item).extend({ next: z.string().nullable() })

/** Without control characters: a query for them finds nothing, and the database has no place for NUL in a pattern. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const plain = z.string().regex(/^[^\u0000-\u001f\u007f]*$/, 'Control characters are not allowed.')
const word = plain.min(1).max(254)

/** Filters of the delivery log. */
export const emailFilters = z.strictObject({
  q: plain.min(2).max(100).optional(),
  status: status.optional(),
  from: word.optional(),
  to: word.optional(),
  domain: word.optional(),
  tag: word.optional(),
  message_id: plain.min(3).max(998).optional(),
  source: z.enum(['api', 'smtp', 'system']).optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z
    .string()
    .regex(/^em_[0-9a-z]{26}$/, 'This is not a cursor of this list.')
    .optional(),
})

/** `POST /api/send`: the four fields of old callers, and everything that `POST /api/v1/emails` knows. */
export const sendLegacy = endpoint({
  operationId: 'send',
  tag: 'Emails',
  method: 'POST',
  path: '/api/send',
  summary: 'Sends a message; unknown fields are ignored with a warning.',
  access: SEND_LEGACY,
  query: z.strictObject({ dry_run: flag }),
  headers: sendHeaders,
  body: z.unknown(),
  documentedBody: z.object(emailRequest.shape).meta({ id: 'SendRequest', ...emailRequestKeywords }),
  status: 202,
  response: emailAccepted,
  responseHeaders: accepted,
  alternative: preview,
})

/** `POST /api/v1/emails`. */
export const sendEmail = endpoint({
  operationId: 'sendEmail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails',
  summary: 'Sends a message, or shows with dry_run=true what would be sent.',
  access: SEND_LEGACY,
  query: z.strictObject({ dry_run: flag }),
  headers: sendHeaders,
  body: emailRequest,
  status: 202,
  response: emailAccepted,
  responseHeaders: accepted,
  alternative: preview,
})

/** `POST /api/v1/emails/batch`. */
export const sendBatch = endpoint({
  operationId: 'sendEmailBatch',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails/batch',
  summary: 'Sends up to 100 messages; strict sends none when one is not valid, partial sends those that are.',
  access: SEND,
  query: z.strictObject({ mode: z.enum(['strict', 'partial']).default('strict') }),
  body: z
    .array(z.unknown())
    .min(1)
    .max(EMAIL_LIMITS.batch, `At most ${EMAIL_LIMITS.batch} messages are allowed in one batch.`),
  documentedBody: z.array(emailRequest).min(1).max(EMAIL_LIMITS.batch),
  headers: sendHeaders,
  status: 202,
  responseHeaders: { 'Idempotency-Replayed': REPLAYED },
  response: z.strictObject({ object: z.literal('list'), data: z.array(batchItem), has_more: z.literal(false) }),
})

/** `POST /api/v1/emails/raw`. */
export const sendRaw = endpoint({
  operationId: 'sendRawEmail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails/raw',
  summary: 'Sends a finished RFC 5322 message with an envelope of its own.',
  access: SEND,
  headers: sendHeaders,
  body: rawRequest,
  status: 202,
  responseHeaders: accepted,
  response: emailAccepted,
})

/** `GET /api/v1/emails`. */
export const listEmails = endpoint({
  operationId: 'listEmails',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails',
  summary:
    'Lists messages, newest first. q finds messages that contain all of its words, whole addresses, domains, Message-IDs or an id; in the most recent messages also parts of them. A page can be short with has_more true; go on with after=next.',
  access: READ,
  query: emailFilters,
  response: pages(emailSummary),
})

/** `GET /api/v1/emails/{id}`. */
export const getEmail = endpoint({
  operationId: 'getEmail',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}',
  summary: 'One message with the state of every recipient.',
  access: READ,
  params: emailId,
  response: emailDetail,
})

/** `GET /api/v1/emails/{id}/events`. */
export const listEmailEvents = endpoint({
  operationId: 'listEmailEvents',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}/events',
  summary: 'The history of a message, oldest first.',
  access: READ,
  params: emailId,
  response: list(emailEvent),
})

/** `GET /api/v1/emails/{id}/attempts`. */
export const listEmailAttempts = endpoint({
  operationId: 'listEmailAttempts',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}/attempts',
  summary: 'Every delivery attempt with its server, TLS, reply and redacted conversation, oldest first.',
  access: READ,
  params: emailId,
  response: list(emailAttempt),
})

/** `GET /api/v1/emails/{id}/raw`. */
export const getEmailRaw = endpoint({
  operationId: 'getRawEmail',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}/raw',
  summary: 'The message as accepted, while its body is kept.',
  access: READ,
  params: emailId,
  responseContent: { 'message/rfc822': { type: 'string' } },
})

/** `GET /api/v1/emails/{id}/preview`. */
export const previewEmail = endpoint({
  operationId: 'previewEmail',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}/preview',
  summary: 'The HTML of the message (else its text) for a sandboxed frame; nothing in it runs or loads.',
  access: READ,
  params: emailId,
  responseContent: { 'text/html': { type: 'string' } },
})

/** `PATCH /api/v1/emails/{id}`. */
export const rescheduleEmail = endpoint({
  operationId: 'rescheduleEmail',
  tag: 'Emails',
  method: 'PATCH',
  path: '/api/v1/emails/{id}',
  summary: 'Moves a scheduled message to another time.',
  access: SEND,
  params: emailId,
  body: z.strictObject({ scheduled_at: instant }),
  response: emailDetail,
})

/** `POST /api/v1/emails/{id}/cancel`. */
export const cancelEmail = endpoint({
  operationId: 'cancelEmail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails/{id}/cancel',
  summary: 'Stops every recipient that is still waiting.',
  access: SEND,
  params: emailId,
  response: emailDetail,
})

/** `POST /api/v1/emails/{id}/retry`. */
export const retryEmail = endpoint({
  operationId: 'retryEmail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails/{id}/retry',
  summary:
    'Tries the recipients that wait for another attempt now; a scheduled message keeps its time (PATCH moves it).',
  access: SEND,
  params: emailId,
  response: emailDetail,
})

/** `POST /api/v1/emails/{id}/resend`. */
export const resendEmail = endpoint({
  operationId: 'resendEmail',
  tag: 'Emails',
  method: 'POST',
  path: '/api/v1/emails/{id}/resend',
  summary: 'Sends a new copy with a new Message-ID, to the recipients that failed or to all of them.',
  access: SEND,
  params: emailId,
  headers: sendHeaders,
  body: z.strictObject({ to: z.enum(['failed', 'all']).default('failed') }),
  status: 202,
  responseHeaders: accepted,
  response: emailAccepted,
})

/** `GET /api/v1/events/stream`. */
export const streamEvents = endpoint({
  operationId: 'streamEvents',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/events/stream',
  summary: 'Server-sent events of the account as they happen.',
  access: READ,
  headers: z.object({
    'Last-Event-ID': z.string().optional().describe('Id of the last event: goes on there, at most a day back.'),
  }),
  responseContent: { 'text/event-stream': { type: 'string' } },
})

/** `GET /api/v1/limits`. */
export const getLimits = endpoint({
  operationId: 'getLimits',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/limits',
  summary: 'What one message may have, how fast an account may send, and how much of its day it has used.',
  access: READ,
  response: z.strictObject({
    recipients: z.number().int(),
    subject_characters: z.number().int(),
    text_bytes: z.number().int(),
    message_bytes: z.number().int(),
    attachments: z.number().int(),
    headers: z.number().int(),
    header_bytes: z.number().int(),
    tags: z.number().int(),
    metadata_keys: z.number().int(),
    batch: z.number().int(),
    schedule_days: z.number().int(),
    sends_per_second: z.number(),
    recipients_per_day: z.number().int().describe('Of the account; 0 = no limit, and nothing is counted.'),
    recipients_today: z.number().int().describe('Counted against the limit since 00:00 UTC.'),
  }),
})
