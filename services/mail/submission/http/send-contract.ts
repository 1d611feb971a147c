/** Operations that send mail, and the limits of sending. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { idempotencyHeader } from '../../../platform/http/idempotency-key.ts'
import type { Access } from '../../http/shared/access.ts'
import { sendingLimit } from '../../limits/http/limits-contract.ts'
import { EMAIL_LIMITS } from '../rules/email-parts.ts'
import { emailRequest, lenientRequestKeywords, rawRequest } from '../rules/email-request.ts'

const SEND: Access = { kind: 'account', scope: 'emails:send' }

/** What old callers of the configured API_TOKEN may do as well. */
const SEND_LEGACY: Access = { kind: 'account', scope: 'emails:send', legacy: true }

const READ: Access = { kind: 'account', scope: 'emails:read' }

const time = z.iso.datetime()

const flag = z
  .enum(['true', 'false', '1', '0'])
  .optional()
  .transform(value => value === 'true' || value === '1')

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

/** 1 to 256 printable characters, blanks only inside. */
export const IDEMPOTENCY_KEY = /^[!-~](?:[ -~]{0,254}[!-~])?$/

/** Request headers of the operations that send. */
export const sendHeaders = z.object(idempotencyHeader(IDEMPOTENCY_KEY, 'sends nothing'))

const LOCATION = { description: 'Address of the message.', schema: { type: 'string' }, required: true }

const REPLAYED = { description: '`true`: the answer of an earlier request with this key.', schema: { type: 'string' } }

/** Headers of the answer to one message. */
export const accepted = { Location: LOCATION, 'Idempotency-Replayed': REPLAYED }

/** The answer to a dry run. */
const preview = { status: 200, description: 'With dry_run: what would be sent.', response: emailPreview }

/** `POST /api/send`: the four fields of old callers, and everything that `POST /api/v1/emails` knows. */
export const sendLegacy = endpoint({
  operationId: 'send',
  tag: 'Emails',
  method: 'POST',
  path: '/api/send',
  summary: 'Sends a message; unknown fields are ignored with a warning.',
  access: SEND_LEGACY,
  example: {
    body: {
      from: 'Ann <ann@example.com>',
      to: 'bob@example.net',
      subject: 'Your order 4711',
      text: 'Thank you for your order.',
    },
  },
  query: z.strictObject({ dry_run: flag }),
  headers: sendHeaders,
  body: z.unknown(),
  documentedBody: z
    .object({ ...emailRequest.shape, unsubscribe: z.unknown(), track: z.unknown() })
    .partial({ unsubscribe: true, track: true })
    .meta({ id: 'SendRequest', ...lenientRequestKeywords }),
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
  example: {
    body: {
      from: 'Ann <ann@example.com>',
      to: ['bob@example.net'],
      subject: 'Your order 4711',
      text: 'Thank you for your order.',
      html: '<p>Thank you for your order.</p>',
      tags: [{ name: 'kind', value: 'order' }],
    },
  },
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
  example: {
    body: [
      { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello Bob', text: 'News of today.' },
      { from: 'ann@example.com', to: 'carol@example.net', subject: 'Hello Carol', text: 'News of today.' },
    ],
  },
  query: z.strictObject({ mode: z.enum(['strict', 'partial']).default('strict') }),
  body: z.array(z.unknown()).min(1).max(EMAIL_LIMITS.batch),
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
  example: {
    body: {
      from: 'ann@example.com',
      to: ['bob@example.net'],
      raw: 'RnJvbTogYW5uQGV4YW1wbGUuY29tDQpTdWJqZWN0OiBIZWxsbw0KDQpIZWxsbw0K',
    },
  },
  headers: sendHeaders,
  body: rawRequest,
  status: 202,
  responseHeaders: accepted,
  response: emailAccepted,
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
    sending_limits: z
      .array(sendingLimit)
      .describe('Rates and amounts of the account, its logins, domains and destinations.'),
  }),
})
