/** The operations on the inbox of a domain: its captured mail. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { domainParams } from '../../domains/http/domains-contract.ts'
import type { Access } from '../../http/shared/access.ts'
import { capturedEmail, capturedIdText } from '../../log/http/reports-contract.ts'
import { instant } from '../../submission/rules/email-parts.ts'

const READ: Access = { kind: 'account', scope: 'inbox:read' }
const WRITE: Access = { kind: 'account', scope: 'inbox:write' }

/** Longest time that a request waits for a message, in seconds. */
export const MAX_WAIT_SECONDS = 60

const count = z.number().int()

/** Without control characters, which occur in no address and no subject. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const plain = z.string().regex(/^[^\u0000-\u001f\u007f]*$/, reason('field.control_characters'))

const messageParams = domainParams.extend({ message: capturedIdText })

/** A captured message with its parts. */
export const inboxMessage = capturedEmail
  .extend({
    headers: z
      .array(z.strictObject({ name: z.string(), value: z.string() }))
      .describe('Names in lower case, values decoded; the first 200.'),
    text: z.string().nullable(),
    html: z.string().nullable(),
    truncated: z.boolean().describe('Text or HTML is longer; `raw` has all of it.'),
    links: z
      .array(z.strictObject({ href: z.string(), text: z.string() }))
      .describe('Links of the HTML with their words, then those that only the text has; the first 500.'),
    codes: z
      .array(z.string())
      .describe('What looks like a one-time code in the text; those near a word such as "code" come first.'),
    attachments: z.array(
      z.strictObject({
        index: count,
        filename: z.string(),
        content_type: z.string(),
        size: count,
        content_id: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'InboxMessage' })

/** `GET /api/v1/domains/{id}/inbox/messages`. */
export const listInboxMessagesOperation = endpoint({
  operationId: 'listInboxMessages',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/domains/{id}/inbox/messages',
  summary:
    'Captured messages of a domain, newest first. With wait (seconds) the answer comes as soon as a message matches, else after that time with an empty list.',
  access: READ,
  example: { query: { to: 'ann@example.net', subject: 'Confirm', wait: 1 } },
  params: domainParams,
  query: z.strictObject({
    to: plain.min(3).max(254).optional().describe('Complete address of a recipient.'),
    subject: plain.min(1).max(200).optional().describe('Part of the subject.'),
    since: instant.optional().describe('Captured at this time or later.'),
    wait: z.coerce.number().int().min(0).max(MAX_WAIT_SECONDS).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    after: capturedIdText.optional(),
  }),
  response: z.strictObject({ object: z.literal('list'), data: z.array(capturedEmail), has_more: z.boolean() }),
})

/** `DELETE /api/v1/domains/{id}/inbox/messages`. */
export const emptyInboxOperation = endpoint({
  operationId: 'deleteInboxMessages',
  tag: 'Inbox',
  method: 'DELETE',
  path: '/api/v1/domains/{id}/inbox/messages',
  summary: 'Removes all captured messages of a domain.',
  access: WRITE,
  params: domainParams,
  response: z.strictObject({ object: z.literal('deleted'), count }),
})

/** `GET /api/v1/domains/{id}/inbox/messages/{message}`. */
export const getInboxMessageOperation = endpoint({
  operationId: 'getInboxMessage',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/domains/{id}/inbox/messages/{message}',
  summary: 'A captured message with its header, text, HTML, links, one-time codes and attachments.',
  access: READ,
  params: messageParams,
  response: inboxMessage,
})

/** `DELETE /api/v1/domains/{id}/inbox/messages/{message}`. */
export const deleteInboxMessageOperation = endpoint({
  operationId: 'deleteInboxMessage',
  tag: 'Inbox',
  method: 'DELETE',
  path: '/api/v1/domains/{id}/inbox/messages/{message}',
  summary: 'Removes a captured message.',
  access: WRITE,
  params: messageParams,
  status: 204,
})

/** `GET /api/v1/domains/{id}/inbox/messages/{message}/raw`. */
export const getRawInboxMessageOperation = endpoint({
  operationId: 'getRawInboxMessage',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/domains/{id}/inbox/messages/{message}/raw',
  summary: 'A captured message as the receiving server would have got it, signature included.',
  access: READ,
  params: messageParams,
  responseContent: { 'message/rfc822': { type: 'string' } },
})

/** `GET /api/v1/domains/{id}/inbox/messages/{message}/preview`. */
export const previewInboxMessageOperation = endpoint({
  operationId: 'previewInboxMessage',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/domains/{id}/inbox/messages/{message}/preview',
  summary: 'The HTML (else the text) of a captured message for a sandboxed frame.',
  access: READ,
  params: messageParams,
  responseContent: { 'text/html': { type: 'string' } },
})

/** `GET /api/v1/domains/{id}/inbox/messages/{message}/attachments/{index}`. */
export const getInboxAttachmentOperation = endpoint({
  operationId: 'getInboxAttachment',
  tag: 'Inbox',
  method: 'GET',
  path: '/api/v1/domains/{id}/inbox/messages/{message}/attachments/{index}',
  summary: 'The bytes of an attachment, always as a download of unknown type.',
  access: READ,
  params: messageParams.extend({ index: z.coerce.number().int().min(0).max(99) }),
  responseContent: { 'application/octet-stream': { type: 'string', format: 'binary' } },
})
