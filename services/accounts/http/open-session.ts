/** Opens a session for a user who has proved who they are, and shows it. */
import type { z } from 'zod'
import { factsOf, type WebContext } from '../../platform/http/web-app.ts'
import { toAccount } from '../account-status.ts'
import { endSession, type OpeningOptions, openSession } from '../login-sessions.ts'
import { clientName } from '../rules/client-name.ts'
import type { UserDoc } from '../store/users.ts'
import type { session } from './account-schema.ts'
import { showUser } from './account-view.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { readCookie, writeCookie } from './session-cookie.ts'

type Session = z.input<typeof session>

/** What the panel knows of a session. */
export function createShowSession(deps: AccountsHttpDeps): (user: UserDoc) => Promise<Session> {
  return async user => ({
    object: 'session',
    user: showUser(user),
    delivery_mode: deps.deliveryMode,
    subscription_role: await deps.subscriptionRole(user._id),
    business_time_zone: deps.businessTimeZone,
  })
}

/** Opens a session for the request. */
type OpenFor = (context: WebContext, user: UserDoc, options?: OpeningOptions) => Promise<Session>

/** Ends the session that the browser had, opens a new one with a token of its own, and sets the cookie. */
export function createOpenSession(deps: AccountsHttpDeps): OpenFor {
  const { mongo, secrets, clock, cookie, audit } = deps
  const store = { db: mongo.db, secrets }
  const show = createShowSession(deps)
  return async (context, user, options = {}) => {
    const { method = 'password' } = options
    const before = readCookie(context, cookie)
    if (before !== undefined) await endSession(store, before)
    const client = clientName(context.get('user-agent'))
    writeCookie(context, cookie, await openSession(store, user, factsOf(context).ip, clock.now(), client, options))
    await audit({ account: toAccount(user), via: method === 'password' ? 'session' : method }, context, {
      action: 'session.opened',
      target: { type: 'user', id: user._id, name: user.username },
    })
    return show(user)
  }
}
