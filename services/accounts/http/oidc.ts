/** Logins with a provider, and which ways to log in there are. */
import { MINUTE_MS } from '../../platform/durations.ts'
import { bind, type createRouter, type WebContext } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { SecretError } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { toAccount } from '../account-status.ts'
import { makeChallenge } from '../login-challenge.ts'
import { logInWithClaims } from '../oidc-login.ts'
import type { OidcChecks } from '../oidc-provider.ts'
import { confirmedFactor } from '../second-factor.ts'
import { takeChallenge } from '../store/used-challenges.ts'
import { createAnybody } from './anybody.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { beginOidcLogin, completeOidcLogin, getLoginMethods } from './oidc-contract.ts'
import { createOpenSession } from './open-session.ts'
import { oidcCookie, readCookie, writeCookie } from './session-cookie.ts'

/** The time to log in at the provider. */
const LOGIN_LIFE_MS = 10 * MINUTE_MS
const PLACE = 'oidc-login'

/** What the browser holds sealed while it is at the provider. */
interface Begun extends OidcChecks {
  until: number
}

/** Mounts the operations of logins with a provider. */
export function mountOidc(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, clock, secrets, audit, oidc } = deps
  const cookie = oidcCookie(deps.cookie)
  const open = createOpenSession(deps)
  const anybody = createAnybody(deps)
  const required = () => {
    if (!oidc) throw new ProblemError('not_found', sentence('detail.oidc_off'))
    return oidc
  }

  // Without a rate: the answer is constant, and every visit of the login page asks for it.
  bind(
    router,
    () => Promise.resolve(undefined),
    getLoginMethods,
    () =>
      Promise.resolve({
        object: 'login_methods' as const,
        password: deps.passwordLogin,
        oidc: oidc ? { name: oidc.name } : null,
        passkey: deps.relyingParty !== undefined,
      }),
  )

  bind(router, anybody, beginOidcLogin, async (_, __, context) => {
    const { url, checks } = await required().provider.begin()
    const begun: Begun = { ...checks, until: clock.now().getTime() + LOGIN_LIFE_MS }
    writeCookie(context, cookie, secrets.seal('oidc', PLACE, JSON.stringify(begun)), LOGIN_LIFE_MS / 1000)
    return { object: 'oidc_login' as const, url }
  })

  bind(router, anybody, completeOidcLogin, async ({ body }, _, context) => {
    const { provider, policy } = required()
    const begun = await consumeBegun(context)
    const claims = await provider.complete(body.query, begun)
    const { lang = 'en', tz = 'UTC' } = body
    const { user, changes } = await logInWithClaims(deps, { claims, policy, lang, tz })
    const target = { type: 'user', id: user._id, name: user.username }
    for (const action of changes) await audit({ account: toAccount(user), via: 'oidc' }, context, { action, target })
    if (!(await confirmedFactor(deps, user._id))) return open(context, user, { method: 'oidc' })
    const challenge = makeChallenge(secrets, user, clock.now(), 'oidc')
    throw new ProblemError('second_factor_required', undefined, { challenge })
  })

  /** What this browser holds; counts once, whatever becomes of the login. */
  async function consumeBegun(context: WebContext): Promise<Begun> {
    const begun = readBegun(readCookie(context, cookie))
    writeCookie(context, cookie, undefined)
    if (!begun || begun.until <= clock.now().getTime()) throw new ProblemError('login_expired')
    if (!(await takeChallenge(mongo.db, `oidc ${begun.state}`, new Date(begun.until))))
      throw new ProblemError('login_expired')
    return begun
  }

  function readBegun(sealed: string | undefined): Begun | undefined {
    try {
      return sealed === undefined ? undefined : JSON.parse(secrets.open('oidc', PLACE, sealed))
    } catch (error) {
      if (error instanceof SecretError) return undefined
      throw error
    }
  }
}
