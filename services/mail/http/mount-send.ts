/** Puts sending, the delivery log and the reports on an application. */

import type Koa from 'koa'
import { sessions } from '../../accounts/store/sessions.ts'
import { users } from '../../accounts/store/users.ts'
import { type Authorise, createRouter } from '../../platform/http/web-app.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { addAdminReports } from '../administration/http/queue-and-health.ts'
import { tokens } from '../credentials/store/tokens.ts'
import { domains } from '../domains/store/domain-model.ts'
import { addDomainInboxRoutes } from '../inbox/http/inbox-messages.ts'
import { QUOTAS } from '../limits/store/quota-leases.ts'
import { RATES } from '../limits/store/rate-leases.ts'
import { sendingLimits } from '../limits/store/sending-limits.ts'
import { addActionRoutes } from '../log/http/email-actions.ts'
import { addLogRoutes } from '../log/http/emails.ts'
import { addStreamRoutes } from '../log/http/events-stream.ts'
import { addInboxRoutes } from '../log/http/inbox.ts'
import { addStatsRoute } from '../log/http/stats.ts'
import { STATS_DAYS, STATS_HOURS } from '../log/store/stats.ts'
import { BODIES } from '../store/bodies.ts'
import { CAPTURED, CAPTURED_PIECES } from '../store/captured.ts'
import { INBOXES } from '../store/captured-inboxes.ts'
import { DELIVERIES } from '../store/deliveries.ts'
import { EVENTS } from '../store/events.ts'
import { MESSAGES } from '../store/messages.ts'
import { SITES } from '../store/sites.ts'
import { WORKERS } from '../store/slots.ts'
import { addLimitsRoute } from '../submission/http/limits.ts'
import { addSendRoutes } from '../submission/http/send.ts'
import type { SubmissionService } from '../submission/submission-service.ts'
import { SUPPRESSIONS } from '../suppressions/store/suppressions.ts'
import { createRenderPublished } from '../templates/render-published.ts'
import { templates, templateVersions } from '../templates/store/templates.ts'
import { webhookCollections } from '../webhooks/store/webhook-collections.ts'
import type { Access } from './shared/access.ts'
import type { Principal } from './shared/authorise.ts'
import { createRateLimit, requestLimits, withRates } from './shared/rate-limit.ts'

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
  INBOXES,
  SITES,
  WORKERS,
  ...webhookCollections,
  STATS_DAYS,
  STATS_HOURS,
  QUOTAS,
  SUPPRESSIONS,
  RATES,
  sendingLimits,
  templates,
  templateVersions,
  requestLimits,
]

/** Dependencies of the sending operations. */
export interface SendMount extends Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log' | 'clockSkewMs'> {
  authorise: Authorise<Access, Principal>
  submission: SubmissionService
  /** Aborts when the process stops: live streams end. */
  closing: AbortSignal
}

/**
 * Mounts the operations. Goes before anything that reads request bodies: sending reads its own, after it knows the
 * caller.
 */
export function mountSend(app: Koa, mount: SendMount): void {
  const { config, mongo, submission } = mount
  const takeSend = createRateLimit(mongo.db, {
    name: 'send',
    points: Math.ceil(config.SEND_REQUESTS_PER_SECOND * 2),
    seconds: 2,
  })
  const limited = withRates(mount.authorise, mongo.db, config)
  const deps = {
    ...mount,
    authorise: limited,
    takeSend,
    renderPublished: createRenderPublished({ mongo }),
    accept: submission.accept,
    validateSender: submission.validateSender,
  }
  const router = createRouter()
  addSendRoutes(router, { ...deps, authorise: mount.authorise })
  addLogRoutes(router, deps)
  addActionRoutes(router, { ...deps, authorise: mount.authorise })
  addStreamRoutes(router, { ...deps, stillAllowed: mount.authorise })
  addLimitsRoute(router, deps)
  addStatsRoute(router, deps)
  addInboxRoutes(router, deps)
  addDomainInboxRoutes(router, { ...deps, stillAllowed: mount.authorise })
  addAdminReports(router, deps)
  app.use(router.routes())
}
