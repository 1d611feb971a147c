/** Opens a session for a user who has proved who they are, and shows it. */
import type { z } from 'zod'
import type { Db } from '../../platform/database/mongo.ts'
import { factsOf, type WebContext } from '../../platform/http/web-app.ts'
import { toAccount } from '../account-status.ts'
import { endSession, openSession, type SessionChoice } from '../login-sessions.ts'
import { accountsOf } from '../members/working-account.ts'
import { clientName } from '../rules/client-name.ts'
import type { UserDoc } from '../store/users.ts'
import type { session } from './account-schema.ts'
import { showUser } from './account-view.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { readCookie, writeCookie } from './session-cookie.ts'

type Session = z.input<typeof session>

/** What the panel knows of a session. */
export function createShowSession(deps: AccountsHttpDeps): (user: UserDoc, accountId?: string) => Promise<Session> {
  return async (user, accountId) => ({
    object: 'session',
    user: showUser(user),
    ...(await accountsOfSession(deps.mongo.db, user, accountId)),
    delivery_mode: deps.deliveryMode,
    subscription_role: await deps.subscriptionRole(user._id),
    business_time_zone: deps.businessTimeZone,
  })
}

/** A session whose account was left, removed or suspended is shown with the own one, see `GET /api/v1/session`. */
async function accountsOfSession(db: Db, { _id: id, username }: UserDoc, accountId = id) {
  const accounts = await accountsOf(db, { id, username })
  const own = { id, name: username, role: 'owner' as const, suspended: false }
  return { account: accounts.find(one => one.id === accountId && !one.suspended) ?? own, accounts }
}

/** Opens a session for the request. */
export type OpenFor = (context: WebContext, user: UserDoc, choice?: Omit<SessionChoice, 'client'>) => Promise<Session>

/**
 * Ends the session that the browser had, opens a new one with a token of its own, and sets the cookie. It works in the
 * user's own account unless another one is given.
 */
export function createOpenSession(deps: AccountsHttpDeps): OpenFor {
  const { mongo, secrets, clock, cookie, audit } = deps
  const store = { db: mongo.db, secrets }
  const show = createShowSession(deps)
  return async (context, user, choice = {}) => {
    const { method = 'password', accountId } = choice
    const before = readCookie(context, cookie)
    if (before !== undefined) await endSession(store, before)
    const client = clientName(context.get('user-agent'))
    const token = await openSession(store, user, factsOf(context).ip, clock.now(), { client, method, accountId })
    writeCookie(context, cookie, token)
    await audit({ account: toAccount(user), via: method === 'password' ? 'session' : method }, context, {
      action: 'session.opened',
      target: { type: 'user', id: user._id, name: user.username },
    })
    return show(user, accountId)
  }
}
