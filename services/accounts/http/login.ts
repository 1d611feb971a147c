/** Login, logout, and the current session. */
import { bind, type createRouter, factsOf } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { makeChallenge } from '../login-challenge.ts'
import { endSession } from '../login-sessions.ts'
import { checkLogin, getUser } from '../manage-accounts.ts'
import { confirmedFactor } from '../second-factor.ts'
import { chooseAccount } from '../store/sessions.ts'
import { getSession, logInOperation, logOutOperation } from './accounts-contract.ts'
import { createAnybody, requirePasswordLogin } from './anybody.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { createOpenSession, createShowSession } from './open-session.ts'
import { readCookie, writeCookie } from './session-cookie.ts'

/** Mounts the session operations. */
export function mountSession(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, secrets, cookie, authorise } = deps
  const show = createShowSession(deps)
  const open = createOpenSession(deps)

  bind(router, createAnybody(deps), logInOperation, async ({ body }, _, context) => {
    requirePasswordLogin(deps)
    const user = await checkLogin(deps, { ...body, ip: factsOf(context).ip })
    if (!(await confirmedFactor(deps, user._id))) return open(context, user)
    const challenge = makeChallenge(secrets, user, clock.now())
    throw new ProblemError('second_factor_required', undefined, { challenge })
  })

  bind(router, authorise, getSession, async (_, { account, accountId, sessionId }) => {
    const shown = await show(await getUser(deps, account.id), accountId)
    // Its account is not open to the user any more: from now on the session works in the own one, as the answer says.
    if (sessionId !== undefined && accountId !== undefined && shown.account.id !== accountId)
      await chooseAccount(mongo.db, sessionId, undefined)
    return shown
  })

  bind(router, authorise, logOutOperation, async (_, __, context) => {
    const token = readCookie(context, cookie)
    if (token !== undefined) await endSession({ db: mongo.db, secrets }, token)
    writeCookie(context, cookie, undefined)
  })
}
