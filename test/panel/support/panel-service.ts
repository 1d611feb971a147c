/** The real service for browser tests, with its own database. */

import { panel } from '../../../services/panel.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import type { Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { readConfig } from '../../../services/platform/process/config.ts'
import { type Foundation, together } from '../../../services/platform/process/run.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { worker } from '../../../services/worker.ts'
import { freshDatabase } from '../../support/database/test-database.ts'
import { freePort } from '../../support/database/test-mongod.ts'
import { builtPanel } from './built-panel.ts'

export interface PanelService {
  url: string
  mongo: Mongo
  /** Dependencies of the service, for actions of an app's back end. */
  foundation: Foundation
  /** Credentials of the admin. */
  admin: { username: string; password: string }
  stop(): Promise<void>
}

const SECRET = 'a-secret-for-tests-of-at-least-32-bytes'
const ADMIN = { username: 'admin', password: 'correct horse battery staple' }

/** `given`: a database, for programs that are no test. Starts the service in capture mode (at APP_BASE_URL, with its APP_PORT, if it is given), with the sandbox domain of the first admin and a delivery worker. */
export async function startPanelService(env: Record<string, string> = {}, given?: Mongo): Promise<PanelService> {
  await builtPanel()
  const mongo = given ?? (await freshDatabase())
  const port = await freePort()
  const url = env.APP_BASE_URL ?? `http://127.0.0.1:${port}`
  const config = readConfig({
    APP_PORT: String(port),
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
  const running = together(await panel(foundation), await worker(foundation))
  return {
    url,
    mongo,
    foundation,
    admin: ADMIN,
    async stop() {
      await running.stop()
      await mongo.stop()
    },
  }
}
