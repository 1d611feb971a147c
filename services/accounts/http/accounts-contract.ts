/** Operations on sessions, accounts and the audit log, with their schemas. */

import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { searchField } from '../../platform/http/search-field.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../platform/ordered-pages.ts'
import { newPassword, typedPassword } from '../rules/password.ts'
import { username } from '../rules/username.ts'
import { lang, session, tz, user } from './account-schema.ts'
import { ADMIN, ANYBODY, AUDIT, SESSION, time, userParams } from './contract-parts.ts'

export * from '../members/http/members-contract.ts'
export * from './invitations-contract.ts'
export * from './oidc-contract.ts'
export * from './passkeys-contract.ts'
export * from './recovery-contract.ts'
export * from './second-factor-contract.ts'
export * from './sessions-contract.ts'

/** To how many recipients an account may send in a day; 0 = no limit. */
const recipientsPerDay = z.number().int().min(0).max(1_000_000_000)

/** An account with the password that was made for it; shown this once. */
export const userWithPassword = user.extend({ password: z.string().optional() }).meta({ id: 'UserWithPassword' })

/** An account with its recipients today; without a limit nothing is counted. */
export const userWithUse = user.extend({ recipients_today: z.number().int() }).meta({ id: 'UserWithUse' })

/** An entry of the audit log. */
export const auditEntry = z
  .strictObject({
    object: z.literal('audit_entry'),
    id: z.string(),
    at: time,
    user_id: z.string(),
    action: z.string(),
    target: z.strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() }),
    actor: z.strictObject({
      user_id: z.string().nullable(),
      name: z.string(),
      via: z.enum(['session', 'token', 'legacy', 'command', 'operator', 'link', 'oidc', 'passkey']),
      token_id: z.string().nullable(),
      ip: z.string().nullable(),
    }),
  })
  .meta({ id: 'AuditEntry' })

/** `POST /api/v1/session`. */
export const logInOperation = endpoint({
  operationId: 'logIn',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session',
  summary:
    'Logs in and sets the session cookie; too many failures answer 429 with Retry-After. With a second factor the answer is 401 second_factor_required with the member `challenge`, for completeLogIn.',
  access: ANYBODY,
  example: { body: { username: 'ann', password: 'correct horse battery' } },
  body: z.strictObject({ username: z.string().min(1).max(256), password: typedPassword }),
  bodyBytes: 4_096,
  response: session,
})

/** `GET /api/v1/session`. */
export const getSession = endpoint({
  operationId: 'getSession',
  tag: 'Session',
  method: 'GET',
  path: '/api/v1/session',
  summary: 'Returns the account that is logged in.',
  access: SESSION,
  response: session,
})

/** `DELETE /api/v1/session`. */
export const logOutOperation = endpoint({
  operationId: 'logOut',
  tag: 'Session',
  method: 'DELETE',
  path: '/api/v1/session',
  summary: 'Logs out.',
  access: SESSION,
  status: 204,
})

/** `GET /api/v1/me`. */
export const getMe = endpoint({
  operationId: 'getMe',
  tag: 'Account',
  method: 'GET',
  path: '/api/v1/me',
  summary: 'The own account.',
  access: SESSION,
  response: user,
})

/** `PATCH /api/v1/me`. */
export const patchMe = endpoint({
  operationId: 'updateMe',
  tag: 'Account',
  method: 'PATCH',
  path: '/api/v1/me',
  summary: 'Changes language and time zone of the own account.',
  access: SESSION,
  example: { body: { lang: 'zh', tz: 'Asia/Shanghai' } },
  body: z.strictObject({ lang: lang.optional(), tz: tz.optional() }),
  response: user,
})

/** `PUT /api/v1/me/password`. */
export const putMyPassword = endpoint({
  operationId: 'changeMyPassword',
  tag: 'Account',
  method: 'PUT',
  path: '/api/v1/me/password',
  summary: 'Changes the own password and ends all other sessions.',
  access: SESSION,
  example: { body: { current_password: 'correct horse battery', new_password: 'correct horse battery staple' } },
  body: z.strictObject({ current_password: typedPassword, new_password: newPassword }),
  bodyBytes: 4_096,
  status: 204,
})

/** By time or by name; e-mail addresses are optional, so that their index is partial. */
export const USER_ORDERS = listOrders('asc', { created_at: ['_id'], username: ['username'] })

/** `GET /api/v1/admin/users`. */
export const listUsersOperation = endpoint({
  operationId: 'listUsers',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/admin/users',
  summary: 'Lists accounts, oldest first unless another order is asked for.',
  access: ADMIN,
  query: orderedPageQuery(USER_ORDERS, {
    search: searchField.optional().describe('Part of the user name or of the confirmed e-mail address.'),
  }),
  response: orderedPageOf(userWithUse),
})

/** `POST /api/v1/admin/users`. */
export const createUserOperation = endpoint({
  operationId: 'createUser',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users',
  summary: 'Creates an account; without a password one is made and shown once.',
  access: ADMIN,
  example: {
    body: { username: 'bob', password: 'correct horse battery staple', role: 'user', lang: 'en', tz: 'Europe/Berlin' },
  },
  body: z.strictObject({
    username,
    password: newPassword.optional(),
    role: z.enum(['admin', 'user']).default('user'),
    lang: lang.default('en'),
    tz: tz.default('UTC'),
    recipients_per_day: recipientsPerDay.default(0),
  }),
  status: 201,
  response: userWithPassword,
})

/** `GET /api/v1/admin/users/{id}`. */
export const getUserOperation = endpoint({
  operationId: 'getUser',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/admin/users/{id}',
  summary: 'One account.',
  access: ADMIN,
  params: userParams,
  response: userWithUse,
})

/** `PATCH /api/v1/admin/users/{id}`. */
export const changeUserOperation = endpoint({
  operationId: 'updateUser',
  tag: 'Users',
  method: 'PATCH',
  path: '/api/v1/admin/users/{id}',
  summary: 'Changes the daily limit of recipients of an account; it holds in every process within 5 seconds.',
  access: ADMIN,
  example: { body: { recipients_per_day: 5000 } },
  params: userParams,
  body: z.strictObject({ recipients_per_day: recipientsPerDay }),
  response: userWithUse,
})

/** `POST /api/v1/admin/users/{id}/suspend`. */
export const suspendUserOperation = endpoint({
  operationId: 'suspendUser',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users/{id}/suspend',
  summary: 'Suspends an account: sessions, tokens, SMTP logins and its queue stop within 5 seconds.',
  access: ADMIN,
  params: userParams,
  response: user,
})

/** `POST /api/v1/admin/users/{id}/unsuspend`. */
export const unsuspendUserOperation = endpoint({
  operationId: 'unsuspendUser',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users/{id}/unsuspend',
  summary: 'Makes a suspended account active again.',
  access: ADMIN,
  params: userParams,
  response: user,
})

/** `POST /api/v1/admin/users/{id}/reset-password`. */
export const resetPasswordOperation = endpoint({
  operationId: 'resetUserPassword',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users/{id}/reset-password',
  summary: 'Sets a new password and ends all sessions; without one given it is made and shown once.',
  access: ADMIN,
  example: { body: { password: 'correct horse battery staple' } },
  params: userParams,
  body: z.strictObject({ password: newPassword.optional() }),
  response: userWithPassword,
})

export const AUDIT_ORDERS = listOrders('desc', { at: ['_id'] })

/** `GET /api/v1/audit-logs`. */
export const listAuditLogs = endpoint({
  operationId: 'listAuditLogs',
  tag: 'Audit log',
  method: 'GET',
  path: '/api/v1/audit-logs',
  summary:
    'Lists who changed what, newest first unless another order is asked for; an admin sees all accounts, or one with user_id.',
  access: AUDIT,
  query: orderedPageQuery(AUDIT_ORDERS, { user_id: z.string().min(1).max(128).optional() }),
  response: orderedPageOf(auditEntry),
})
