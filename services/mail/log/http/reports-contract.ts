/** The operations that report: statistics of an account, the inbox of capture mode, the state of the queue. */

import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import type { Access } from '../../http/shared/access.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }
const ADMIN: Access = { kind: 'admin' }

const time = z.iso.datetime()
const count = z.number().int()

/** A message in the built-in inbox. */
export const capturedEmail = z
  .strictObject({
    object: z.literal('captured'),
    id: z.string(),
    email_id: z.string(),
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string(),
    size: count,
    received_at: time,
  })
  .meta({ id: 'CapturedEmail' })

/** Id of a captured message: that of the message, and the number of its first recipient. */
export const capturedIdText = z.string().regex(/^em_[0-9a-z]{26}[.][0-9]{1,5}$/, reason('field.captured_id'))

const capturedId = z.strictObject({ id: capturedIdText })

/** `GET /api/v1/inbox`. */
export const listInbox = endpoint({
  operationId: 'listCapturedEmails',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/inbox',
  summary: 'Messages that capture mode received in place of their recipients, newest first.',
  access: READ,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    after: z.string().min(1).max(64).optional(),
  }),
  response: z.strictObject({ object: z.literal('list'), data: z.array(capturedEmail), has_more: z.boolean() }),
})

/** `GET /api/v1/inbox/{id}/raw`. */
export const getInboxRaw = endpoint({
  operationId: 'getRawCapturedEmail',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/inbox/{id}/raw',
  summary: 'A captured message as the receiving server would have got it, signature included.',
  access: READ,
  params: capturedId,
  responseContent: { 'message/rfc822': { type: 'string' } },
})

/** `GET /api/v1/inbox/{id}/preview`. */
export const previewInbox = endpoint({
  operationId: 'previewCapturedEmail',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/inbox/{id}/preview',
  summary: 'The HTML (else the text) of a captured message for a sandboxed frame.',
  access: READ,
  params: capturedId,
  responseContent: { 'text/html': { type: 'string' } },
})

/** `GET /api/v1/admin/queues`. */
export const getQueues = endpoint({
  operationId: 'getQueues',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/queues',
  summary:
    'Depth and age of the queue, the destinations with most waiting, and destinations that are throttled or down, with the reason.',
  access: ADMIN,
  response: z.strictObject({
    object: z.literal('queues'),
    depth: count,
    oldest_due_at: time.nullable(),
    /** Of the deliveries looked at; all of them unless `sampled`. */
    sites: z.array(
      z.strictObject({
        site: z.string(),
        waiting: count,
        due: count,
        deferred: count.describe(
          'What waits for another attempt, which a retry makes due; not what is scheduled or held.',
        ),
        oldest_due_at: time.nullable(),
      }),
    ),
    sampled: z.boolean(),
    suspended: z.array(
      z.strictObject({
        site: z.string(),
        /** Nothing begins before; for a destination that is down, the time of the next probe. */
        until: time,
        /** `throttled`: the receiver asked for less. `down`: no host lets a session begin. */
        state: z.enum(['throttled', 'down']),
        since: time.nullable(),
        /** The reply or error that began the state. */
        reason: z.string().nullable(),
        reason_code: sentenceCode.nullable(),
        reason_params: sentenceParams.nullable(),
        /** Allowed immediately by the worker that wrote last. */
        connections: z.number().int(),
        messages_per_second: z.number().nullable(),
      }),
    ),
  }),
})

/** `GET /api/v1/admin/health`. */
export const getHealth = endpoint({
  operationId: 'getHealth',
  tag: 'Operator',
  method: 'GET',
  path: '/api/v1/admin/health',
  summary: 'Whether the parts that mail needs are working, each check with its reason.',
  access: ADMIN,
  response: z.strictObject({
    object: z.literal('health'),
    status: z.enum(['ok', 'warning', 'failing']),
    checks: z.array(
      z.strictObject({
        name: z.enum(['database', 'clock', 'workers', 'queue', 'hostname', 'sending_ip', 'proxies']),
        status: z.enum(['ok', 'warning', 'failing']),
        detail: z.string(),
        detail_code: sentenceCode,
        detail_params: sentenceParams,
      }),
    ),
  }),
})
