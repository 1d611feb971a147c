/** Operations that list, count and export messages of the delivery log. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { listOrders, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import type { Access } from '../../http/shared/access.ts'
import { RECIPIENT_STATUSES } from '../../store/rules/email-status.ts'
import { instant } from '../../submission/rules/email-parts.ts'
import { emailSummary } from './emails-contract.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }

/** Without control characters: a query for them finds nothing, and the database has no place for NUL in a pattern. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const plain = z.string().regex(/^[^\u0000-\u001f\u007f]*$/, reason('field.control_characters'))

const word = plain.min(1).max(254)

const status = z.enum(RECIPIENT_STATUSES)

/** Filters of the delivery log. */
export const messageFilters = z.strictObject({
  q: plain.min(2).max(100).optional(),
  status: z
    .union([status, z.array(status).min(1).max(RECIPIENT_STATUSES.length)])
    .optional()
    .describe('Messages with a recipient in this status. Several: in one of them; in a query status is repeated.'),
  reason: z
    .enum(FAILURE_KINDS)
    .optional()
    .describe('Class of failures: messages with a recipient that waits, bounced or failed because of it.'),
  from: word.optional(),
  to: word.optional(),
  recipient_domain: word.optional().describe('Exact domain of a recipient, without those below it.'),
  domain: word.optional(),
  tag: word.optional(),
  template: word.optional().describe('Id of a template, not its name.'),
  message_id: plain.min(3).max(998).optional(),
  simulated: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'Test messages and mail to the simulator: only them, or with false everything else, as statistics count.',
    ),
  source: z.enum(['api', 'smtp', 'system']).optional(),
  submitted_with: word.optional().describe('Id of the token or SMTP login that submitted the message.'),
  since: instant.optional(),
  until: instant.optional(),
})

const ID = /^em_[0-9a-z]{26}$/

/**
 * By time only, which is the order of ids. A size is not among the fields of any index, a message has many recipients, and
 * an index of either would be written at each acceptance.
 */
export const EMAIL_ORDERS = listOrders('desc', { created_at: ['_id'] })

/** `GET /api/v1/emails`. */
export const listEmails = endpoint({
  operationId: 'listEmails',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails',
  summary:
    'Lists messages, newest first or, with order=asc, oldest first. q finds messages that contain all of its words, whole addresses, domains, Message-IDs or an id; in the most recent messages also parts of them. A page can be short with has_more true; go on with after=next.',
  access: READ,
  query: orderedPageQuery(EMAIL_ORDERS, messageFilters.shape, ID),
  response: z.strictObject({
    object: z.literal('list'),
    data: z.array(emailSummary),
    has_more: z.boolean(),
    next: z.string().nullable().describe('The next page starts after it, even when this page is short.'),
  }),
})

/** `GET /api/v1/emails/count`. */
export const countEmails = endpoint({
  operationId: 'countEmails',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/count',
  summary:
    'How many messages match the filters, at most 1,000 and within a quarter of a second. With more true there are, or may be, further ones. One count of an account runs at a time and two wait; a further one gets 429 rate_limited with Retry-After.',
  access: READ,
  query: messageFilters,
  response: z.strictObject({ object: z.literal('count'), count: z.number().int(), more: z.boolean() }),
})

/** Messages of one answer of the export. */
export const EXPORT_MOST = 10_000

/** Response header of the export with the cursor of its next part. */
export const NEXT_HEADER = 'X-Next'

/** `GET /api/v1/emails/export`. */
export const exportEmails = endpoint({
  operationId: 'exportEmails',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/export',
  summary:
    'Messages that match the filters as CSV, newest first, one row for each recipient. An answer has at most 10,000 messages; the header X-Next is present when there are more: go on with after set to it. Further parts have no heading. One export of an account runs at a time, until its answer ends; another one gets 429 rate_limited with Retry-After.',
  access: READ,
  query: messageFilters.extend({
    limit: z.coerce.number().int().min(1).max(EXPORT_MOST).default(EXPORT_MOST),
    after: z.string().regex(ID, reason('field.cursor')).optional(),
  }),
  responseContent: { 'text/csv': { type: 'string' } },
  responseHeaders: {
    [NEXT_HEADER]: { description: 'Cursor of the next part; absent in the last one.', schema: { type: 'string' } },
  },
})
