/** What an account does with itself. */
import { bind, type createRouter, factsOf } from '../../platform/http/web-app.ts'
import { changePassword, changeSettings, getUser } from '../manage-accounts.ts'
import { showUser } from './account-view.ts'
import { getMe, patchMe, putMyPassword } from './accounts-contract.ts'
import type { AccountsHttpDeps } from './deps.ts'

/** Mounts the operations on the own account. */
export function mountMe(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { authorise, audit } = deps

  bind(router, authorise, getMe, async (_, { account }) => showUser(await getUser(deps, account.id)))

  bind(router, authorise, patchMe, async ({ body }, { account }) =>
    showUser(await changeSettings(deps, account.id, body)),
  )

  bind(router, authorise, putMyPassword, async ({ body }, caller, context) => {
    const user = await changePassword(deps, {
      userId: caller.account.id,
      sessionId: caller.sessionId,
      current: body.current_password,
      next: body.new_password,
      ip: factsOf(context).ip,
    })
    await audit(caller, context, {
      action: 'user.password_changed',
      target: { type: 'user', id: user._id, name: user.username },
    })
  })
}
