/** The Subscription Administration API on its own port: administrators, server API, switch evaluation, notices. */
import { knownNetworks, loginLimits } from './accounts/login-limiter.ts'
import { users } from './accounts/store/users.ts'
import { domains } from './mail/domains/store/domain-model.ts'
import { createMaySendFrom } from './mail/submission/system-sender.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { serveHttp } from './platform/http/http-server.ts'
import { FORWARDING_NOTES } from './platform/http/untrusted-proxy.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'
import { openSubscriptions } from './subscriptions/context.ts'
import { answerNonsense, createAdminApi } from './subscriptions/http/admin-api.ts'
import { subscriptionCollections } from './subscriptions/store/collections.ts'

/** Starts the API; resolves with the port that it listens on. */
export async function admin(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, mongo } = foundation
  const own = [users, loginLimits, knownNetworks, domains, FORWARDING_NOTES]
  await ensureIndexes(mongo.db, [...subscriptionCollections, ...own])
  const app = createAdminApi({
    ...foundation,
    subscriptions: openSubscriptions(foundation),
    maySendFrom: createMaySendFrom(foundation),
  })
  const address = { port: config.ADMIN_API_PORT, host: config.APP_HOST, setting: 'ADMIN_API_PORT' }
  const { port, server, stop } = await serveHttp(app.callback(), { ...address, closing: foundation.stopping })
  server.on('clientError', (_, socket) => answerNonsense(socket))
  return { port, stop }
}

if (import.meta.main) await run('admin', process.env, admin)
