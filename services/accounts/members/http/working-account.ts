/** The accounts of a user: joined by an invitation, chosen for the session, left. */
import { toPage } from '../../../platform/cursor-pages.ts'
import { bind, type createRouter, type WebContext } from '../../../platform/http/web-app.ts'
import { toAccount } from '../../account-status.ts'
import { createAnybody } from '../../http/anybody.ts'
import type { Caller } from '../../http/audit-caller.ts'
import type { AccountsHttpDeps } from '../../http/deps.ts'
import { createOpenSession, createShowSession } from '../../http/open-session.ts'
import { getUser } from '../../manage-accounts.ts'
import { joinAccount, joinAsNewUser, readMemberInvitation } from '../invite-member.ts'
import { leaveAccount } from '../manage-members.ts'
import { MAX_MEMBERS } from '../store/memberships.ts'
import { accountsOf, switchAccount } from '../working-account.ts'
import {
  joinAccountOperation,
  joinAsNewUserOperation,
  leaveAccountOperation,
  listMyAccounts,
  readMemberInvitationOperation,
  switchAccountOperation,
} from './members-contract.ts'

/** Mounts the operations of users on the accounts in which they work. */
export function mountWorkingAccount(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, authorise } = deps
  const anybody = createAnybody(deps)
  const open = createOpenSession(deps)
  const show = createShowSession(deps)
  const audit = (caller: Caller, context: WebContext, action: string, accountId: string) => {
    const { id, username } = caller.account
    return deps.audit(caller, context, { action, target: { type: 'member', id, name: username }, userId: accountId })
  }
  /** The session shows the account from now on; only a session calls these operations, so it has an id. */
  const choose = async ({ account, sessionId = '' }: Caller, accountId: string) => {
    await switchAccount(mongo.db, sessionId, account.id, accountId)
    return show(await getUser(deps, account.id), accountId)
  }

  bind(router, anybody, readMemberInvitationOperation, async ({ body }) => {
    const { invitation, accountName: account } = await readMemberInvitation(deps, body.token)
    const { email, role, lang, invited_by: by } = invitation
    return { object: 'member_invitation_offer' as const, email, account, role, lang, invited_by: by.name }
  })

  bind(router, anybody, joinAsNewUserOperation, async ({ body }, _, context) => {
    const { user, invitation } = await joinAsNewUser(deps, body)
    await audit({ account: toAccount(user), via: 'link' }, context, 'member.joined', invitation.account_id)
    return open(context, user, { accountId: invitation.account_id })
  })

  bind(router, authorise, joinAccountOperation, async ({ body }, caller, context) => {
    const { account_id: accountId } = await joinAccount(deps, body.token, caller.account.id)
    await audit(caller, context, 'member.joined', accountId)
    return choose(caller, accountId)
  })

  bind(router, authorise, listMyAccounts, async (_, { account }) =>
    toPage(await accountsOf(mongo.db, account), MAX_MEMBERS + 1, one => one),
  )

  bind(router, authorise, switchAccountOperation, ({ body }, caller) => choose(caller, body.account_id))

  bind(router, authorise, leaveAccountOperation, async ({ params }, caller, context) => {
    await leaveAccount(deps, { accountId: params.id, userId: caller.account.id })
    await audit(caller, context, 'member.left', params.id)
  })
}
