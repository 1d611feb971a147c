/** Mounts the mail management API: sessions, accounts, domains, SMTP logins, tokens, and its OpenAPI document. */

import type Koa from 'koa'
import { createAudit } from '../../accounts/http/audit-caller.ts'
import type { AccountsHttpDeps } from '../../accounts/http/deps.ts'
import { mountAccounts } from '../../accounts/http/mount-accounts.ts'
import { oidcLogins } from '../../accounts/http/oidc-logins.ts'
import { sessionCookie } from '../../accounts/http/session-cookie.ts'
import { createLoginLimiter, knownNetworks, loginLimits } from '../../accounts/login-limiter.ts'
import { createInvitationRate } from '../../accounts/members/invitation-rate.ts'
import { createRecoveryRate } from '../../accounts/recovery-limiter.ts'
import { relyingPartyOf } from '../../accounts/rules/relying-party.ts'
import { CODE_LIMITS } from '../../accounts/second-factor.ts'
import { auditLog } from '../../accounts/store/audit-log.ts'
import { accountMailCollections } from '../../accounts/store/collections.ts'
import { sessions } from '../../accounts/store/sessions.ts'
import { users } from '../../accounts/store/users.ts'
import { mountReference } from '../../platform/http/reference/reference-page.ts'
import { createRouter } from '../../platform/http/web-app.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { mountOperator } from '../administration/http/administration.ts'
import { CERTIFICATES } from '../administration/store/certificates.ts'
import { mountCredentials } from '../credentials/http/smtp-credentials.ts'
import { mountTokens } from '../credentials/http/tokens.ts'
import { countCredentialsMadeBy, credentials } from '../credentials/store/smtp-credentials.ts'
import { countTokensMadeBy, tokens } from '../credentials/store/tokens.ts'
import { mountQueueControl } from '../delivery/control/http/queue.ts'
import { holds } from '../delivery/control/store/holds.ts'
import { queueActions } from '../delivery/control/store/queue-actions.ts'
import { createDnsDeps } from '../dns/dns-context.ts'
import { createRequestedChecks } from '../domains/checks/requested-checks.ts'
import { mountDnsAccounts } from '../domains/dns-accounts/http/dns-accounts.ts'
import { mountDomainDns } from '../domains/http/domain-dns.ts'
import { mountDomains } from '../domains/http/domains.ts'
import { dnsCollections } from '../domains/store/dns-collections.ts'
import { domains } from '../domains/store/domain-model.ts'
import { mountLimits } from '../limits/http/limits.ts'
import { QUOTAS, recipientsToday } from '../limits/store/quota-leases.ts'
import { RATES } from '../limits/store/rate-leases.ts'
import { sendingLimits } from '../limits/store/sending-limits.ts'
import { mountMessageViews } from '../log/http/views.ts'
import { MESSAGE_VIEWS } from '../log/store/message-views.ts'
import { mountDomainReports } from '../reports/http/domain-reports.ts'
import { createTakeUpload } from '../reports/http/read-upload.ts'
import { mountReportIntake } from '../reports/http/report-intake.ts'
import { reportCollections } from '../reports/store/report-model.ts'
import { mountUnsubscribePage } from '../streams/http/unsubscribe-page.ts'
import { mountSuppressions } from '../suppressions/http/suppressions.ts'
import { SUPPRESSIONS } from '../suppressions/store/suppressions.ts'
import { mountTemplates } from '../templates/http/templates.ts'
import { templatePreviews } from '../templates/store/previews.ts'
import { templates, templateVersions } from '../templates/store/templates.ts'
import { mountTrackingLinks } from '../tracking/http/tracking-links.ts'
import { mountMailWebhooks } from '../webhooks/http/webhooks.ts'
import { webhookCollections } from '../webhooks/store/webhook-collections.ts'
import { mailDocument } from './openapi.ts'
import { authoriseWith } from './shared/authorise.ts'
import type { MailHttpDeps } from './shared/context.ts'
import { loginRate, requestLimits, withRates } from './shared/rate-limit.ts'

/** The collections that the management API works on; a main calls ensureIndexes with them. */
export const managementCollections = [
  users,
  sessions,
  auditLog,
  loginLimits,
  requestLimits,
  knownNetworks,
  ...accountMailCollections,
  domains,
  credentials,
  tokens,
  templates,
  templateVersions,
  templatePreviews,
  QUOTAS,
  SUPPRESSIONS,
  RATES,
  holds,
  queueActions,
  sendingLimits,
  CERTIFICATES,
  MESSAGE_VIEWS,
  ...webhookCollections,
  ...dnsCollections,
  ...reportCollections,
]

/** Mounts the management API on the application. */
export function mountMailApi(
  app: Koa,
  foundation: Foundation,
  { subscriptionRole }: Pick<AccountsHttpDeps, 'subscriptionRole'>,
): void {
  const { config, mongo, clock, metrics } = foundation
  const router = createRouter()
  const authorise = withRates(authoriseWith(foundation), mongo.db, config)
  const audit = createAudit({ db: mongo.db, clock })
  const deps: MailHttpDeps = {
    ...foundation,
    authorise,
    audit,
    policy: { requireVerified: config.SEND_REQUIRES_VERIFIED, capture: config.DELIVERY_MODE === 'capture' },
  }
  const limiter = createLoginLimiter({ db: mongo.db, metrics, channel: 'panel' })
  mountAccounts(router, {
    ...deps,
    limiter,
    codes: createLoginLimiter({ db: mongo.db, metrics, channel: 'second-factor' }, CODE_LIMITS),
    loginRate: loginRate(mongo.db, config),
    recoveryRate: createRecoveryRate(mongo.db),
    cookie: sessionCookie(config.APP_BASE_URL),
    passwordLogin: config.PASSWORD_LOGIN,
    oidc: oidcLogins(foundation),
    relyingParty: relyingPartyOf(config.APP_BASE_URL),
    deliveryMode: config.DELIVERY_MODE,
    subscriptionRole,
    invitationRate: createInvitationRate(mongo.db),
    credentialsMadeBy: async (accountId, userId) => ({
      tokens: await countTokensMadeBy(mongo.db, accountId, userId),
      smtp_credentials: await countCredentialsMadeBy(mongo.db, accountId, userId),
    }),
    recipientsToday: accountIds => recipientsToday(mongo.db, accountIds, clock.now()),
    businessTimeZone: config.BUSINESS_TZ,
  })
  const dns = createDnsDeps(foundation)
  const checks = createRequestedChecks(dns)
  mountDomains(router, deps, dns, checks)
  mountDomainDns(router, deps, dns, checks)
  const takeUpload = createTakeUpload(foundation)
  mountDomainReports(router, deps, takeUpload)
  mountReportIntake(app, foundation, takeUpload)
  mountUnsubscribePage(app, foundation)
  mountTrackingLinks(app, foundation)
  mountDnsAccounts(router, deps, dns, checks)
  mountCredentials(router, deps)
  mountTokens(router, deps)
  mountSuppressions(router, deps)
  mountMailWebhooks(router, deps)
  mountLimits(router, deps)
  mountQueueControl(router, deps)
  mountTemplates(router, deps)
  mountMessageViews(router, deps)
  mountOperator(router, deps, dns)
  mountReference(router, mailDocument(config.APP_BASE_URL))
  app.use(router.routes())
}
