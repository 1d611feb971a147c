/** Puts the API in the format of Resend on an application, as a translation to the operations of the own API (ADR 103). */
import type Koa from 'koa'
import { createAudit } from '../../../accounts/http/audit-caller.ts'
import { createBodyRoom } from '../../../platform/http/body-room.ts'
import { createRouter, notFound, type WebContext } from '../../../platform/http/web-app.ts'
import { createGuardedGet } from '../../../platform/network/guarded-get.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { mountTokens } from '../../credentials/http/tokens.ts'
import { createDnsDeps } from '../../dns/dns-context.ts'
import { createRequestedChecks } from '../../domains/checks/requested-checks.ts'
import { mountDomainDns } from '../../domains/http/domain-dns.ts'
import { mountDomains } from '../../domains/http/domains.ts'
import { authoriseWith } from '../../http/shared/authorise.ts'
import { ownOperations } from '../../http/shared/own-operations.ts'
import { createRateLimit, withRates } from '../../http/shared/rate-limit.ts'
import { addActionRoutes } from '../../log/http/email-actions.ts'
import { addLogRoutes } from '../../log/http/emails.ts'
import { addSendRoutes } from '../../submission/http/send.ts'
import type { SubmissionService } from '../../submission/submission-service.ts'
import { mountSuppressions } from '../../suppressions/http/suppressions.ts'
import { mountTemplates } from '../../templates/http/templates.ts'
import { createRenderPublished } from '../../templates/render-published.ts'
import { mountMailWebhooks } from '../../webhooks/http/webhooks.ts'
import { createFetchAttachments } from '../fetch-attachments.ts'
import { foreignErrors } from './answer.ts'
import { addApiKeyRoutes } from './api-keys.ts'
import { addDomainRoutes } from './domains.ts'
import { addEmailRoutes } from './emails.ts'
import { addPostalRoute } from './postal.ts'
import { addSuppressionRoutes } from './suppressions.ts'
import { addTemplateRoutes } from './templates.ts'
import { refuseUnserved } from './unserved.ts'
import { addWebhookEventRoutes } from './webhook-events.ts'
import { addWebhookRoutes } from './webhooks.ts'

const MIB = 1024 * 1024

/** Dependencies of the API. */
export interface CompatMount extends Foundation {
  submission: SubmissionService
}

/** Mounts everything, answers to unknown addresses included: the application has nothing else. */
export function mountCompat(app: Koa, mount: CompatMount): void {
  const { config, mongo } = mount
  const authorise = authoriseWith(mount)
  const takeSend = createRateLimit(mongo.db, {
    name: 'send',
    points: Math.ceil(config.SEND_REQUESTS_PER_SECOND * 2),
    seconds: 2,
  })
  // Bytes as a list of integers take three and a half characters each, and an attachment fills three quarters of a message.
  const mostMib = Math.ceil((config.MAX_MESSAGE_BYTES * 3) / MIB) + 5
  const router = createRouter()
  const deps = {
    ...mount,
    router,
    own: ownOperations(mountOwn(mount, authorise)),
    authorise,
    authoriseRated: withRates(authorise, mongo.db, config),
    takeSend,
    bodyBytes: mostMib * MIB,
    room: createBodyRoom(mostMib * 2 * MIB, mostMib * MIB, sentence('detail.messages_busy')),
    fetchAttachments: createFetchAttachments(
      createGuardedGet({ allowPrivate: config.WEBHOOK_ALLOW_PRIVATE }),
      config.MAX_MESSAGE_BYTES,
    ),
  }
  for (const add of [
    addEmailRoutes,
    addDomainRoutes,
    addApiKeyRoutes,
    addSuppressionRoutes,
    addTemplateRoutes,
    addWebhookRoutes,
    addWebhookEventRoutes,
    addPostalRoute,
  ])
    add(deps)
  app.use(collapseSlashes)
  app.use(foreignErrors(mount.log))
  app.use(router.routes())
  app.use(refuseUnserved)
  app.use(notFound)
}

/** SDKs join a base address that ends in a slash with a path that begins with one. */
function collapseSlashes(context: WebContext, next: () => Promise<void>): Promise<void> {
  if (context.path.includes('//')) context.path = context.path.replaceAll(/\/{2,}/g, '/')
  return next()
}

/** The operations of the own API, on a router of their own that no request reaches by its address. */
function mountOwn(mount: CompatMount, authorise: ReturnType<typeof authoriseWith>) {
  const { config, mongo, clock, submission } = mount
  const router = createRouter()
  const shared = { ...mount, authorise }
  const sending = {
    ...shared,
    // Counted before the body was read.
    takeSend: () => Promise.resolve(),
    renderPublished: createRenderPublished({ mongo }),
    accept: submission.accept,
    validateSender: submission.validateSender,
  }
  addSendRoutes(router, sending)
  addLogRoutes(router, sending)
  addActionRoutes(router, sending)
  const managing = {
    ...shared,
    audit: createAudit({ db: mongo.db, clock }),
    policy: { requireVerified: config.SEND_REQUIRES_VERIFIED, capture: config.DELIVERY_MODE === 'capture' },
  }
  const dns = createDnsDeps(mount)
  const checks = createRequestedChecks(dns)
  mountDomains(router, managing, dns, checks)
  mountDomainDns(router, managing, dns, checks)
  mountTokens(router, managing)
  mountSuppressions(router, managing)
  mountMailWebhooks(router, managing)
  mountTemplates(router, managing)
  return router
}
