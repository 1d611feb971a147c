/** Statistics of an account: by day, by hour, and the destinations that fail. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import type { Access } from '../../http/shared/access.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }

const count = z.number().int()
const day = z.iso.date()
const time = z.iso.datetime()

/** Recipients by status. */
const counts = z.strictObject({
  recipients: count,
  delivered: count,
  bounced: count,
  failed: count,
  suppressed: count,
  canceled: count,
  complained: count,
  waiting: count,
})

const totals = counts.extend({ messages: count })

/** The busiest values of each dimension; days that an earlier release counted are not in the last four. */
const dimensions = {
  domains: z.array(counts.extend({ domain: z.string() })).describe('Recipient domains.'),
  reasons: z
    .array(z.strictObject({ reason: z.enum(FAILURE_KINDS), deferred: count, bounced: count, failed: count }))
    .describe('Classes of failures, with recipients that wait, bounced or failed because of them.'),
  senders: z.array(counts.extend({ domain: z.string() })).describe('Domains of senders.'),
  submitters: z.array(counts.extend({ id: z.string() })).describe('Tokens and SMTP logins.'),
  tags: z.array(counts.extend({ tag: z.string() })).describe('Tags as `name:value`.'),
}

/** `GET /api/v1/stats`. */
export const getStats = endpoint({
  operationId: 'getStats',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/stats',
  summary:
    'Messages by day of acceptance (UTC) and where their recipients stand, with the busiest domains, tokens and tags and the classes of failures.',
  access: READ,
  query: z.strictObject({ since: day.optional(), until: day.optional() }),
  response: z.strictObject({
    object: z.literal('stats'),
    since: day,
    until: day,
    totals,
    days: z.array(totals.extend({ date: day })),
    ...dimensions,
  }),
})

/** Most hours of a report. */
const HOURS_MOST = 48

/** `GET /api/v1/stats/hours`. */
export const getHourlyStats = endpoint({
  operationId: 'getHourlyStats',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/stats/hours',
  summary:
    'The same by hour of acceptance, for the last hours; the last one is running. `previous`: as many hours before.',
  access: READ,
  query: z.strictObject({ hours: z.coerce.number().int().min(1).max(HOURS_MOST).default(24) }),
  response: z.strictObject({
    object: z.literal('hourly_stats'),
    since: time,
    until: time,
    totals,
    previous: totals,
    hours: z.array(totals.extend({ start: time })),
    ...dimensions,
  }),
})

/** `GET /api/v1/stats/failing-destinations`. */
export const listFailingDestinations = endpoint({
  operationId: 'listFailingDestinations',
  tag: 'Reports',
  method: 'GET',
  path: '/api/v1/stats/failing-destinations',
  summary:
    'Recipient domains of the newest 500 messages that wait after a failure, bounced or failed since a time (at most 30 days ago), with the last reply of each.',
  access: READ,
  query: z.strictObject({ since: z.iso.datetime({ offset: true }).optional() }),
  response: z.strictObject({
    object: z.literal('list'),
    data: z.array(
      z.strictObject({
        object: z.literal('failing_destination'),
        domain: z.string(),
        deferred: count,
        bounced: count,
        failed: count,
        /** Of the latest one. */
        email_id: z.string(),
        reason: z.enum(FAILURE_KINDS).nullable(),
        at: time,
        last_reply: z.string().nullable(),
        last_reply_code: sentenceCode.nullable(),
        last_reply_params: sentenceParams.nullable(),
      }),
    ),
    has_more: z.boolean(),
  }),
})
