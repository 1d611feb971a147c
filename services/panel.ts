/** The process of the panel, its web app and the mail management API. */
import { createServer } from 'node:http'
import { ensureFirstAdmin } from './accounts/first-admin.ts'
import { ensureFirstCredential, ensureSandboxDomain } from './mail/first-start.ts'
import { managementCollections, mountMailApi } from './mail/http/index.ts'
import { mountPanel, PANEL_FOLDER } from './mail/http/panel-files.ts'
import { ensureIndexes } from './platform/mongo.ts'
import { closeServer, type Foundation, listen, type Running, run } from './platform/run.ts'
import { createWeb, notFound } from './platform/web.ts'

/** Prepares the database and the first accounts, and serves web app and API on APP_PORT. */
export async function panel(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, log, metrics, mongo } = foundation
  await ensureIndexes(mongo.db, managementCollections)
  const admin = await ensureFirstAdmin(foundation)
  if (admin) {
    await ensureFirstCredential(foundation, admin._id)
    await ensureSandboxDomain(foundation, admin._id)
  }
  const app = createWeb({ log, metrics, trustedProxies: config.TRUSTED_PROXIES, readiness: foundation.readiness })
  mountMailApi(app, foundation)
  await mountPanel(app, { folder: PANEL_FOLDER, https: config.APP_BASE_URL.startsWith('https://') })
  app.use(notFound)
  const server = createServer(app.callback())
  const port = await listen(server, config.APP_PORT, config.APP_HOST, 'APP_PORT')
  return { port, stop: () => closeServer(server) }
}

if (import.meta.main) await run('panel', process.env, panel)
