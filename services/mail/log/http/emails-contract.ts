/** Operations that read the delivery log and act on stored messages. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import { DELIVERY_MODES } from '../../domains/rules/delivery-mode.ts'
import type { Access } from '../../http/shared/access.ts'
import { RECIPIENT_STATUSES } from '../../store/rules/email-status.ts'
import { accepted, emailAccepted, sendHeaders } from '../../submission/http/send-contract.ts'
import { instant } from '../../submission/rules/email-parts.ts'

const SEND: Access = { kind: 'account', scope: 'emails:send' }

const READ: Access = { kind: 'account', scope: 'emails:read' }

const status = z.enum(RECIPIENT_STATUSES)

const time = z.iso.datetime()

/** Path parameter of one message. */
export const emailPath = z.strictObject({ id: z.string().regex(/^em_[0-9a-z]{26}$/, reason('field.message_id')) })

/** A recipient with the state that its last attempt or report gave it. */
export const emailRecipient = z
  .strictObject({
    email: z.string(),
    type: z.enum(['to', 'cc', 'bcc', 'envelope']),
    status,
    smtp_code: z.number().int().optional(),
    enhanced_code: z.string().optional(),
    reason: z
      .enum(FAILURE_KINDS)
      .optional()
      .describe('Class of the failure, while the status is deferred, bounced or failed.'),
    at: time.optional(),
  })
  .meta({ id: 'EmailRecipient' })

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
    recipients: z.array(emailRecipient),
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
    delivery: z
      .enum(DELIVERY_MODES)
      .describe(
        'What acceptance decided: to its recipients, into the inbox of its domain, or to one address in place of them.',
      ),
    redirected_from: z.array(z.string()).describe('The recipients that a redirect replaced.'),
    stream: z.enum(['transactional', 'bulk', 'system']),
    list: z.string().nullable().describe('List within the bulk stream.'),
    metadata: z.record(z.string(), z.string()),
    template: z
      .strictObject({ id: z.string(), version: z.number().int() })
      .nullable()
      .describe('What its parts were rendered from.'),
    submitted_with: z.string().nullable(),
    expires_at: time,
    has_raw: z.boolean(),
    waiting: z.array(
      z.strictObject({
        email: z.string(),
        attempts: z.number().int(),
        next_attempt_at: time,
        last_reply: z.string().nullable(),
        last_reply_code: sentenceCode.nullable(),
        last_reply_params: sentenceParams.nullable(),
        /** Who holds it, and why; `next_attempt_at` is the end of its lifetime then. Absent: not held. */
        held: z
          .strictObject({
            id: z.string(),
            by: z.string(),
            admin: z.boolean(),
            reason: z.string(),
            since: time,
            until: time.nullable(),
          })
          .optional(),
      }),
    ),
  })
  .meta({ id: 'EmailDetail' })

/** Of opens and clicks in tracked mail. */
const engagement = {
  url: z.string().optional().describe('The link that was followed.'),
  user_agent: z.string().optional(),
  machine: z.boolean().optional().describe('Probably a program (privacy proxy, link scanner) and no person.'),
}

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
    text_code: sentenceCode,
    text_params: sentenceParams,
    ambiguous: z.boolean(),
    ...engagement,
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
    reply_code: sentenceCode,
    reply_params: sentenceParams,
    /** What to do about it, for a refusal because of failed authentication. */
    advice: z.string().nullable(),
    advice_code: sentenceCode.nullable(),
    advice_params: sentenceParams.nullable(),
    ambiguous: z.boolean(),
    conversation: z.string().nullable(),
    ...engagement,
  })
  .meta({ id: 'EmailAttempt' })

const list = <T extends z.ZodType>(item: T) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })

/** `GET /api/v1/emails/{id}`. */
export const getEmail = endpoint({
  operationId: 'getEmail',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}',
  summary: 'One message with the state of every recipient.',
  access: READ,
  params: emailPath,
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
  params: emailPath,
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
  params: emailPath,
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
  params: emailPath,
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
  params: emailPath,
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
  example: { body: { scheduled_at: '2030-01-01T09:00:00Z' } },
  params: emailPath,
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
  params: emailPath,
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
  params: emailPath,
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
  example: { body: { to: 'all' } },
  params: emailPath,
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
  summary:
    'Server-sent events of the account as they happen: of its messages, and with `data` as webhooks get it of its domains and suppressions.',
  access: READ,
  headers: z.object({
    'Last-Event-ID': z.string().optional().describe('Id of the last event: goes on there, at most a day back.'),
  }),
  responseContent: { 'text/event-stream': { type: 'string' } },
})
