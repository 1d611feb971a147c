/** The operations on API tokens. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../../platform/ordered-pages.ts'
import { type Access, SCOPES } from '../../http/shared/access.ts'
import { managedBy, networks, recordParams } from '../../http/shared/records.ts'

const READ: Access = { kind: 'account', scope: 'tokens:read' }
const WRITE: Access = { kind: 'account', scope: 'tokens:write' }
const time = z.iso.datetime()

/** An API token without its value. */
export const token = z
  .strictObject({
    object: z.literal('token'),
    id: z.string(),
    name: z.string(),
    /** The first part of the value, which identifies a token. */
    prefix: z.string(),
    mode: z.enum(['live', 'test']),
    capture: z.boolean().describe('What is sent with it is captured in the inbox of its domain.'),
    scopes: z.array(z.string()),
    /** Domain names that it may send from; empty = all of the account. */
    domains: z.array(z.string()),
    allowed_cidrs: z.array(z.string()),
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
    last_used_at: time.nullable(),
    created_by: z.string().nullable().describe('The user who made it; null where that is not known.'),
    managed_by: managedBy.nullable(),
    created_at: time,
  })
  .meta({ id: 'Token' })

/** A token with its value; shown this once. */
export const tokenWithValue = token.extend({ token: z.string() }).meta({ id: 'TokenWithValue' })

/** `POST /api/v1/tokens`. */
export const createTokenOperation = endpoint({
  operationId: 'createToken',
  tag: 'Tokens',
  method: 'POST',
  path: '/api/v1/tokens',
  summary: 'Makes an API token; the answer is the only one with its value.',
  access: WRITE,
  example: { body: { name: 'Shop', mode: 'live', scopes: ['emails:send', 'emails:read'] } },
  body: z.strictObject({
    name: z.string().trim().min(1).max(100).meta({ pattern: '\\S' }),
    mode: z
      .enum(['live', 'test'])
      .default('live')
      .describe(
        '`test`: messages are validated and logged, and not sent; `bounced+…@` and `deferred+…@` get that outcome.',
      ),
    capture: z
      .boolean()
      .default(false)
      .describe(
        'Everything sent with it goes into the inbox of its domain and to no recipient, also from a live domain.',
      ),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .max(SCOPES.length)
      .default(['emails:send'])
      .transform(scopes => [...new Set(scopes)]),
    domains: z
      .array(z.string().min(1).max(255).meta({ format: 'idn-hostname' }))
      .max(100)
      .default([])
      .describe('Domains of the account that it may send from; empty: all of them.'),
    allowed_cidrs: networks.default([]),
    expires_at: z.iso
      .datetime({ offset: true })
      .transform(value => new Date(value))
      .optional(),
  }),
  status: 201,
  response: tokenWithValue,
})

/** Names and last uses are in no index. */
export const TOKEN_ORDERS = listOrders('asc', { created_at: ['_id'] })

/** `GET /api/v1/tokens`. */
export const listTokensOperation = endpoint({
  operationId: 'listTokens',
  tag: 'Tokens',
  method: 'GET',
  path: '/api/v1/tokens',
  summary: 'Lists the API tokens of the account, revoked ones too; oldest first unless another order is asked for.',
  access: READ,
  query: orderedPageQuery(TOKEN_ORDERS),
  response: orderedPageOf(token),
})

/** `GET /api/v1/tokens/{id}`. */
export const getTokenOperation = endpoint({
  operationId: 'getToken',
  tag: 'Tokens',
  method: 'GET',
  path: '/api/v1/tokens/{id}',
  summary: 'One API token.',
  access: READ,
  params: recordParams,
  response: token,
})

/** `POST /api/v1/tokens/{id}/rotate`. */
export const rotateTokenOperation = endpoint({
  operationId: 'rotateToken',
  tag: 'Tokens',
  method: 'POST',
  path: '/api/v1/tokens/{id}/rotate',
  summary: 'Gives a token a new value; the old one stops within 5 seconds.',
  access: WRITE,
  params: recordParams,
  response: tokenWithValue,
})

/** `DELETE /api/v1/tokens/{id}`. */
export const revokeTokenOperation = endpoint({
  operationId: 'revokeToken',
  tag: 'Tokens',
  method: 'DELETE',
  path: '/api/v1/tokens/{id}',
  summary: 'Revokes a token; it stays in lists.',
  access: WRITE,
  params: recordParams,
  status: 204,
})
