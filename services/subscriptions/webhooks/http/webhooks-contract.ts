/** Operations on the webhooks of an app. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { EVENT_TYPES } from '../../events/rules/event-types.ts'
import { SUPER } from '../../http/shared/access.ts'
import { params } from '../../http/shared/contract-fields.ts'
import { flag } from '../../rules/field-schemas.ts'
import { webhookRecord } from './webhook-schemas.ts'

const webhookFields = {
  url: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }),
  events: z.array(z.enum(EVENT_TYPES)).max(EVENT_TYPES.length),
  enabled: flag,
}
const webhookParams = params.extend({ webhook: z.string() })
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
