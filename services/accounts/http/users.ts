/** What admins do with accounts. */
import { bind, type createRouter, type WebContext } from '../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../platform/ordered-pages.ts'
import {
  changeLimit,
  createUser,
  endAllSessions,
  getUser,
  resetPassword,
  suspendUser,
  unsuspendUser,
} from '../manage-accounts.ts'
import { listUsers, type UserDoc } from '../store/users.ts'
import { showUser } from './account-view.ts'
import {
  changeUserOperation,
  createUserOperation,
  getUserOperation,
  listUsersOperation,
  resetPasswordOperation,
  suspendUserOperation,
  USER_ORDERS,
  unsuspendUserOperation,
} from './accounts-contract.ts'
import type { Caller } from './audit-caller.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { endUserSessions } from './sessions-contract.ts'

/** Mounts the operations of admins on accounts. */
export function mountUsers(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, authorise } = deps
  const audit = (caller: Caller, context: WebContext, action: string, { _id, username }: UserDoc) =>
    deps.audit(caller, context, { action, target: { type: 'user', id: _id, name: username }, userId: _id })

  const useOf = async (docs: readonly UserDoc[]) => {
    const used = await deps.recipientsToday(docs.map(({ _id }) => _id))
    return (doc: UserDoc) => ({ ...showUser(doc), recipients_today: used.get(doc._id) ?? 0 })
  }
  const withUse = async (doc: UserDoc) => (await useOf([doc]))(doc)

  bind(router, authorise, listUsersOperation, async ({ query }) => {
    const docs = await listUsers(mongo.db, orderedPage(USER_ORDERS, query), query.search)
    return toOrderedPage(USER_ORDERS, query, docs, await useOf(docs))
  })

  bind(router, authorise, createUserOperation, async ({ body }, caller, context) => {
    const { recipients_per_day: recipientsPerDay, ...account } = body
    const { user, password } = await createUser(deps, { ...account, recipientsPerDay })
    await audit(caller, context, 'user.created', user)
    context.set('Location', `/api/v1/admin/users/${user._id}`)
    return { ...showUser(user), ...(password === undefined ? {} : { password }) }
  })

  bind(router, authorise, getUserOperation, async ({ params }) => withUse(await getUser(deps, params.id)))

  bind(router, authorise, changeUserOperation, async ({ params, body }, caller, context) => {
    const user = await changeLimit(deps, params.id, body.recipients_per_day)
    await audit(caller, context, 'user.changed', user)
    return withUse(user)
  })

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

  bind(router, authorise, endUserSessions, async ({ params }, caller, context) =>
    audit(caller, context, 'user.sessions_ended', await endAllSessions(deps, params.id)),
  )

  bind(router, authorise, resetPasswordOperation, async ({ params, body }, caller, context) => {
    const { user, password } = await resetPassword(deps, params.id, body.password)
    await audit(caller, context, 'user.password_reset', user)
    return { ...showUser(user), ...(password === undefined ? {} : { password }) }
  })
}
