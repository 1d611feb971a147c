/** The second factor: the second step of a login, and what users and admins do with the factor. */
import { bind, type createRouter, factsOf, type WebContext } from '../../platform/http/web-app.ts'
import { openChallenge } from '../login-challenge.ts'
import {
  checkCode,
  confirmedFactor,
  confirmFactor,
  disableFactor,
  removeFactor,
  startFactor,
} from '../second-factor.ts'
import { createAnybody } from './anybody.ts'
import type { Caller } from './audit-caller.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { createOpenSession } from './open-session.ts'
import {
  completeLogIn,
  confirmMySecondFactor,
  disableMySecondFactor,
  getMySecondFactor,
  removeUserSecondFactor,
  startMySecondFactor,
} from './second-factor-contract.ts'

/** Mounts the operations on the second factor. */
export function mountSecondFactor(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { authorise } = deps
  const open = createOpenSession(deps)
  const audit = (caller: Caller, context: WebContext, action: string, user = nameOf(caller)) =>
    deps.audit(caller, context, {
      action,
      target: { type: 'user', id: user._id, name: user.username },
      userId: user._id,
    })

  bind(router, createAnybody(deps), completeLogIn, async ({ body }, _, context) => {
    const { user, method } = await openChallenge(deps, body.challenge)
    await checkCode(deps, user, { code: body.code, ip: factsOf(context).ip })
    return open(context, user, { method })
  })

  bind(router, authorise, getMySecondFactor, async (_, { account }) => {
    const factor = await confirmedFactor(deps, account.id)
    return {
      object: 'second_factor' as const,
      enabled: factor !== undefined,
      enabled_at: factor?.confirmed_at?.toISOString() ?? null,
      recovery_codes_left: factor?.recovery.length ?? 0,
    }
  })

  bind(router, authorise, startMySecondFactor, async ({ body }, { account }, context) => {
    const given = { userId: account.id, password: body.current_password, ip: factsOf(context).ip }
    return { object: 'second_factor_secret' as const, ...(await startFactor(deps, given)) }
  })

  bind(router, authorise, confirmMySecondFactor, async ({ body }, caller, context) => {
    const { account, sessionId } = caller
    const codes = await confirmFactor(deps, { userId: account.id, sessionId, code: body.code })
    await audit(caller, context, 'user.second_factor_enabled')
    return { object: 'recovery_codes' as const, codes }
  })

  bind(router, authorise, disableMySecondFactor, async ({ body }, caller, context) => {
    const given = { userId: caller.account.id, password: body.current_password, ip: factsOf(context).ip }
    await disableFactor(deps, { ...given, code: body.code })
    await audit(caller, context, 'user.second_factor_disabled')
  })

  bind(router, authorise, removeUserSecondFactor, async ({ params }, caller, context) =>
    audit(caller, context, 'user.second_factor_removed', await removeFactor(deps, params.id)),
  )
}

function nameOf({ account }: Caller) {
  return { _id: account.id, username: account.username }
}
