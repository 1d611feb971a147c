/** Operations on the e-mail address of a user, and a new password by mail. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { email } from '../rules/email.ts'
import { newPassword, typedPassword } from '../rules/password.ts'
import { user } from './account-schema.ts'
import { ANYBODY, linkToken, SESSION } from './contract-parts.ts'

/** `POST /api/v1/session/password-reset`. */
export const requestPasswordResetOperation = endpoint({
  operationId: 'requestPasswordReset',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/password-reset',
  summary:
    'Sends a link for a new password to the confirmed address of the account, if there is one; the answer is always the same.',
  access: ANYBODY,
  example: { body: { username: 'ann' } },
  body: z.strictObject({ username: z.string().min(1).max(256).describe('User name or confirmed e-mail address.') }),
  bodyBytes: 4_096,
  status: 204,
})

/** `POST /api/v1/session/password-reset/complete`. */
export const completePasswordResetOperation = endpoint({
  operationId: 'completePasswordReset',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/password-reset/complete',
  summary: 'Sets a new password with the token of a link, which is valid once and for an hour, and ends all sessions.',
  access: ANYBODY,
  example: {
    body: { token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo', new_password: 'correct horse battery staple' },
  },
  body: z.strictObject({ token: linkToken, new_password: newPassword }),
  bodyBytes: 4_096,
  status: 204,
})

/** `PUT /api/v1/me/email`. */
export const putMyEmail = endpoint({
  operationId: 'changeMyEmail',
  tag: 'Account',
  method: 'PUT',
  path: '/api/v1/me/email',
  summary: 'Sends a link to a new address, which holds once the link was opened; null removes the address at once.',
  access: SESSION,
  example: { body: { email: 'ann@example.com', current_password: 'correct horse battery' } },
  body: z.strictObject({ email: email.nullable(), current_password: typedPassword }),
  bodyBytes: 4_096,
  response: user,
})

/** `POST /api/v1/session/email-confirmation`. */
export const confirmEmailOperation = endpoint({
  operationId: 'confirmEmail',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/email-confirmation',
  summary: 'Confirms an e-mail address with the token of a link, which is valid once and for 24 hours.',
  access: ANYBODY,
  example: { body: { token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo' } },
  body: z.strictObject({ token: linkToken }),
  bodyBytes: 4_096,
  status: 204,
})
