/** Login, logout, and the current session. */
import type { z } from 'zod'
import { type Authorise, bind, type createRouter, factsOf } from '../../platform/http/web-app.ts'
import { toAccount } from '../account-status.ts'
import { endSession, openSession } from '../login-sessions.ts'
import { checkLogin, getUser } from '../manage-accounts.ts'
import type { UserDoc } from '../store/users.ts'
import { showUser } from './account-view.ts'
import { getSession, logInOperation, logOutOperation, type session } from './accounts-contract.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { readCookie, writeCookie } from './session-cookie.ts'

/** Mounts the session operations. */
export function mountSession(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, secrets, cookie, authorise, audit, deliveryMode, subscriptionRole, businessTimeZone } = deps
  const store = { db: mongo.db, secrets }
  const anybody: Authorise<{ kind: 'public' }, undefined> = async context => {
    await deps.loginRate(context)
    return undefined
  }
  const show = async (user: UserDoc): Promise<z.input<typeof session>> => ({
    object: 'session',
    user: showUser(user),
    delivery_mode: deliveryMode,
    subscription_role: await subscriptionRole(user._id),
    business_time_zone: businessTimeZone,
  })

  bind(router, anybody, logInOperation, async ({ body }, _, context) => {
    const { ip } = factsOf(context)
    const user = await checkLogin(deps, { ...body, ip })
    const before = readCookie(context, cookie)
    if (before !== undefined) await endSession(store, before)
    writeCookie(context, cookie, await openSession(store, user, ip, clock.now()))
    await audit({ account: toAccount(user), via: 'session' }, context, {
      action: 'session.opened',
      target: { type: 'user', id: user._id, name: user.username },
    })
    return show(user)
  })

  bind(router, authorise, getSession, async (_, { account }) => show(await getUser(deps, account.id)))

  bind(router, authorise, logOutOperation, async (_, __, context) => {
    const token = readCookie(context, cookie)
    if (token !== undefined) await endSession(store, token)
    writeCookie(context, cookie, undefined)
  })
}
