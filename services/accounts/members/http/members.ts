/** What owner and admins do with the members of an account. */
import type { z } from 'zod'
import { toPage } from '../../../platform/cursor-pages.ts'
import { bind, type createRouter, type WebContext } from '../../../platform/http/web-app.ts'
import { type Caller, personOf } from '../../http/audit-caller.ts'
import type { AccountsHttpDeps } from '../../http/deps.ts'
import type { UserDoc } from '../../store/users.ts'
import { type Inviting, inviteMember, inviteMemberAgain, revokeMemberInvitation } from '../invite-member.ts'
import { type Acting, changeRole, listMembers, type Member, removeMember } from '../manage-members.ts'
import { listMemberInvitations, type MemberInvitationDoc } from '../store/member-invitations.ts'
import { MAX_MEMBERS } from '../store/memberships.ts'
import {
  changeMemberOperation,
  createMemberInvitation,
  listMemberInvitationsOperation,
  listMembersOperation,
  type member,
  type memberInvitation,
  removeMemberOperation,
  resendMemberInvitation,
  revokeMemberInvitationOperation,
} from './members-contract.ts'

/** The members and the owner. */
const MOST = MAX_MEMBERS + 1

/** Mounts the operations on members and on invitations to an account. */
export function mountMembers(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, authorise, invitationRate } = deps
  const audit = (caller: Caller, context: WebContext, action: string, { _id, username }: UserDoc) =>
    deps.audit(caller, context, { action, target: { type: 'member', id: _id, name: username } })
  const auditInvitation = (caller: Caller, context: WebContext, action: string, { _id, email }: MemberInvitationDoc) =>
    deps.audit(caller, context, { action, target: { type: 'member_invitation', id: _id, name: email } })
  const show = (doc: MemberInvitationDoc) => showInvitation(doc, clock.now())

  bind(router, authorise, listMembersOperation, async (_, { account }) =>
    toPage(await listMembers(deps, account.id), MOST, showMember),
  )

  bind(router, authorise, changeMemberOperation, async ({ params, body }, caller, context) => {
    const changed = await changeRole(deps, actingOf(caller), params.id, body.role)
    await audit(caller, context, 'member.changed', changed.user)
    return showMember(changed)
  })

  bind(router, authorise, removeMemberOperation, async ({ params }, caller, context) => {
    const user = await removeMember(deps, actingOf(caller), params.id)
    await audit(caller, context, 'member.removed', user)
    const left = await deps.credentialsMadeBy(caller.account.id, user._id)
    return { object: 'removed_member' as const, id: user._id, ...left }
  })

  bind(router, authorise, listMemberInvitationsOperation, async (_, { account }) =>
    toPage(await listMemberInvitations(mongo.db, account.id, MAX_MEMBERS), MAX_MEMBERS, show),
  )

  bind(router, authorise, createMemberInvitation, async ({ body }, caller, context) => {
    await invitationRate(personOf(caller).id)
    const made = await inviteMember(deps, invitingOf(caller), body)
    await auditInvitation(caller, context, 'member_invitation.created', made)
    return show(made)
  })

  bind(router, authorise, resendMemberInvitation, async ({ params }, caller, context) => {
    await invitationRate(personOf(caller).id)
    const sent = await inviteMemberAgain(deps, invitingOf(caller), params.id)
    await auditInvitation(caller, context, 'member_invitation.resent', sent)
    return show(sent)
  })

  bind(router, authorise, revokeMemberInvitationOperation, async ({ params }, caller, context) => {
    const revoked = await revokeMemberInvitation(deps, invitingOf(caller), params.id)
    await auditInvitation(caller, context, 'member_invitation.revoked', revoked)
  })
}

function actingOf(caller: Caller): Acting {
  return { accountId: caller.account.id, userId: personOf(caller).id }
}

function invitingOf(caller: Caller): Inviting {
  return { accountId: caller.account.id, by: personOf(caller) }
}

function showMember({ user, role, membership }: Member): z.input<typeof member> {
  return {
    object: 'member',
    id: user._id,
    username: user.username,
    email: user.email ?? null,
    role,
    status: user.status,
    added_by: membership?.added_by.name ?? null,
    added_at: membership?.added_at.toISOString() ?? null,
  }
}

function showInvitation(doc: MemberInvitationDoc, now: Date): z.input<typeof memberInvitation> {
  return {
    object: 'member_invitation',
    id: doc._id,
    email: doc.email,
    role: doc.role,
    lang: doc.lang,
    status: doc.expires_at <= now ? 'expired' : doc.token === undefined ? 'waiting' : 'sent',
    invited_by: doc.invited_by.name,
    sent_at: doc.sent_at?.toISOString() ?? null,
    created_at: doc.created_at.toISOString(),
    expires_at: doc.expires_at.toISOString(),
  }
}
