/** Operations on passkeys, with their schemas. */
import { z } from 'zod'
import { pageOf } from '../../platform/cursor-pages.ts'
import { endpoint } from '../../platform/http/endpoint.ts'
import { typedPassword } from '../rules/password.ts'
import { session } from './account-schema.ts'
import { ANYBODY, SESSION, time } from './contract-parts.ts'

const base64url = (most: number) => z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${most}}$`))
/** At most 1023 bytes (WebAuthn Level 3, section 5.1). */
const credentialId = base64url(1_364)
const challenge = z.string().min(1).max(1_024).describe('Of the answer with the options; counts once.')
const name = z.string().trim().min(1).max(64)
const passkeyParams = z.strictObject({ id: credentialId })

/** A passkey of the own account. */
export const passkey = z
  .strictObject({
    object: z.literal('passkey'),
    id: z.string(),
    name: z.string(),
    synced: z.boolean().describe('Whether its device keeps a copy elsewhere.'),
    created_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Passkey' })

const question = z
  .strictObject({
    object: z.literal('passkey_question'),
    options: z.record(z.string(), z.unknown()).describe('For navigator.credentials, as JSON (WebAuthn Level 3).'),
    challenge: z.string(),
  })
  .meta({ id: 'PasskeyQuestion' })

/** `GET /api/v1/me/passkeys`. */
export const listMyPasskeys = endpoint({
  operationId: 'listMyPasskeys',
  tag: 'Account',
  method: 'GET',
  path: '/api/v1/me/passkeys',
  summary: 'The passkeys of the own account, oldest first; at most 20.',
  access: SESSION,
  response: pageOf(passkey),
})

/** `POST /api/v1/me/passkeys/options`. */
export const startMyPasskey = endpoint({
  operationId: 'startMyPasskey',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/passkeys/options',
  summary: 'Begins to register a passkey: the options for the browser.',
  access: SESSION,
  example: { body: { current_password: 'correct horse battery' } },
  body: z.strictObject({ current_password: typedPassword }),
  bodyBytes: 4_096,
  response: question,
})

/** `POST /api/v1/me/passkeys`. */
export const createMyPasskey = endpoint({
  operationId: 'createMyPasskey',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/passkeys',
  summary: 'Registers the passkey that the browser made.',
  access: SESSION,
  example: {
    body: {
      name: 'My phone',
      challenge: 'the challenge of the options',
      id: 'id-of-the-credential',
      client_data: 'client-data-of-the-browser',
      attestation: 'attestation-of-the-device',
      transports: ['internal'],
    },
  },
  body: z.strictObject({
    name,
    challenge,
    id: credentialId,
    client_data: base64url(8_192),
    attestation: base64url(32_768),
    transports: z
      .array(z.string().regex(/^[a-z-]{1,32}$/))
      .max(10)
      .default([]),
  }),
  status: 201,
  response: passkey,
})

/** `PATCH /api/v1/me/passkeys/{id}`. */
export const renameMyPasskey = endpoint({
  operationId: 'renameMyPasskey',
  tag: 'Account',
  method: 'PATCH',
  path: '/api/v1/me/passkeys/{id}',
  summary: 'Renames a passkey of the own account.',
  access: SESSION,
  example: { body: { name: 'My laptop' } },
  params: passkeyParams,
  body: z.strictObject({ name }),
  response: passkey,
})

/** `DELETE /api/v1/me/passkeys/{id}`. */
export const deleteMyPasskey = endpoint({
  operationId: 'deleteMyPasskey',
  tag: 'Account',
  method: 'DELETE',
  path: '/api/v1/me/passkeys/{id}',
  summary: 'Removes a passkey of the own account; it logs nobody in any more.',
  access: SESSION,
  params: passkeyParams,
  status: 204,
})

/** `POST /api/v1/session/passkey/options`. */
export const beginPasskeyLogin = endpoint({
  operationId: 'beginPasskeyLogin',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/passkey/options',
  summary: 'Begins a login with a passkey: the options for the browser, which fit every account.',
  access: ANYBODY,
  response: question,
})

/** `POST /api/v1/session/passkey`. */
export const completePasskeyLogin = endpoint({
  operationId: 'completePasskeyLogin',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/passkey',
  summary: 'Logs in with the answer of a passkey and sets the session cookie; no second factor is asked for.',
  access: ANYBODY,
  example: {
    body: {
      challenge: 'the challenge of the options',
      id: 'id-of-the-credential',
      client_data: 'client-data-of-the-browser',
      authenticator_data: 'data-of-the-device',
      signature: 'signature-of-the-device',
      user_handle: 'handle-of-the-user',
    },
  },
  body: z.strictObject({
    challenge,
    id: credentialId,
    client_data: base64url(8_192),
    authenticator_data: base64url(8_192),
    signature: base64url(2_048),
    user_handle: base64url(88),
  }),
  bodyBytes: 32_768,
  response: session,
})
