/** Login, login status, logout, and administrators. */
import type Router from '@koa/router'
import { createLoginLimiter } from '../../../accounts/login-limiter.ts'
import { changePassword } from '../../../accounts/manage-accounts.ts'
import { CODE_LIMITS } from '../../../accounts/second-factor.ts'
import { bindAdmin, bindOpen, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { pagination } from '../../rules/paging.ts'
import { viewAdmin } from '../../rules/record-views.ts'
import { createAdmin, endSessions, logIn, logOut, updateAdmin } from '../manage-admins.ts'
import { listAdmins } from '../store/admins.ts'
import { createAdminOperation, listAdminsOperation, updateAdminOperation } from './admins-contract.ts'
import { changePasswordOperation, logInOperation, loginStatus, logOutOperation } from './session-contract.ts'

/** Failures allowed in 15 minutes: per name and address, per address, per name. */
const LOGIN_LIMITS = { pair: 5, address: 20, account: 100, known: 100 }

/** Mounts login and logout by token. */
export function mountLogin(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const limiter = createLoginLimiter(
    { db: subscriptions.mongo.db, metrics: subscriptions.metrics, channel: 'admin' },
    LOGIN_LIMITS,
  )
  const { mongo, metrics } = subscriptions
  const codes = createLoginLimiter({ db: mongo.db, metrics, channel: 'second-factor' }, CODE_LIMITS)
  bindOpen(router, deps, logInOperation, async ({ body }, { actor }) => {
    const { admin, token, expiresAt } = await logIn(subscriptions, limiter, { ...body, codes, ip: actor.ip })
    return { admin: viewAdmin(admin, subscriptions.zone), token, expires_at: subscriptions.zone.format(expiresAt) }
  })
  bindAdmin(router, deps, logOutOperation, async ({ query }, { token, admin }) => {
    await logOut(subscriptions, token, admin, query.all === '1')
    return {}
  })
  bindAdmin(router, deps, changePasswordOperation, async ({ body }, { admin, actor }) => {
    const change = { userId: admin.account_id, sessionId: undefined, current: body.current, next: body.password }
    await changePassword({ ...subscriptions, limiter }, { ...change, ip: actor.ip })
    await endSessions(subscriptions, admin.account_id)
    return {}
  })
}

/** Mounts the login status and the operations on administrators. */
export function mountAdmins(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const view = (admin: Parameters<typeof viewAdmin>[0]) => viewAdmin(admin, subscriptions.zone)
  bindAdmin(router, deps, loginStatus, async (_, { admin, token }) => ({ admin: view(admin), token }))
  bindAdmin(router, deps, listAdminsOperation, async ({ query }) => {
    const page = requestedPage(query)
    const found = await listAdmins(subscriptions.collections, page)
    return { admins: found.items.map(view), pagination: pagination(page, found) }
  })
  bindAdmin(router, deps, createAdminOperation, async ({ body }, { actor }) =>
    view(await createAdmin(subscriptions, actor, body)),
  )
  bindAdmin(router, deps, updateAdminOperation, async ({ params, body }, { actor }) =>
    view(await updateAdmin(subscriptions, actor, params.id, body)),
  )
}
