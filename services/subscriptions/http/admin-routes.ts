/** Mounts the Subscription Administration API on an application: on its own port, or below a path of the panel. */
import type Koa from 'koa'
import { createRouter, methodsAt, refuseMethod, type WebContext } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { mountAudit } from '../audit/http/audit-log.ts'
import { mountApps, mountCredentials } from '../catalogue/http/apps.ts'
import { mountPlans } from '../catalogue/http/plans.ts'
import type { MaySendFrom } from '../catalogue/manage-apps.ts'
import type { Subscriptions } from '../context.ts'
import { mountEvaluation } from '../flags/http/evaluation.ts'
import { mountSwitches } from '../flags/http/flags.ts'
import { mountResources } from '../kubernetes/http/managed-records.ts'
import { mountSubscriptionOperations } from '../lifecycle/http/subscriptions.ts'
import { mountUserAccess } from '../lifecycle/http/user-access.ts'
import { mountChannels } from '../payments/http/channels.ts'
import { mountAdmins, mountLogin } from '../people/http/admins.ts'
import { mountUsers } from '../people/http/end-users.ts'
import { adminOfAccount, readSession } from '../people/manage-admins.ts'
import { mountWebhooks } from '../webhooks/http/webhooks.ts'
import { createAppAuthenticator } from './shared/authenticate-app.ts'
import type { Authenticate, HttpDeps } from './shared/bind.ts'
import { envelopeErrors } from './shared/envelope.ts'
import type { Rates } from './shared/rate-limits.ts'

/** Dependencies of the router. */
export interface MountDeps {
  subscriptions: Subscriptions
  rates: Rates
  maySendFrom: MaySendFrom
  /**
   * Finds the panel account of a request, for the mount below the panel; throws a problem when there is none. Absent:
   * the header `token` authenticates, and login and logout are mounted.
   */
  accountOf?: (context: WebContext) => Promise<string>
}

/** The operations of administrators: everything that the panel's origin serves. */
export function adminRouter({ subscriptions: context, rates, maySendFrom, accountOf }: MountDeps) {
  const deps: HttpDeps = {
    subscriptions: context,
    rates,
    authenticate: authenticator(context, accountOf),
    appAuthenticator: createAppAuthenticator(context),
    maySendFrom,
  }
  const router = createRouter()
  if (!accountOf) mountLogin(router, deps)
  mountAdmins(router, deps)
  mountUsers(router, deps)
  mountUserAccess(router, deps)
  mountPlans(router, deps)
  mountSubscriptionOperations(router, deps)
  mountSwitches(router, deps)
  mountEvaluation(router, deps)
  mountApps(router, deps)
  mountCredentials(router, deps)
  mountChannels(router, deps)
  mountWebhooks(router, deps)
  mountAudit(router, deps)
  mountResources(router, deps)
  return { router, deps }
}

function authenticator(subscriptions: Subscriptions, accountOf: MountDeps['accountOf']): Authenticate {
  if (accountOf)
    return async context => ({ admin: await adminOfAccount(subscriptions, await accountOf(context)), token: '' })
  return async context => {
    const token = context.get('token')
    if (token === '') throw new ProblemError('session_missing')
    return { admin: await readSession(subscriptions, token), token }
  }
}

/**
 * Mounts the operations of administrators at `prefix` (such as `/subscription-api`) of an application that serves other
 * paths too. All responses below the prefix are envelopes.
 */
export function mountSubscriptions(app: Koa, prefix: string, deps: MountDeps): void {
  const { router } = adminRouter(deps)
  const guard = envelopeErrors(deps.subscriptions)
  const serve = dispatch(router)
  app.use(async (context, next) => {
    if (context.path !== prefix && !context.path.startsWith(`${prefix}/`)) return next()
    const inner = context.path.slice(prefix.length) || '/'
    return guard(context, async () => {
      context.path = inner
      await serve(context)
    })
  })
}

/** Runs a router; returns 404 or 405 where no route matches. */
export function dispatch(router: ReturnType<typeof createRouter>) {
  const routes = router.routes()
  return async (context: WebContext): Promise<void> => {
    const { path, route } = router.match(context.path, context.method)
    if (!route) {
      const { methods } = methodsAt(context.path, path)
      if (methods.length === 0)
        throw new ProblemError('not_found', sentence('detail.nothing_at', { path: context.path }))
      refuseMethod(context, methods)
    }
    await routes(context as Parameters<typeof routes>[0], async () => undefined)
  }
}
