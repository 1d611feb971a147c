/** The e-mail address of a user, and a new password by mail. */
import { bind, type createRouter, factsOf, type WebContext } from '../../platform/http/web-app.ts'
import { toAccount } from '../account-status.ts'
import { changeEmail, confirmEmail } from '../change-email.ts'
import { completePasswordReset, requestPasswordReset } from '../recover-password.ts'
import { foldUsername } from '../rules/username.ts'
import type { UserDoc } from '../store/users.ts'
import { showUser } from './account-view.ts'
import { createAnybody, requirePasswordLogin } from './anybody.ts'
import type { AccountsHttpDeps } from './deps.ts'
import {
  completePasswordResetOperation,
  confirmEmailOperation,
  putMyEmail,
  requestPasswordResetOperation,
} from './recovery-contract.ts'

/** Mounts the operations for users without a session, and on the own address. */
export function mountRecovery(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { authorise, audit, recoveryRate } = deps
  const anybody = createAnybody(deps)
  const auditLink = (context: WebContext, user: UserDoc, action: string) =>
    audit({ account: toAccount(user), via: 'link' }, context, {
      action,
      target: { type: 'user', id: user._id, name: user.username },
    })

  bind(router, anybody, requestPasswordResetOperation, async ({ body }, _, context) => {
    requirePasswordLogin(deps)
    const typed = foldUsername(body.username)
    await recoveryRate(factsOf(context).ip, typed)
    await requestPasswordReset(deps, typed)
  })

  bind(router, anybody, completePasswordResetOperation, async ({ body }, _, context) => {
    const user = await completePasswordReset(deps, { token: body.token, password: body.new_password })
    await auditLink(context, user, 'user.password_reset')
  })

  bind(router, authorise, putMyEmail, async ({ body }, caller, context) => {
    const { ip } = factsOf(context)
    const change = { userId: caller.account.id, email: body.email, password: body.current_password, ip }
    const user = await changeEmail(deps, change)
    await audit(caller, context, {
      action: body.email === null ? 'user.email_removed' : 'user.email_requested',
      target: { type: 'user', id: user._id, name: user.username },
    })
    return showUser(user)
  })

  bind(router, anybody, confirmEmailOperation, async ({ body }, _, context) => {
    await auditLink(context, await confirmEmail(deps, body.token), 'user.email_confirmed')
  })
}
