/** Operations on the webhooks of an app. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { EVENT_TYPES } from '../../events/rules/event-types.ts'
import { SUPER } from '../../http/shared/access.ts'
import { params } from '../../http/shared/contract-fields.ts'
import { digits, flag as wireFlag } from '../../http/shared/wire-values.ts'
import { flag, integer, text } from '../../rules/field-schemas.ts'
import { deliveryDetail, deliveryRecord, webhookRecord } from './webhook-schemas.ts'

const webhookFields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }),
  events: z.array(z.enum(EVENT_TYPES)).max(EVENT_TYPES.length),
  enabled: flag,
}
const webhookParams = params.extend({ webhook: z.string() })
const deliveryParams = webhookParams.extend({ delivery: z.string().min(1).max(200) })
/** Largest page of a delivery log. */
const MAX_DELIVERIES = 100
const seconds = integer(0, 99_999_999_999)
/** Lists webhooks. */
export const listWebhooksOperation = endpoint({
  operationId: 'listWebhooks',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/webhook',
  summary: 'Webhooks of an app, with what became of their last events.',
  access: SUPER,
  params,
  response: z.object({ webhooks: z.array(webhookRecord) }),
})
/** Makes a webhook. */
export const createWebhookOperation = endpoint({
  operationId: 'createWebhook',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook',
  summary: 'Makes a webhook (Standard Webhooks 1.0); its secret is shown this once. Without events it hears of all.',
  access: SUPER,
  example: {
    body: { url: 'https://hooks.example.com/subscriptions', events: ['subscription.created', 'subscription.renewed'] },
  },
  params,
  body: z.object({
    url: webhookFields.url,
    events: webhookFields.events.default([]),
    enabled: webhookFields.enabled.default('1'),
  }),
  response: webhookRecord,
})
/** Changes a webhook. */
export const updateWebhookOperation = endpoint({
  operationId: 'updateWebhook',
  tag: 'App settings',
  method: 'PUT',
  path: '/app_manage/{id}/webhook/{webhook}',
  summary: 'Changes a webhook.',
  access: SUPER,
  example: { body: { events: ['subscription.created'], enabled: '1' } },
  params: webhookParams,
  body: z.object({
    url: webhookFields.url.optional(),
    events: webhookFields.events.optional(),
    enabled: webhookFields.enabled.optional(),
  }),
  response: webhookRecord,
})
/** Removes a webhook. */
export const deleteWebhookOperation = endpoint({
  operationId: 'deleteWebhook',
  tag: 'App settings',
  method: 'DELETE',
  path: '/app_manage/{id}/webhook/{webhook}',
  summary: 'Removes a webhook with what waits for it.',
  access: SUPER,
  params: webhookParams,
  response: z.object({ webhooks: z.array(webhookRecord) }),
})
/** Replaces the secret of a webhook. */
export const rotateWebhookOperation = endpoint({
  operationId: 'rotateWebhookSecret',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook/{webhook}/rotate_secret',
  summary:
    'Gives a webhook a new secret, shown this once; for 24 hours requests have a signature with the old one as well.',
  access: SUPER,
  params: webhookParams,
  response: webhookRecord,
})
/** Sends a test event. */
export const testWebhookOperation = endpoint({
  operationId: 'testWebhook',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook/{webhook}/test',
  summary: 'Sends an event `webhook.test` now, once, and answers with what came of it.',
  access: SUPER,
  params: webhookParams,
  response: deliveryDetail,
})
/** Lists the delivery log. */
export const listDeliveriesOperation = endpoint({
  operationId: 'listWebhookDeliveries',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/webhook/{webhook}/delivery',
  summary:
    'The events of a webhook of the last 30 days and what became of them, newest first or, with order=asc, oldest first.',
  access: SUPER,
  params: webhookParams,
  query: z.object({
    state: z.enum(['waiting', 'done', 'failed']).optional(),
    type: text(1, 64).optional(),
    after: text(1, 200).optional().describe('Id of the last delivery of the page before.'),
    page_size: integer(1, MAX_DELIVERIES).optional().describe('Default 20.'),
    order: z.enum(['desc', 'asc']).default('desc').describe('By the time of the event.'),
  }),
  response: z.object({ deliveries: z.array(deliveryRecord), has_more: wireFlag }),
})
/** One delivery. */
export const getDeliveryOperation = endpoint({
  operationId: 'getWebhookDelivery',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/webhook/{webhook}/delivery/{delivery}',
  summary: 'One event of a webhook with its attempts: requests and answers.',
  access: SUPER,
  params: deliveryParams,
  response: deliveryDetail,
})
/** Sends one delivery again. */
export const replayDeliveryOperation = endpoint({
  operationId: 'replayWebhookDelivery',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook/{webhook}/delivery/{delivery}/replay',
  summary: 'Sends an event again now, under its id, and answers with what came of it.',
  access: SUPER,
  params: deliveryParams,
  response: deliveryDetail,
})
/** Sends the deliveries of a time again. */
export const replayWebhookOperation = endpoint({
  operationId: 'replayWebhook',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook/{webhook}/replay',
  summary: 'Sends the events of a time again, oldest first, under their ids: at most 10,000, and 26 days back.',
  access: SUPER,
  example: { body: { since: 1_763_596_800, failed_only: '1' } },
  params: webhookParams,
  body: z.object({
    since: seconds.describe('Events that happened at this time or later, in seconds since 1970.'),
    until: seconds.optional().describe('And not after this time; default now.'),
    failed_only: flag.default('1').describe('Leave out what was delivered.'),
  }),
  response: z.object({
    replayed: digits,
    has_more: wireFlag,
    next_since: z
      .string()
      .describe('`since` of the next request where there are more, else empty; some events may then be sent twice.'),
  }),
})
