/** Operations of logins with a provider (OpenID Connect), with their schemas. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { lang, session, tz } from './account-schema.ts'
import { ANYBODY } from './contract-parts.ts'

/** `GET /api/v1/session/methods`. */
export const getLoginMethods = endpoint({
  operationId: 'getLoginMethods',
  tag: 'Session',
  method: 'GET',
  path: '/api/v1/session/methods',
  summary: 'The ways to log in to this installation.',
  access: ANYBODY,
  response: z
    .strictObject({
      object: z.literal('login_methods'),
      password: z.boolean(),
      oidc: z
        .strictObject({ name: z.string() })
        .nullable()
        .describe('The login provider, for beginOidcLogin; null without one.'),
      passkey: z.boolean().describe('Whether passkeys are possible here: they need a host name and https.'),
    })
    .meta({ id: 'LoginMethods' }),
})

/** `POST /api/v1/session/oidc`. */
export const beginOidcLogin = endpoint({
  operationId: 'beginOidcLogin',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/oidc',
  summary:
    'Begins a login at the provider: sets a cookie and returns the address to open in the browser, which comes back to /oidc-callback within 10 minutes.',
  access: ANYBODY,
  response: z.strictObject({ object: z.literal('oidc_login'), url: z.string() }).meta({ id: 'OidcLogin' }),
})

/** `POST /api/v1/session/oidc/complete`. */
export const completeOidcLogin = endpoint({
  operationId: 'completeOidcLogin',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/oidc/complete',
  summary:
    'Completes a login with the query of the address that the provider sent the browser to; sets the session cookie. With a second factor the answer is 401 second_factor_required, as that of logIn.',
  access: ANYBODY,
  example: { body: { query: 'code=the-code-of-the-provider&state=the-state-of-the-login' } },
  body: z.strictObject({
    query: z.string().min(1).max(8_192),
    lang: lang.optional().describe('Language of an account that is created.'),
    tz: tz.optional().describe('Time zone of an account that is created.'),
  }),
  bodyBytes: 32_768,
  response: session,
})
