/** The operations on apps, their credentials and payment channels, with their schemas. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { SUPER, VIEW_ANY } from '../../http/shared/access.ts'
import * as wire from '../../http/shared/record-schemas.ts'
import { emailOrNone, flag, integer, pathId, text } from '../../rules/field-schemas.ts'
import { pageQuery } from '../../rules/paging.ts'
import { EVENT_TYPES } from '../../webhooks/rules/webhook.ts'

const params = z.object({ id: pathId })
const listQuery = { search: text(0, 64).optional(), status: flag.optional(), ...pageQuery }

/** Lists apps. */
export const listAppsOperation = endpoint({
  operationId: 'listApps',
  tag: 'Apps',
  method: 'GET',
  path: '/app_manage',
  summary: 'Apps in scope, oldest first.',
  access: VIEW_ANY,
  query: z.object(listQuery),
  response: wire.appList,
})
/** One app. */
export const getApp = endpoint({
  operationId: 'getApp',
  tag: 'Apps',
  method: 'GET',
  path: '/app_manage/{id}',
  summary: 'One app.',
  access: VIEW_ANY,
  params,
  response: wire.app,
})
/** Creates an app. */
export const createAppOperation = endpoint({
  operationId: 'createApp',
  tag: 'Apps',
  method: 'POST',
  path: '/app_manage',
  summary: 'Creates an app with a publishable key and a secret, which is shown this once.',
  access: SUPER,
  body: z.object({
    app_name: text(1, 64),
    app_description: text(0, 500).default(''),
    status: flag.default('1'),
    app_key: z
      .string()
      .trim()
      .regex(/^[a-z][a-z0-9_-]{2,31}$/)
      .optional(),
  }),
  response: wire.createdApp,
})
/** Changes an app. */
export const updateAppOperation = endpoint({
  operationId: 'updateApp',
  tag: 'Apps',
  method: 'PUT',
  path: '/app_manage/{id}',
  summary: 'Changes an app.',
  access: SUPER,
  params,
  body: z.object({
    app_name: text(1, 64).optional(),
    app_description: text(0, 500).optional(),
    status: flag.optional(),
    /** 1: the server API takes only signed requests of this app; it needs an hmac credential first. */
    require_signature: flag.optional(),
    /** Sender of this app's reminders, in a verified domain of an administrator of the platform; empty: the platform's own. */
    mail_from: emailOrNone.optional(),
    version: integer(1, Number.MAX_SAFE_INTEGER).optional(),
  }),
  response: wire.app,
})
/** Deletes an app. */
export const deleteAppOperation = endpoint({
  operationId: 'deleteApp',
  tag: 'Apps',
  method: 'DELETE',
  path: '/app_manage/{id}',
  summary: 'Deletes an app and gives the list after it; with force=1 also while subscriptions live.',
  access: SUPER,
  params,
  query: z.object({ force: flag.default('0'), ...listQuery }),
  response: wire.appList,
})

/** Lists credentials. */
export const listCredentialsOperation = endpoint({
  operationId: 'listAppCredentials',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/credential',
  summary: 'Credentials of an app; secrets are not shown.',
  access: SUPER,
  params,
  response: z.object({ credentials: z.array(wire.credential) }),
})
/** Makes a credential. */
export const createCredential = endpoint({
  operationId: 'createAppCredential',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/credential',
  summary: 'Makes a credential; its secret is shown this once.',
  access: SUPER,
  params,
  body: z.object({ kind: z.enum(['publishable', 'secret', 'hmac']).default('secret') }),
  response: wire.credential,
})
/** Revokes a credential. */
export const revokeCredentialOperation = endpoint({
  operationId: 'revokeAppCredential',
  tag: 'App settings',
  method: 'DELETE',
  path: '/app_manage/{id}/credential/{credential}',
  summary: 'Revokes a credential.',
  access: SUPER,
  params: params.extend({ credential: z.string() }),
  response: z.object({ credentials: z.array(wire.credential) }),
})
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
  response: z.object({ webhooks: z.array(wire.webhook) }),
})
/** Makes a webhook. */
export const createWebhookOperation = endpoint({
  operationId: 'createWebhook',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/webhook',
  summary: 'Makes a webhook (Standard Webhooks 1.0); its secret is shown this once. Without events it hears of all.',
  access: SUPER,
  params,
  body: z.object({
    url: webhookFields.url,
    events: webhookFields.events.default([]),
    enabled: webhookFields.enabled.default('1'),
  }),
  response: wire.webhook,
})
/** Changes a webhook. */
export const updateWebhookOperation = endpoint({
  operationId: 'updateWebhook',
  tag: 'App settings',
  method: 'PUT',
  path: '/app_manage/{id}/webhook/{webhook}',
  summary: 'Changes a webhook.',
  access: SUPER,
  params: webhookParams,
  body: z.object({
    url: webhookFields.url.optional(),
    events: webhookFields.events.optional(),
    enabled: webhookFields.enabled.optional(),
  }),
  response: wire.webhook,
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
  response: z.object({ webhooks: z.array(wire.webhook) }),
})
/** Lists payment channels. */
export const listChannelsOperation = endpoint({
  operationId: 'listPaymentChannels',
  tag: 'App settings',
  method: 'GET',
  path: '/app_manage/{id}/channel',
  summary: 'Payment channels of an app; of secrets only whether they are set.',
  access: SUPER,
  params,
  response: z.object({ channels: z.array(wire.channel) }),
})
/** Sets a payment channel. */
export const putChannel = endpoint({
  operationId: 'setPaymentChannel',
  tag: 'App settings',
  method: 'PUT',
  path: '/app_manage/{id}/channel/{channel}',
  summary: 'Sets a payment channel; secret fields that are absent keep their value.',
  access: SUPER,
  params: params.extend({ channel: z.enum(['alipay', 'wechat', 'huawei']) }),
  body: z.object({ enabled: flag.default('1') }).catchall(z.unknown()),
  response: wire.channel,
})
