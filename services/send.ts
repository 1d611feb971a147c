/** The HTTP send API as a process of its own, to be scaled apart from the panel. */
import { authoriseWith } from './mail/http/authorise.ts'
import { mountSend, sendCollections } from './mail/http/mount-send.ts'
import { openDoor } from './mail/open-door.ts'
import { fixSlotCount } from './mail/store/slots.ts'
import { FORWARDING_NOTES, watchForwarding } from './platform/forwarding.ts'
import { serveHttp } from './platform/http-server.ts'
import { ensureIndexes } from './platform/mongo.ts'
import { type Foundation, type Running, run } from './platform/run.ts'
import { securityHeaders } from './platform/security-headers.ts'
import { createWeb, notFound } from './platform/web.ts'

/** Serves the send API on APP_HOST:APP_PORT; resolves with the bound port. */
export async function send(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, mongo } = foundation
  await ensureIndexes(mongo.db, [...sendCollections, FORWARDING_NOTES])
  const door = openDoor(foundation, await fixSlotCount(mongo, config.SLOTS))
  const closing = new AbortController()
  foundation.stopping?.addEventListener('abort', () => closing.abort(), { once: true })
  const app = createWeb({
    ...foundation,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedForwarding: watchForwarding(foundation),
  })
  app.use(securityHeaders(config.APP_BASE_URL))
  mountSend(app, { ...foundation, authorise: authoriseWith(foundation), door, closing: closing.signal })
  app.use(notFound)
  const address = { port: config.APP_PORT, host: config.APP_HOST, setting: 'APP_PORT' }
  const server = await serveHttp(app.callback(), { ...address, closing: closing.signal })
  return {
    port: server.port,
    async stop() {
      closing.abort()
      await server.stop()
      await door.stop()
    },
  }
}

if (import.meta.main) await run('send', process.env, send)
