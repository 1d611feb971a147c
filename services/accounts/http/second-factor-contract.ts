/** Operations on the second factor, with their schemas. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { typedPassword } from '../rules/password.ts'
import { session } from './account-schema.ts'
import { ADMIN, ANYBODY, SESSION, time, userParams } from './contract-parts.ts'

const code = z.string().min(6).max(32).describe('Of the authenticator app, or a recovery code.')
const proof = { current_password: typedPassword }

/** `POST /api/v1/session/second-factor`. */
export const completeLogIn = endpoint({
  operationId: 'completeLogIn',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/second-factor',
  summary: 'Second step of a login that answered second_factor_required: the challenge of that answer, and a code.',
  access: ANYBODY,
  example: { body: { challenge: 'the challenge of the first step', code: '123456' } },
  body: z.strictObject({ challenge: z.string().min(1).max(1024), code }),
  bodyBytes: 4_096,
  response: session,
})

/** `GET /api/v1/me/second-factor`. */
export const getMySecondFactor = endpoint({
  operationId: 'getMySecondFactor',
  tag: 'Account',
  method: 'GET',
  path: '/api/v1/me/second-factor',
  summary: 'Whether logins to the own account need a second factor.',
  access: SESSION,
  response: z
    .strictObject({
      object: z.literal('second_factor'),
      enabled: z.boolean(),
      enabled_at: time.nullable(),
      recovery_codes_left: z.number().int(),
    })
    .meta({ id: 'SecondFactor' }),
})

/** `POST /api/v1/me/second-factor`. */
export const startMySecondFactor = endpoint({
  operationId: 'startMySecondFactor',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/second-factor',
  summary: 'Makes a secret for an authenticator app; the factor is on once a code of it was confirmed.',
  access: SESSION,
  example: { body: { current_password: 'correct horse battery' } },
  body: z.strictObject(proof),
  bodyBytes: 4_096,
  response: z
    .strictObject({ object: z.literal('second_factor_secret'), secret: z.string(), uri: z.string() })
    .meta({ id: 'SecondFactorSecret' }),
})

/** `POST /api/v1/me/second-factor/confirm`. */
export const confirmMySecondFactor = endpoint({
  operationId: 'confirmMySecondFactor',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/second-factor/confirm',
  summary: 'Turns the factor on, ends the other sessions, and shows the recovery codes this once.',
  access: SESSION,
  example: { body: { code: '123456' } },
  body: z.strictObject({ code }),
  response: z
    .strictObject({ object: z.literal('recovery_codes'), codes: z.array(z.string()) })
    .meta({ id: 'RecoveryCodes' }),
})

/** `POST /api/v1/me/second-factor/disable`. */
export const disableMySecondFactor = endpoint({
  operationId: 'disableMySecondFactor',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/second-factor/disable',
  summary: 'Turns the factor off; needs the password and a code.',
  access: SESSION,
  example: { body: { current_password: 'correct horse battery', code: '123456' } },
  body: z.strictObject({ ...proof, code }),
  bodyBytes: 4_096,
  status: 204,
})

/** `POST /api/v1/admin/users/{id}/remove-second-factor`. */
export const removeUserSecondFactor = endpoint({
  operationId: 'removeUserSecondFactor',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/users/{id}/remove-second-factor',
  summary: 'Removes the second factor of a user who has lost app and recovery codes.',
  access: ADMIN,
  params: userParams,
  status: 204,
})
