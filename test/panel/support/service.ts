/** The real service for browser tests: panel, management API and send API on one port, on a database of its own. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ensureFirstAdmin } from '../../../services/accounts/first-admin.ts'
import { sessionCookie } from '../../../services/accounts/http/session-cookie.ts'
import { createTokenCheck } from '../../../services/mail/check-token.ts'
import { ensureSandboxDomain } from '../../../services/mail/first-start.ts'
import { createAuthorise } from '../../../services/mail/http/authorise.ts'
import { managementCollections, mountMailApi } from '../../../services/mail/http/index.ts'
import { mountSend } from '../../../services/mail/http/mount-send.ts'
import { mountPanel, PANEL_FOLDER } from '../../../services/mail/http/panel-files.ts'
import { openDoor } from '../../../services/mail/open-door.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { readConfig } from '../../../services/platform/config.ts'
import { silentLog } from '../../../services/platform/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { ensureIndexes } from '../../../services/platform/mongo.ts'
import { closeServer, type Foundation } from '../../../services/platform/run.ts'
import { createSecrets } from '../../../services/platform/secrets.ts'
import { createWeb, notFound } from '../../../services/platform/web.ts'
import { freshDatabase } from '../../support/database.ts'

/** A running service. */
export interface PanelService {
  url: string
  foundation: Foundation
  /** The admin's login. */
  admin: { username: string; password: string }
  stop(): Promise<void>
}

const SECRET = 'a-secret-for-tests-of-at-least-32-bytes'
const ADMIN = { username: 'admin', password: 'correct horse battery staple' }

/** Starts it in capture mode, with the sandbox domain of the first admin. */
export async function startPanelService(env: Record<string, string> = {}): Promise<PanelService> {
  const mongo = await freshDatabase()
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = readConfig({
    APP_BASE_URL: url,
    MAIL_HOSTNAME: 'mail.example.com',
    SENDING_IP: '192.0.2.10',
    SESSION_SECRET: SECRET,
    DELIVERY_MODE: 'capture',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    SEND_REQUESTS_PER_SECOND: '0',
    API_REQUESTS_PER_MINUTE: '0',
    ...env,
  })
  const foundation: Foundation = {
    config,
    log: silentLog,
    metrics: createMetrics('test'),
    mongo,
    secrets: createSecrets(SECRET),
    clock: systemClock,
  }
  const { db } = mongo
  await ensureIndexes(db, managementCollections)
  const admin = await ensureFirstAdmin(foundation)
  if (admin) await ensureSandboxDomain(foundation, admin._id)
  const closing = new AbortController()
  const door = openDoor(foundation, config.SLOTS)
  const app = createWeb({ log: silentLog, metrics: foundation.metrics, trustedProxies: [] })
  const checkToken = createTokenCheck({ db, clock: systemClock, log: silentLog, apiToken: undefined })
  const authorise = createAuthorise({ db, clock: systemClock, cookie: sessionCookie(url), checkToken })
  mountSend(app, { ...foundation, authorise, door, closing: closing.signal })
  mountMailApi(app, foundation)
  await mountPanel(app, { folder: PANEL_FOLDER, https: false })
  app.use(notFound)
  server.on('request', app.callback())
  return {
    url,
    foundation,
    admin: ADMIN,
    async stop() {
      closing.abort()
      await closeServer(server)
      await door.stop()
      await mongo.stop()
    },
  }
}
