/** The operations on SMTP logins. */
import { z } from 'zod'
import { newPassword } from '../../../accounts/rules/password.ts'
import { username } from '../../../accounts/rules/username.ts'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import type { Access } from '../../http/shared/access.ts'
import { managedBy, networks, recordParams } from '../../http/shared/records.ts'
import { sender, senderAddress } from '../rules/allowed-sender.ts'

const READ: Access = { kind: 'account', scope: 'smtp:read' }
const WRITE: Access = { kind: 'account', scope: 'smtp:write' }
/** Who knows the password of a login sends with it. */
const PASSWORD: Access = { kind: 'account', scope: 'smtp:write', also: 'emails:send' }
const SESSION: Access = { kind: 'member', role: 'developer' }
const time = z.iso.datetime()

const limits = {
  /** Addresses or `@domain` allowed in From and the envelope; empty = all domains of the account. */
  allowed_senders: z.array(sender).max(100),
  allowed_cidrs: networks,
  /** 0 = no limit. */
  messages_per_hour: z.number().int().min(0).max(10_000_000),
  /** Takes the place of senders that the login may not use, in the envelope and in From; null: they are refused. */
  fallback_sender: senderAddress.nullable(),
  /** The login may send with an empty envelope sender, as the bounces of a mail server do. */
  allow_null_sender: z.boolean(),
}

/** An SMTP login and where to use it. */
export const smtpCredential = z
  .strictObject({
    object: z.literal('smtp_credential'),
    id: z.string(),
    username: z.string(),
    ...limits,
    allowed_senders: z.array(z.string()),
    allowed_cidrs: z.array(z.string()),
    fallback_sender: z.string().nullable(),
    disabled: z.boolean(),
    /** False when only a hash is stored or the encryption key is lost: set the password again to copy it. */
    copyable: z.boolean(),
    last_used_at: time.nullable(),
    created_by: z.string().nullable().describe('The user who made it; null where that is not known.'),
    managed_by: managedBy.nullable(),
    connection: z.strictObject({
      host: z.string(),
      ports: z.array(z.strictObject({ port: z.number().int(), mode: z.enum(['starttls', 'tls']) })),
    }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'SmtpCredential' })

/** A login with its password; shown this once. */
export const smtpCredentialWithPassword = smtpCredential
  .extend({ password: z.string() })
  .meta({ id: 'SmtpCredentialWithPassword' })

/** `POST /api/v1/smtp-credentials`. */
export const createCredentialOperation = endpoint({
  operationId: 'createSmtpCredential',
  tag: 'SMTP credentials',
  method: 'POST',
  path: '/api/v1/smtp-credentials',
  summary: 'Makes an SMTP login; without a password one is made. A token needs emails:send as well.',
  access: PASSWORD,
  example: {
    body: {
      username: 'shop',
      allowed_senders: ['@example.com'],
      allowed_cidrs: ['192.0.2.0/24'],
      messages_per_hour: 1000,
    },
  },
  body: z.strictObject({
    username,
    password: newPassword.optional(),
    allowed_senders: limits.allowed_senders.default([]),
    allowed_cidrs: limits.allowed_cidrs.default([]),
    messages_per_hour: limits.messages_per_hour.default(0),
    fallback_sender: limits.fallback_sender.default(null),
    allow_null_sender: limits.allow_null_sender.default(false),
  }),
  status: 201,
  response: smtpCredentialWithPassword,
})

/** The index of names is one of all accounts: sorting one account's logins by it would read those of the others. */
export const LOGIN_ORDERS = listOrders('asc', { created_at: ['_id'] })

/** `GET /api/v1/smtp-credentials`. */
export const listCredentialsOperation = endpoint({
  operationId: 'listSmtpCredentials',
  tag: 'SMTP credentials',
  method: 'GET',
  path: '/api/v1/smtp-credentials',
  summary: 'Lists the SMTP logins of the account, oldest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(LOGIN_ORDERS),
  response: orderedPageOf(smtpCredential),
})

/** `GET /api/v1/smtp-credentials/{id}`. */
export const getCredentialOperation = endpoint({
  operationId: 'getSmtpCredential',
  tag: 'SMTP credentials',
  method: 'GET',
  path: '/api/v1/smtp-credentials/{id}',
  summary: 'One SMTP login with host and ports.',
  access: READ,
  params: recordParams,
  response: smtpCredential,
})

/** `PATCH /api/v1/smtp-credentials/{id}`. */
export const patchCredentialOperation = endpoint({
  operationId: 'updateSmtpCredential',
  tag: 'SMTP credentials',
  method: 'PATCH',
  path: '/api/v1/smtp-credentials/{id}',
  summary: 'Changes the limits of an SMTP login, or disables it.',
  access: WRITE,
  example: { body: { messages_per_hour: 2000, disabled: false } },
  params: recordParams,
  body: z.strictObject({
    allowed_senders: limits.allowed_senders.optional(),
    allowed_cidrs: limits.allowed_cidrs.optional(),
    messages_per_hour: limits.messages_per_hour.optional(),
    fallback_sender: limits.fallback_sender.optional(),
    allow_null_sender: limits.allow_null_sender.optional(),
    disabled: z.boolean().optional(),
  }),
  response: smtpCredential,
})

/** `PUT /api/v1/smtp-credentials/{id}/password`. */
export const putCredentialPasswordOperation = endpoint({
  operationId: 'setSmtpPassword',
  tag: 'SMTP credentials',
  method: 'PUT',
  path: '/api/v1/smtp-credentials/{id}/password',
  summary: 'Sets the password of an SMTP login; without one given it is made. A token needs emails:send as well.',
  access: PASSWORD,
  example: { body: { password: 'a long password of its own' } },
  params: recordParams,
  body: z.strictObject({ password: newPassword.optional() }),
  response: smtpCredentialWithPassword,
})

/** `GET /api/v1/smtp-credentials/{id}/password`. */
export const getCredentialPasswordOperation = endpoint({
  operationId: 'getSmtpPassword',
  tag: 'SMTP credentials',
  method: 'GET',
  path: '/api/v1/smtp-credentials/{id}/password',
  summary: 'The password of an SMTP login, for its owner who is logged in; 409 when only a hash is stored.',
  access: SESSION,
  params: recordParams,
  response: z.strictObject({ object: z.literal('smtp_password'), id: z.string(), password: z.string() }),
})

/** `DELETE /api/v1/smtp-credentials/{id}`. */
export const deleteCredentialOperation = endpoint({
  operationId: 'deleteSmtpCredential',
  tag: 'SMTP credentials',
  method: 'DELETE',
  path: '/api/v1/smtp-credentials/{id}',
  summary: 'Removes an SMTP login.',
  access: WRITE,
  params: recordParams,
  status: 204,
})
