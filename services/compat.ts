/** The API in the format of Resend as a process of its own: applications change its address and keep their code. */
import { mountCompat } from './mail/compat/http/mount-compat.ts'
import { managementCollections } from './mail/http/index.ts'
import { sendCollections } from './mail/http/mount-send.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { createSubmissionService } from './mail/submission/submission-service.ts'
import { ensureIndexes } from './platform/database/mongo.ts'
import { serveHttp } from './platform/http/http-server.ts'
import { securityHeaders } from './platform/http/security-headers.ts'
import { FORWARDING_NOTES, watchForwarding } from './platform/http/untrusted-proxy.ts'
import { createWeb } from './platform/http/web-app.ts'
import { type Foundation, run } from './platform/process/run.ts'
import type { Running } from './platform/running.ts'

/** Serves the API on APP_HOST:COMPAT_PORT; resolves with the bound port. */
export async function compat(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, mongo } = foundation
  await ensureIndexes(mongo.db, [...managementCollections, ...sendCollections, FORWARDING_NOTES])
  const submission = createSubmissionService(foundation, await fixSlotCount(mongo, config.SLOTS))
  const app = createWeb({
    ...foundation,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedForwarding: watchForwarding(foundation),
  })
  app.use(securityHeaders(config.APP_BASE_URL))
  mountCompat(app, { ...foundation, submission })
  const address = { port: config.COMPAT_PORT, host: config.APP_HOST, setting: 'COMPAT_PORT' }
  const server = await serveHttp(app.callback(), { ...address, closing: foundation.stopping })
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await submission.stop()
    },
  }
}

if (import.meta.main) await run('compat', process.env, compat)
