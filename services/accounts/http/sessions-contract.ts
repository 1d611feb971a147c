/** Operations on open sessions, with their schemas. */
import { z } from 'zod'
import { pageOf } from '../../platform/cursor-pages.ts'
import { endpoint } from '../../platform/http/endpoint.ts'
import { ADMIN, SESSION, time, userParams } from './contract-parts.ts'

/** An open session of the own account. */
export const openSessionItem = z
  .strictObject({
    object: z.literal('open_session'),
    id: z.string(),
    current: z.boolean().describe('The session of this request.'),
    created_at: time,
    last_used_at: time.describe('With a precision of 15 minutes.'),
    ends_at: time.describe('At the latest; without use it ends after 24 hours.'),
    ip: z.string().describe('The address of the login.'),
    client: z.string().nullable().describe('Browser and system, or the program of the login.'),
    method: z.enum(['password', 'oidc', 'passkey']).describe('How the user logged in.'),
  })
  .meta({ id: 'OpenSession' })

/** `GET /api/v1/me/sessions`. */
export const listMySessions = endpoint({
  operationId: 'listMySessions',
  tag: 'Account',
  method: 'GET',
  path: '/api/v1/me/sessions',
  summary: 'The open sessions of the own account, newest first; at most 50.',
  access: SESSION,
  response: pageOf(openSessionItem),
})

/** `DELETE /api/v1/me/sessions/{id}`. */
export const endMySession = endpoint({
  operationId: 'endMySession',
  tag: 'Account',
  method: 'DELETE',
  path: '/api/v1/me/sessions/{id}',
  summary: 'Ends one session of the own account.',
  access: SESSION,
  params: userParams,
  status: 204,
})

/** `POST /api/v1/me/sessions/end-others`. */
export const endMyOtherSessions = endpoint({
  operationId: 'endMyOtherSessions',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/sessions/end-others',
  summary: 'Ends all sessions of the own account but this one.',
  access: SESSION,
  status: 204,
})

/** `POST /api/v1/admin/users/{id}/end-sessions`. */
export const endUserSessions = endpoint({
  operationId: 'endUserSessions',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users/{id}/end-sessions',
  summary: 'Ends all sessions of an account, also of the Subscription Administration API, within 5 seconds.',
  access: ADMIN,
  params: userParams,
  status: 204,
})
