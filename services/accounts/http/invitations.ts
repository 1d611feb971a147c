/** Invitations: what admins do with them, and how a person accepts one. */
import type { z } from 'zod'
import { bind, type createRouter, type WebContext } from '../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../platform/ordered-pages.ts'
import { toAccount } from '../account-status.ts'
import { acceptInvitation, invite, inviteAgain, readInvitation, revokeInvitation } from '../invite.ts'
import { type InvitationDoc, listInvitations } from '../store/invitations.ts'
import { createAnybody } from './anybody.ts'
import type { Caller } from './audit-caller.ts'
import type { AccountsHttpDeps } from './deps.ts'
import {
  acceptInvitationOperation,
  createInvitation,
  INVITATION_ORDERS,
  type invitation,
  listInvitationsOperation,
  readInvitationOperation,
  resendInvitation,
  revokeInvitationOperation,
} from './invitations-contract.ts'
import { createOpenSession } from './open-session.ts'

/** Mounts the operations on invitations. */
export function mountInvitations(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, authorise } = deps
  const open = createOpenSession(deps)
  const anybody = createAnybody(deps)
  const audit = (caller: Caller, context: WebContext, action: string, { _id, email }: InvitationDoc) =>
    deps.audit(caller, context, { action, target: { type: 'invitation', id: _id, name: email } })
  const show = (doc: InvitationDoc) => showInvitation(doc, clock.now())

  bind(router, authorise, createInvitation, async ({ body }, caller, context) => {
    const made = await invite(deps, caller.account, body)
    await audit(caller, context, 'invitation.created', made)
    return show(made)
  })

  bind(router, authorise, listInvitationsOperation, async ({ query }) => {
    const rows = await listInvitations(mongo.db, orderedPage(INVITATION_ORDERS, query))
    return toOrderedPage(INVITATION_ORDERS, query, rows, show)
  })

  bind(router, authorise, resendInvitation, async ({ params }, caller, context) => {
    const sent = await inviteAgain(deps, caller.account, params.id)
    await audit(caller, context, 'invitation.resent', sent)
    return show(sent)
  })

  bind(router, authorise, revokeInvitationOperation, async ({ params }, caller, context) => {
    await audit(caller, context, 'invitation.revoked', await revokeInvitation(deps, params.id))
  })

  bind(router, anybody, readInvitationOperation, async ({ body }) => {
    const { email, role, lang, invited_by: by } = await readInvitation(deps, body.token)
    return { object: 'invitation_offer' as const, email, role, lang, invited_by: by.name }
  })

  bind(router, anybody, acceptInvitationOperation, async ({ body }, _, context) => {
    const lang = body.lang ?? (await readInvitation(deps, body.token)).lang
    const user = await acceptInvitation(deps, { ...body, lang })
    const target = { type: 'user', id: user._id, name: user.username }
    await deps.audit({ account: toAccount(user), via: 'link' }, context, { action: 'invitation.accepted', target })
    return open(context, user)
  })
}

function showInvitation(doc: InvitationDoc, now: Date): z.input<typeof invitation> {
  return {
    object: 'invitation',
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
