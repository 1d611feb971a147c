/** The foundation of a main for tests: its own database, random secrets, no log, ports chosen by the system. */
import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../../services/platform/clock.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { readConfig } from '../../../services/platform/process/config.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import type { TestDatabase } from '../database/test-database.ts'

/** A foundation with this database; `env` adds settings. */
export function testFoundation(
  mongo: TestDatabase,
  env: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
): Foundation {
  const secret = randomBytes(32).toString('hex')
  const config = readConfig({
    MAIL_HOSTNAME: 'mail.example.net',
    SESSION_SECRET: secret,
    APP_PORT: '0',
    ADMIN_API_PORT: '0',
    COMPAT_PORT: '0',
    METRICS_PORT: '0',
    ...env,
  })
  return { config, log: silentLog, metrics: createMetrics('test'), mongo, secrets: createSecrets(secret), clock }
}
