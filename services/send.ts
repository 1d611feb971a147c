/** The HTTP send API as a process of its own, to be scaled apart from the panel. */

import { mountSend, sendCollections } from './mail/http/mount-send.ts'
import { authoriseWith } from './mail/http/shared/authorise.ts'
import { mountMcp } from './mail/mcp/http/mount-mcp.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { createSubmissionService } from './mail/submission/submission-service.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { serveHttp } from './platform/http/http-server.ts'
import { securityHeaders } from './platform/http/security-headers.ts'
import { FORWARDING_NOTES, watchForwarding } from './platform/http/untrusted-proxy.ts'
import { createWeb, notFound } from './platform/http/web-app.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'

/** Serves the send API on APP_HOST:APP_PORT; resolves with the bound port. */
export async function send(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, mongo } = foundation
  await ensureIndexes(mongo.db, [...sendCollections, FORWARDING_NOTES])
  const submission = createSubmissionService(foundation, await fixSlotCount(mongo, config.SLOTS))
  const closing = new AbortController()
  foundation.stopping?.addEventListener('abort', () => closing.abort(), { once: true })
  const app = createWeb({
    ...foundation,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedForwarding: watchForwarding(foundation),
  })
  app.use(securityHeaders(config.APP_BASE_URL))
  const authorise = authoriseWith(foundation)
  mountSend(app, { ...foundation, authorise, submission, closing: closing.signal })
  mountMcp(app, { ...foundation, authorise, submission })
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

if (import.meta.main) await run('send', process.env, send)
