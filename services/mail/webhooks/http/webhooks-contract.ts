/** The operations on webhooks. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import { deliveryLog, resultFields } from '../../../platform/webhooks/http/attempt-schemas.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, recordParams } from '../../http/shared/records.ts'
import { MAIL_EVENT_TYPES } from '../rules/mail-event.ts'
import { WEBHOOK_FORMATS } from '../rules/resend-format.ts'

const READ: Access = { kind: 'account', scope: 'webhooks:read' }
const WRITE: Access = { kind: 'account', scope: 'webhooks:write' }
const time = z.iso.datetime()
const givenTime = z.iso.datetime({ offset: true }).transform(value => new Date(value))

/** Types that a webhook can choose: a test event goes to the webhook that it is for, whatever it chose. */
const CHOICES = MAIL_EVENT_TYPES.filter(type => type !== 'webhook.test')

const state = z.enum(['waiting', 'delivered', 'failed'])

/** A webhook without its secret. */
export const webhook = z
  .strictObject({
    object: z.literal('webhook'),
    id: z.string(),
    name: z.string(),
    url: z.string(),
    /** Types of events; empty = all. */
    events: z.array(z.string()),
    format: z.enum(WEBHOOK_FORMATS),
    /** Domains whose events it gets; empty = all events of the account. */
    domain_ids: z.array(z.string()),
    enabled: z.boolean(),
    notice_email: z.string().nullable(),
    /** The Kubernetes resource that manages it. */
    managed_by: managedBy.nullable(),
    /** Why and when the platform disabled it. */
    disabled: z
      .strictObject({
        at: time,
        reason: z.string(),
        reason_code: sentenceCode,
        reason_params: sentenceParams,
      })
      .nullable(),
    /** Since when every attempt fails. */
    failing_since: time.nullable(),
    /** No attempt begins before this time, because the last ones failed. */
    paused_until: time.nullable(),
    /** Until when the secret before the current one signs as well. */
    previous_secret_until: time.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'MailWebhook' })

/** A webhook with its secret; shown this once. */
export const webhookWithSecret = webhook.extend({ secret: z.string() }).meta({ id: 'MailWebhookWithSecret' })

/** An event on its way to a webhook. */
export const webhookDelivery = z
  .strictObject({
    object: z.literal('webhook_delivery'),
    /** The `webhook-id` of every attempt. */
    id: z.string(),
    webhook_id: z.string(),
    type: z.string(),
    state,
    attempts: z.number().int(),
    next_attempt_at: time.nullable(),
    ...resultFields,
    email_id: z.string().nullable(),
    created_at: time,
  })
  .meta({ id: 'WebhookDelivery' })

/** A delivery with what was sent and answered. */
export const webhookDeliveryDetail = webhookDelivery.extend(deliveryLog(time)).meta({ id: 'WebhookDeliveryDetail' })

const fields = {
  name: z.string().trim().max(100),
  url: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }),
  events: z
    .array(z.enum(CHOICES))
    .max(CHOICES.length)
    .transform(types => [...new Set(types)]),
  format: z.enum(WEBHOOK_FORMATS),
  domain_ids: z.array(z.string().min(1).max(128)).max(100),
  enabled: z.boolean(),
  notice_email: z.email().max(254).nullable(),
}

/** An account has few webhooks: their names are in no index. */
export const WEBHOOK_ORDERS = listOrders('asc', { created_at: ['_id'] })

/** `GET /api/v1/webhooks`. */
export const listMailWebhooksOperation = endpoint({
  operationId: 'listMailWebhooks',
  tag: 'Webhooks',
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'Lists the webhooks of the account, oldest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(WEBHOOK_ORDERS),
  response: orderedPageOf(webhook),
})

/** `POST /api/v1/webhooks`. */
export const createMailWebhookOperation = endpoint({
  operationId: 'createMailWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/api/v1/webhooks',
  summary: 'Makes a webhook (Standard Webhooks 1.0); the answer is the only one with its secret.',
  access: WRITE,
  example: {
    body: {
      name: 'Orders',
      url: 'https://hooks.example.com/mail',
      events: ['email.delivered', 'email.bounced'],
      notice_email: 'ops@example.com',
    },
  },
  body: z.strictObject({
    name: fields.name.default(''),
    url: fields.url.describe('Where events are posted: over TLS, at a public address.'),
    events: fields.events.default([]).describe('Types of events that it gets; empty: all.'),
    format: fields.format
      .default('postwright')
      .describe('`resend`: body, types and `svix-*` headers as receivers written for Resend expect them.'),
    domain_ids: fields.domain_ids
      .default([])
      .describe('Domains whose events it gets; empty: all events of the account, also those without a domain.'),
    enabled: fields.enabled.default(true),
    notice_email: fields.notice_email
      .optional()
      .describe('Address that gets a mail when the platform disables the webhook.'),
  }),
  status: 201,
  response: webhookWithSecret,
})

/** `GET /api/v1/webhooks/{id}`. */
export const getMailWebhookOperation = endpoint({
  operationId: 'getMailWebhook',
  tag: 'Webhooks',
  method: 'GET',
  path: '/api/v1/webhooks/{id}',
  summary: 'One webhook.',
  access: READ,
  params: recordParams,
  response: webhook,
})

/** `PATCH /api/v1/webhooks/{id}`. */
export const patchMailWebhookOperation = endpoint({
  operationId: 'updateMailWebhook',
  tag: 'Webhooks',
  method: 'PATCH',
  path: '/api/v1/webhooks/{id}',
  summary: 'Changes a webhook. Enabling it again ends what the platform noted about its failures.',
  access: WRITE,
  example: { body: { events: ['email.bounced', 'email.complained'], enabled: true } },
  params: recordParams,
  body: z.strictObject(fields).partial(),
  response: webhook,
})

/** `DELETE /api/v1/webhooks/{id}`. */
export const deleteMailWebhookOperation = endpoint({
  operationId: 'deleteMailWebhook',
  tag: 'Webhooks',
  method: 'DELETE',
  path: '/api/v1/webhooks/{id}',
  summary: 'Removes a webhook with the events that wait for it.',
  access: WRITE,
  params: recordParams,
  status: 204,
})

/** `POST /api/v1/webhooks/{id}/rotate-secret`. */
export const rotateMailWebhookOperation = endpoint({
  operationId: 'rotateMailWebhookSecret',
  tag: 'Webhooks',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/rotate-secret',
  summary: 'Gives a webhook a new secret; for 24 hours requests have a signature with the old one as well.',
  access: WRITE,
  params: recordParams,
  response: webhookWithSecret,
})

/** `POST /api/v1/webhooks/{id}/test`. */
export const testMailWebhookOperation = endpoint({
  operationId: 'testMailWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/test',
  summary: 'Sends an event `webhook.test` now, once, and answers with what came of it.',
  access: WRITE,
  params: recordParams,
  response: webhookDeliveryDetail,
})

/** Events are found by their time; attempts and their results are in no index. */
export const DELIVERY_ORDERS = listOrders('desc', { created_at: ['_id'] })

/** `GET /api/v1/webhooks/{id}/deliveries`. */
export const listWebhookDeliveriesOperation = endpoint({
  operationId: 'listWebhookDeliveries',
  tag: 'Webhooks',
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries',
  summary:
    'The events of a webhook of the last 30 days and what became of them, newest first unless another order is asked for.',
  access: READ,
  params: recordParams,
  query: orderedPageQuery(DELIVERY_ORDERS, {
    state: state.optional(),
    type: z.enum(MAIL_EVENT_TYPES).optional(),
    email_id: z.string().min(1).max(128).optional(),
  }),
  response: orderedPageOf(webhookDelivery),
})

const deliveryParams = recordParams.extend({ delivery: z.string().min(1).max(128) })

/** `GET /api/v1/webhooks/{id}/deliveries/{delivery}`. */
export const getWebhookDeliveryOperation = endpoint({
  operationId: 'getWebhookDelivery',
  tag: 'Webhooks',
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries/{delivery}',
  summary: 'One event of a webhook with its attempts: requests and answers.',
  access: READ,
  params: deliveryParams,
  response: webhookDeliveryDetail,
})

/** `POST /api/v1/webhooks/{id}/deliveries/{delivery}/replay`. */
export const replayWebhookDeliveryOperation = endpoint({
  operationId: 'replayWebhookDelivery',
  tag: 'Webhooks',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/deliveries/{delivery}/replay',
  summary: 'Sends an event again now, under its id, and answers with what came of it.',
  access: WRITE,
  params: deliveryParams,
  response: webhookDeliveryDetail,
})

/** `POST /api/v1/webhooks/{id}/replay`. */
export const replayWebhookOperation = endpoint({
  operationId: 'replayWebhook',
  tag: 'Webhooks',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/replay',
  summary: 'Sends the events of a time again, oldest first, under their ids: at most 10,000, and 26 days back.',
  access: WRITE,
  example: { body: { since: '2026-11-20T00:00:00Z', failed_only: true } },
  params: recordParams,
  body: z.strictObject({
    since: givenTime.describe('Events that happened at this time or later.'),
    until: givenTime.optional().describe('And not after this time; default now.'),
    failed_only: z.boolean().default(true).describe('Leave out what was delivered.'),
  }),
  response: z
    .strictObject({
      object: z.literal('webhook_replay'),
      replayed: z.number().int(),
      has_more: z.boolean(),
      next_since: z.iso
        .datetime()
        .nullable()
        .describe('`since` of the next request where there are more; some events may then be sent twice.'),
    })
    .meta({ id: 'WebhookReplay' }),
})
