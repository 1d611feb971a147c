/** The Subscription Administration API on its own port: administrators, server API, switch evaluation, notices. */
import { createServer } from 'node:http'
import { knownNetworks, loginLimits } from './accounts/login-limiter.ts'
import { users } from './accounts/store/users.ts'
import { domains } from './mail/store/domains.ts'
import { createMaySendFrom } from './mail/system-sender.ts'
import { FORWARDING_NOTES } from './platform/forwarding.ts'
import { ensureIndexes } from './platform/mongo.ts'
import { closeServer, type Foundation, listen, type Running, run } from './platform/run.ts'
import { openSubscriptions } from './subscriptions/context.ts'
import { answerNonsense, createAdminApi } from './subscriptions/http/index.ts'
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
  const server = createServer(app.callback())
  server.on('clientError', (_, socket) => answerNonsense(socket))
  const port = await listen(server, config.ADMIN_API_PORT, config.APP_HOST, 'ADMIN_API_PORT')
  return { port, stop: () => closeServer(server) }
}

if (import.meta.main) await run('admin', process.env, admin)
