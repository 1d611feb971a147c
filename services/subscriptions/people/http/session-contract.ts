/** Operations on the session of an administrator. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { type Access, VIEW_ANY } from '../../http/shared/access.ts'
import { empty } from '../../http/shared/wire-values.ts'
import { flag, text } from '../../rules/field-schemas.ts'
import { adminRecord } from './admin-schemas.ts'

const OPEN: Access = { kind: 'open' }
/** Logs in. */
export const logInOperation = endpoint({
  operationId: 'logIn',
  tag: 'Session',
  method: 'POST',
  path: '/token',
  summary:
    'Logs in and gives the token for the header `token`. An account with a second factor needs a `code` as well.',
  access: OPEN,
  example: { body: { username: 'ann', password: 'correct horse battery' } },
  body: z.object({ username: text(1, 64), password: z.string().min(1).max(128), code: text(0, 32).optional() }),
  bodyBytes: 4_096,
  response: z.object({ admin: adminRecord, token: z.string(), expires_at: z.string() }),
})
/** The administrator of the token. */
export const loginStatus = endpoint({
  operationId: 'getLoginStatus',
  tag: 'Session',
  method: 'GET',
  path: '/token',
  summary: 'The administrator of the presented token.',
  access: VIEW_ANY,
  response: z.object({ admin: adminRecord, token: z.string() }),
})
/** Logs out. */
export const logOutOperation = endpoint({
  operationId: 'logOut',
  tag: 'Session',
  method: 'DELETE',
  path: '/token',
  summary: 'Ends the session; with all=1 every session of the administrator.',
  access: VIEW_ANY,
  query: z.object({ all: flag.optional() }),
  response: empty,
})
/** Changes the own password. */
export const changePasswordOperation = endpoint({
  operationId: 'changePassword',
  tag: 'Session',
  method: 'PUT',
  path: '/admin/password',
  summary: 'Changes the own password and ends all sessions.',
  access: VIEW_ANY,
  example: { body: { current: 'correct horse battery', password: 'correct horse battery staple' } },
  body: z.object({ current: z.string().min(1).max(128), password: z.string().min(12).max(128) }),
  bodyBytes: 4_096,
  response: empty,
})
