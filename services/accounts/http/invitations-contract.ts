/** Operations on invitations, with their schemas. */
import { z } from 'zod'
import { endpoint } from '../../platform/http/endpoint.ts'
import { listOrders, orderedPageOf, orderedPageQuery } from '../../platform/ordered-pages.ts'
import { email } from '../rules/email.ts'
import { newPassword } from '../rules/password.ts'
import { username } from '../rules/username.ts'
import { lang, session, tz } from './account-schema.ts'
import { ADMIN, ANYBODY, linkToken, time, userParams } from './contract-parts.ts'

const role = z.enum(['admin', 'user'])

/** An invitation as admins see it. */
export const invitation = z
  .strictObject({
    object: z.literal('invitation'),
    id: z.string(),
    email: z.string(),
    role,
    lang,
    status: z.enum(['waiting', 'sent', 'expired']),
    invited_by: z.string(),
    sent_at: time.nullable(),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'Invitation' })

/** `POST /api/v1/admin/invitations`. */
export const createInvitation = endpoint({
  operationId: 'createInvitation',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/invitations',
  summary: 'Invites a person by mail, who chooses user name and password within 7 days.',
  access: ADMIN,
  example: { body: { email: 'bob@example.com', role: 'user', lang: 'en' } },
  body: z.strictObject({ email, role: role.default('user'), lang: lang.default('en') }),
  status: 201,
  response: invitation,
})

export const INVITATION_ORDERS = listOrders('asc', { created_at: ['_id'], email: ['email'] })

/** `GET /api/v1/admin/invitations`. */
export const listInvitationsOperation = endpoint({
  operationId: 'listInvitations',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/admin/invitations',
  summary:
    'Invitations that nobody has accepted, oldest first unless another order is asked for; expired ones for 30 days.',
  access: ADMIN,
  query: orderedPageQuery(INVITATION_ORDERS),
  response: orderedPageOf(invitation),
})

/** `POST /api/v1/admin/invitations/{id}/resend`. */
export const resendInvitation = endpoint({
  operationId: 'resendInvitation',
  tag: 'Users',
  method: 'POST',
  path: '/api/v1/admin/invitations/{id}/resend',
  summary: 'Sends the mail again with a new link, which ends the older one.',
  access: ADMIN,
  params: userParams,
  response: invitation,
})

/** `DELETE /api/v1/admin/invitations/{id}`. */
export const revokeInvitationOperation = endpoint({
  operationId: 'revokeInvitation',
  tag: 'Users',
  method: 'DELETE',
  path: '/api/v1/admin/invitations/{id}',
  summary: 'Revokes an invitation: its link works no more.',
  access: ADMIN,
  params: userParams,
  status: 204,
})

/** `POST /api/v1/session/invitation`. */
export const readInvitationOperation = endpoint({
  operationId: 'readInvitation',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/invitation',
  summary: 'What the link of an invitation is for; the link stays valid.',
  access: ANYBODY,
  example: { body: { token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo' } },
  body: z.strictObject({ token: linkToken }),
  bodyBytes: 4_096,
  response: z
    .strictObject({ object: z.literal('invitation_offer'), email: z.string(), role, lang, invited_by: z.string() })
    .meta({ id: 'InvitationOffer' }),
})

/** `POST /api/v1/session/invitation/accept`. */
export const acceptInvitationOperation = endpoint({
  operationId: 'acceptInvitation',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/invitation/accept',
  summary: 'Creates the account of an invitation with the token of its link, which is valid once, and logs in.',
  access: ANYBODY,
  example: {
    body: {
      token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo',
      username: 'bob',
      password: 'correct horse battery staple',
      lang: 'en',
      tz: 'Europe/Berlin',
    },
  },
  body: z.strictObject({
    token: linkToken,
    username,
    password: newPassword,
    lang: lang.optional(),
    tz: tz.default('UTC'),
  }),
  bodyBytes: 4_096,
  status: 201,
  response: session,
})
