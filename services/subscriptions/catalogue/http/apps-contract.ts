/** Operations on apps and their credentials. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { SUPER, VIEW_ANY } from '../../http/shared/access.ts'
import { params } from '../../http/shared/contract-fields.ts'
import { emailOrNone, flag, integer, text } from '../../rules/field-schemas.ts'
import { pageQuery } from '../../rules/paging.ts'
import { appList, appRecord, createdApp, credentialRecord } from './app-schemas.ts'

/** One module for clients: webhooks and payment channels belong to an app. */
export * from '../../payments/http/channels-contract.ts'
export * from '../../webhooks/http/webhooks-contract.ts'

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
  response: appList,
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
  response: appRecord,
})
/** Creates an app. */
export const createAppOperation = endpoint({
  operationId: 'createApp',
  tag: 'Apps',
  method: 'POST',
  path: '/app_manage',
  summary: 'Creates an app with a publishable key and a secret, which is shown this once.',
  access: SUPER,
  example: { body: { app_name: 'Notes', app_key: 'notes', app_description: 'A notebook' } },
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
  response: createdApp,
})
/** Changes an app. */
export const updateAppOperation = endpoint({
  operationId: 'updateApp',
  tag: 'Apps',
  method: 'PUT',
  path: '/app_manage/{id}',
  summary: 'Changes an app.',
  access: SUPER,
  example: { body: { app_description: 'A notebook for teams' } },
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
  response: appRecord,
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
  response: appList,
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
  response: z.object({ credentials: z.array(credentialRecord) }),
})
/** Makes a credential. */
export const createCredential = endpoint({
  operationId: 'createAppCredential',
  tag: 'App settings',
  method: 'POST',
  path: '/app_manage/{id}/credential',
  summary: 'Makes a credential; its secret is shown this once.',
  access: SUPER,
  example: { body: { kind: 'secret' } },
  params,
  body: z.object({ kind: z.enum(['publishable', 'secret', 'hmac']).default('secret') }),
  response: credentialRecord,
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
  response: z.object({ credentials: z.array(credentialRecord) }),
})
