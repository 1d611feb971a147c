/** Puts sending, the delivery log and the reports on an application. */
import type Koa from 'koa'
import { sessions } from '../../accounts/store/sessions.ts'
import { users } from '../../accounts/store/users.ts'
import type { Foundation } from '../../platform/run.ts'
import { type Authorise, createRouter } from '../../platform/web.ts'
import type { OpenDoor } from '../open-door.ts'
import { BODIES } from '../store/bodies.ts'
import { CAPTURED, CAPTURED_PIECES } from '../store/captured.ts'
import { DELIVERIES } from '../store/deliveries.ts'
import { domains } from '../store/domains.ts'
import { EVENTS } from '../store/events.ts'
import { MESSAGES } from '../store/messages.ts'
import { QUOTAS } from '../store/quota.ts'
import { SITES } from '../store/sites.ts'
import { WORKERS } from '../store/slots.ts'
import { STATS_DAYS, STATS_HOURS } from '../store/stats.ts'
import { tokens } from '../store/tokens.ts'
import type { Access } from './access.ts'
import { addAdminReports } from './admin-reports.ts'
import type { Principal } from './authorise.ts'
import { addActionRoutes } from './email-actions.ts'
import { addLogRoutes } from './emails.ts'
import { addStreamRoutes } from './events-stream.ts'
import { addInboxRoutes } from './inbox.ts'
import { addLimitsRoute } from './limits.ts'
import { createRateLimit, requestLimits, withRates } from './rate-limit.ts'
import { addSendRoutes } from './send.ts'
import { addStatsRoute } from './stats.ts'

/** Collections that the operations read or write; a main calls ensureIndexes with them. */
export const sendCollections = [
  users,
  sessions,
  tokens,
  domains,
  MESSAGES,
  DELIVERIES,
  BODIES,
  EVENTS,
  CAPTURED,
  CAPTURED_PIECES,
  SITES,
  WORKERS,
  STATS_DAYS,
  STATS_HOURS,
  QUOTAS,
  requestLimits,
]

/** What the operations need. */
export interface SendMount extends Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log' | 'clockSkewMs'> {
  authorise: Authorise<Access, Principal>
  door: OpenDoor
  /** Aborts when the process stops: live streams end. */
  closing: AbortSignal
}

/**
 * Mounts the operations. Goes before anything that reads request bodies: sending reads its own, after it knows the
 * caller.
 */
export function mountSend(app: Koa, mount: SendMount): void {
  const { config, mongo, door } = mount
  const takeSend = createRateLimit(mongo.db, {
    name: 'send',
    points: Math.ceil(config.SEND_REQUESTS_PER_SECOND * 2),
    seconds: 2,
  })
  const limited = withRates(mount.authorise, mongo.db, config)
  const deps = { ...mount, authorise: limited, takeSend, accept: door.accept, judgeSender: door.judgeSender }
  const router = createRouter()
  addSendRoutes(router, { ...deps, authorise: mount.authorise })
  addLogRoutes(router, deps)
  addActionRoutes(router, { ...deps, authorise: mount.authorise })
  addStreamRoutes(router, { ...deps, stillAllowed: mount.authorise })
  addLimitsRoute(router, deps)
  addStatsRoute(router, deps)
  addInboxRoutes(router, deps)
  addAdminReports(router, deps)
  app.use(router.routes())
}
