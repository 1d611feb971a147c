/** Operations on the members of an account and on the account in which a session works, with their schemas. */
import { z } from 'zod'
import { pageOf } from '../../../platform/cursor-pages.ts'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { lang, session, tz, workingAccount } from '../../http/account-schema.ts'
import { type AccountsAccess, ANYBODY, linkToken, SESSION, time, userParams } from '../../http/contract-parts.ts'
import { email } from '../../rules/email.ts'
import { newPassword } from '../../rules/password.ts'
import { username } from '../../rules/username.ts'
import { ACCOUNT_ROLES, MEMBER_ROLES } from '../rules/member-role.ts'

const VIEWER: AccountsAccess = { kind: 'member', role: 'viewer' }
const ADMIN: AccountsAccess = { kind: 'member', role: 'admin' }

const role = z.enum(MEMBER_ROLES)

/** A user of an account. */
export const member = z
  .strictObject({
    object: z.literal('member'),
    id: z.string().describe('The id of the user.'),
    username: z.string(),
    email: z.string().nullable(),
    role: z.enum(ACCOUNT_ROLES),
    status: z.enum(['active', 'suspended']),
    added_by: z.string().nullable().describe('Null for the owner.'),
    added_at: time.nullable(),
  })
  .meta({ id: 'Member' })

/** An invitation to an account. */
export const memberInvitation = z
  .strictObject({
    object: z.literal('member_invitation'),
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
  .meta({ id: 'MemberInvitation' })

/** `GET /api/v1/members`. */
export const listMembersOperation = endpoint({
  operationId: 'listMembers',
  tag: 'Members',
  method: 'GET',
  path: '/api/v1/members',
  summary: 'The owner and the members of the account, at most 101.',
  access: VIEWER,
  response: pageOf(member),
})

/** `PATCH /api/v1/members/{id}`. */
export const changeMemberOperation = endpoint({
  operationId: 'updateMember',
  tag: 'Members',
  method: 'PATCH',
  path: '/api/v1/members/{id}',
  summary: 'Changes the role of a member; it holds from the next request. Only the owner makes and changes admins.',
  access: ADMIN,
  example: { body: { role: 'developer' } },
  params: userParams,
  body: z.strictObject({ role }),
  response: member,
})

/** `DELETE /api/v1/members/{id}`. */
export const removeMemberOperation = endpoint({
  operationId: 'removeMember',
  tag: 'Members',
  method: 'DELETE',
  path: '/api/v1/members/{id}',
  summary:
    'Removes a member, who is out with the next request. Tokens and SMTP logins that the member made belong to the account and go on working: the answer has how many there are.',
  access: ADMIN,
  params: userParams,
  response: z
    .strictObject({
      object: z.literal('removed_member'),
      id: z.string(),
      tokens: z.int(),
      smtp_credentials: z.int(),
    })
    .meta({ id: 'RemovedMember' }),
})

/** `GET /api/v1/member-invitations`. */
export const listMemberInvitationsOperation = endpoint({
  operationId: 'listMemberInvitations',
  tag: 'Members',
  method: 'GET',
  path: '/api/v1/member-invitations',
  summary: 'Invitations to the account that nobody has accepted, oldest first; expired ones for 30 days.',
  access: ADMIN,
  response: pageOf(memberInvitation),
})

/** `POST /api/v1/member-invitations`. */
export const createMemberInvitation = endpoint({
  operationId: 'createMemberInvitation',
  tag: 'Members',
  method: 'POST',
  path: '/api/v1/member-invitations',
  summary: 'Invites a person to the account by mail, who accepts within 7 days. Only the owner invites admins.',
  access: ADMIN,
  example: { body: { email: 'bob@example.com', role: 'developer', lang: 'en' } },
  body: z.strictObject({ email, role: role.default('developer'), lang: lang.default('en') }),
  status: 201,
  response: memberInvitation,
})

/** `POST /api/v1/member-invitations/{id}/resend`. */
export const resendMemberInvitation = endpoint({
  operationId: 'resendMemberInvitation',
  tag: 'Members',
  method: 'POST',
  path: '/api/v1/member-invitations/{id}/resend',
  summary: 'Sends the mail again with a new link, which ends the older one.',
  access: ADMIN,
  params: userParams,
  response: memberInvitation,
})

/** `DELETE /api/v1/member-invitations/{id}`. */
export const revokeMemberInvitationOperation = endpoint({
  operationId: 'revokeMemberInvitation',
  tag: 'Members',
  method: 'DELETE',
  path: '/api/v1/member-invitations/{id}',
  summary: 'Revokes an invitation: its link works no more.',
  access: ADMIN,
  params: userParams,
  status: 204,
})

/** `POST /api/v1/session/member-invitation`. */
export const readMemberInvitationOperation = endpoint({
  operationId: 'readMemberInvitation',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/member-invitation',
  summary: 'What the link of an invitation to an account is for; the link stays valid.',
  access: ANYBODY,
  example: { body: { token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo' } },
  body: z.strictObject({ token: linkToken }),
  bodyBytes: 4_096,
  response: z
    .strictObject({
      object: z.literal('member_invitation_offer'),
      email: z.string(),
      account: z.string(),
      role,
      lang,
      invited_by: z.string(),
    })
    .meta({ id: 'MemberInvitationOffer' }),
})

/** `POST /api/v1/session/member-invitation/accept`. */
export const joinAsNewUserOperation = endpoint({
  operationId: 'joinAsNewUser',
  tag: 'Session',
  method: 'POST',
  path: '/api/v1/session/member-invitation/accept',
  summary:
    'Creates a user with the token of the link of an invitation to an account, which is valid once, and logs in to the account.',
  access: ANYBODY,
  example: {
    body: {
      token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo',
      username: 'bob',
      password: 'a long and secret phrase',
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

/** `POST /api/v1/me/accounts`. */
export const joinAccountOperation = endpoint({
  operationId: 'joinAccount',
  tag: 'Account',
  method: 'POST',
  path: '/api/v1/me/accounts',
  summary:
    'Accepts an invitation to an account with the token of its link, which is valid once; the session then works in the account.',
  access: SESSION,
  example: { body: { token: 'Vh3n0Zk8Qy2Lr6Wd1Xc5Bt9Ms4Pf7Jg0Ka3Ue8Yi2Oo' } },
  body: z.strictObject({ token: linkToken }),
  bodyBytes: 4_096,
  response: session,
})

/** `GET /api/v1/me/accounts`. */
export const listMyAccounts = endpoint({
  operationId: 'listMyAccounts',
  tag: 'Account',
  method: 'GET',
  path: '/api/v1/me/accounts',
  summary: 'The accounts in which the user may work: the own one, and then others in the order of joining.',
  access: SESSION,
  response: pageOf(workingAccount),
})

/** `DELETE /api/v1/me/accounts/{id}`. */
export const leaveAccountOperation = endpoint({
  operationId: 'leaveAccount',
  tag: 'Account',
  method: 'DELETE',
  path: '/api/v1/me/accounts/{id}',
  summary: 'Ends the own membership in an account.',
  access: SESSION,
  params: userParams,
  status: 204,
})

/** `PUT /api/v1/session/account`. */
export const switchAccountOperation = endpoint({
  operationId: 'switchAccount',
  tag: 'Session',
  method: 'PUT',
  path: '/api/v1/session/account',
  summary: 'Lets the session work in another account of its user.',
  access: SESSION,
  example: { body: { account_id: 'usr_01kaqj3v9yxd1m5r8n2t6w0bze' } },
  body: z.strictObject({ account_id: z.string().min(1).max(128) }),
  response: session,
})
