/** Puts the Subscription Administration API onto an application: on its own port, or below a path of the panel. */
import type Koa from 'koa'
import { ProblemError } from '../../platform/problems.ts'
import { createRouter, methodsAt, refuseMethod, type WebContext } from '../../platform/web.ts'
import { adminOfAccount, readSession } from '../admins.ts'
import type { Subscriptions } from '../context.ts'
import type { MaySendFrom } from '../manage-apps.ts'
import { mountAdmins, mountLogin } from './admin-session.ts'
import { createAppDoor } from './app-door.ts'
import { mountAppSettings, mountApps } from './apps.ts'
import { mountAudit } from './audit.ts'
import type { Authenticate, HttpDeps } from './bind.ts'
import { envelopeErrors } from './envelope.ts'
import { mountPlans } from './plans.ts'
import type { Rates } from './rates.ts'
import { mountResources } from './resources.ts'
import { mountSubscriptionOperations } from './subscriptions.ts'
import { mountSwitches } from './switches.ts'
import { mountUsers } from './users.ts'
import { mountWebhooks } from './webhooks.ts'

/** What the router needs. */
export interface MountDeps {
  subscriptions: Subscriptions
  rates: Rates
  maySendFrom: MaySendFrom
  /**
   * Finds the panel account of a request, for the mount below the panel; throws a problem when there is none. Without
   * it the header `token` decides, and login and logout exist.
   */
  accountOf?: (context: WebContext) => Promise<string>
}

/** The operations of administrators, all that the panel's origin has. */
export function adminRouter({ subscriptions: s, rates, maySendFrom, accountOf }: MountDeps) {
  const deps: HttpDeps = { s, rates, authenticate: authenticator(s, accountOf), door: createAppDoor(s), maySendFrom }
  const router = createRouter()
  if (!accountOf) mountLogin(router, deps)
  mountAdmins(router, deps)
  mountUsers(router, deps)
  mountPlans(router, deps)
  mountSubscriptionOperations(router, deps)
  mountSwitches(router, deps)
  mountApps(router, deps)
  mountAppSettings(router, deps)
  mountWebhooks(router, deps)
  mountAudit(router, deps)
  mountResources(router, deps)
  return { router, deps }
}

function authenticator(s: Subscriptions, accountOf: MountDeps['accountOf']): Authenticate {
  if (accountOf) return async context => ({ admin: await adminOfAccount(s, await accountOf(context)), token: '' })
  return async context => {
    const token = context.get('token')
    if (token === '') throw new ProblemError('session_missing')
    return { admin: await readSession(s, token), token }
  }
}

/**
 * Mounts the operations of administrators at `prefix` (such as `/subscription-api`) of an application that serves
 * other things as well. Everything below the prefix answers envelopes.
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

/** Runs a router; where nothing matches, 404 or 405. */
export function dispatch(router: ReturnType<typeof createRouter>) {
  const routes = router.routes()
  return async (context: WebContext): Promise<void> => {
    const { path, route } = router.match(context.path, context.method)
    if (!route) {
      const { methods } = methodsAt(context.path, path)
      if (methods.length === 0) throw new ProblemError('not_found')
      refuseMethod(context, methods)
    }
    await routes(context as Parameters<typeof routes>[0], async () => undefined)
  }
}
