/** What admins do with accounts. */
import { toPage } from '../../platform/pages.ts'
import { bind, type createRouter, type WebContext } from '../../platform/web.ts'
import { createUser, getUser, resetPassword, suspendUser, unsuspendUser } from '../manage-users.ts'
import { listUsers, type UserDoc } from '../store/users.ts'
import type { Caller } from './caller.ts'
import {
  createUserOperation,
  getUserOperation,
  listUsersOperation,
  resetPasswordOperation,
  suspendUserOperation,
  unsuspendUserOperation,
} from './contract.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { showUser } from './show-user.ts'

/** Puts the operations of admins on the router. */
export function mountUsers(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, authorise } = deps
  const audit = (caller: Caller, context: WebContext, action: string, { _id, username }: UserDoc) =>
    deps.audit(caller, context, { action, target: { type: 'user', id: _id, name: username }, userId: _id })

  bind(router, authorise, listUsersOperation, async ({ query }) =>
    toPage(await listUsers(mongo.db, query), query.limit, showUser),
  )

  bind(router, authorise, createUserOperation, async ({ body }, caller, context) => {
    const { user, password } = await createUser(deps, body)
    await audit(caller, context, 'user.created', user)
    context.set('Location', `/api/v1/admin/users/${user._id}`)
    return { ...showUser(user), ...(password === undefined ? {} : { password }) }
  })

  bind(router, authorise, getUserOperation, async ({ params }) => showUser(await getUser(deps, params.id)))

  bind(router, authorise, suspendUserOperation, async ({ params }, caller, context) => {
    const user = await suspendUser(deps, params.id)
    await audit(caller, context, 'user.suspended', user)
    return showUser(user)
  })

  bind(router, authorise, unsuspendUserOperation, async ({ params }, caller, context) => {
    const user = await unsuspendUser(deps, params.id)
    await audit(caller, context, 'user.unsuspended', user)
    return showUser(user)
  })

  bind(router, authorise, resetPasswordOperation, async ({ params, body }, caller, context) => {
    const { user, password } = await resetPassword(deps, params.id, body.password)
    await audit(caller, context, 'user.password_reset', user)
    return { ...showUser(user), ...(password === undefined ? {} : { password }) }
  })
}
