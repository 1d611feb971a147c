/** The process of the web app and the whole mail API; `send.ts` serves the part of programs alone, to be scaled apart. */
import { ensureFirstAdmin } from './accounts/first-admin.ts'
import { ensureFirstCredential, ensureSandboxDomain } from './mail/first-start.ts'
import { managementCollections, mountMailApi } from './mail/http/index.ts'
import { mountSend, sendCollections } from './mail/http/mount-send.ts'
import { mountPanel, PANEL_FOLDER } from './mail/http/panel-files.ts'
import { authoriseWith } from './mail/http/shared/authorise.ts'
import { mountMcp } from './mail/mcp/http/mount-mcp.ts'
import { REPORTS_PATH } from './mail/message/report-address.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { UNSUBSCRIBE_PATH } from './mail/streams/unsubscribe-link.ts'
import { createSubmissionService } from './mail/submission/submission-service.ts'
import { createMaySendFrom } from './mail/submission/system-sender.ts'
import { CLICK_PATH, OPEN_PATH } from './mail/tracking/tracking-link.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { serveHttp } from './platform/http/http-server.ts'
import { securityHeaders } from './platform/http/security-headers.ts'
import { FORWARDING_NOTES, watchForwarding } from './platform/http/untrusted-proxy.ts'
import { createWeb, notFound } from './platform/http/web-app.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'
import { openSubscriptions } from './subscriptions/context.ts'
import { mountSubscriptions } from './subscriptions/http/admin-routes.ts'
import { createRates } from './subscriptions/http/shared/rate-limits.ts'
import { roleOfAccount } from './subscriptions/people/manage-admins.ts'
import { subscriptionCollections } from './subscriptions/store/collections.ts'

/** Prepares the database and the first accounts, and serves app and API on APP_HOST:APP_PORT. */
export async function panel(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, mongo } = foundation
  await ensureIndexes(mongo.db, [
    ...managementCollections,
    ...sendCollections,
    ...subscriptionCollections,
    FORWARDING_NOTES,
  ])
  const admin = await ensureFirstAdmin(foundation)
  if (admin) {
    await ensureFirstCredential(foundation, admin._id)
    await ensureSandboxDomain(foundation, admin._id)
  }
  const submission = createSubmissionService(foundation, await fixSlotCount(mongo, config.SLOTS))
  const closing = new AbortController()
  foundation.stopping?.addEventListener('abort', () => closing.abort(), { once: true })
  const app = createWeb({
    ...foundation,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedForwarding: watchForwarding(foundation),
    secretPaths: [`${REPORTS_PATH}/dmarc`, `${REPORTS_PATH}/tls`, UNSUBSCRIBE_PATH, CLICK_PATH, OPEN_PATH],
  })
  app.use(securityHeaders(config.APP_BASE_URL))
  const authorise = authoriseWith(foundation)
  const subscriptions = openSubscriptions(foundation)
  mountSubscriptions(app, '/subscription-api', {
    subscriptions,
    rates: createRates(subscriptions, config),
    maySendFrom: createMaySendFrom(foundation),
    accountOf: async context => (await authorise(context, { kind: 'session' })).account.id,
  })
  mountSend(app, { ...foundation, authorise, submission, closing: closing.signal })
  mountMcp(app, { ...foundation, authorise, submission })
  mountMailApi(app, foundation, { subscriptionRole: accountId => roleOfAccount(subscriptions, accountId) })
  await mountPanel(app, {
    folder: PANEL_FOLDER,
    https: config.APP_BASE_URL.startsWith('https://'),
  })
  app.use(notFound)
  const address = { port: config.APP_PORT, host: config.APP_HOST, setting: 'APP_PORT' }
  const server = await serveHttp(app.callback(), { ...address, closing: closing.signal })
  return {
    port: server.port,
    async stop() {
      closing.abort()
      await server.stop()
      await submission.stop()
    },
  }
}

if (import.meta.main) await run('panel', process.env, panel)
