/** Mounts the mail management API: sessions, accounts, domains, SMTP logins, tokens, and its OpenAPI document. */
import type Koa from 'koa'
import { createAudit } from '../../accounts/http/caller.ts'
import type { AccountsHttpDeps } from '../../accounts/http/deps.ts'
import { mountAccounts } from '../../accounts/http/index.ts'
import { sessionCookie } from '../../accounts/http/session-cookie.ts'
import { createLoginLimiter, knownNetworks, loginLimits } from '../../accounts/login-limiter.ts'
import { auditLog } from '../../accounts/store/audit.ts'
import { sessions } from '../../accounts/store/sessions.ts'
import { users } from '../../accounts/store/users.ts'
import type { Foundation } from '../../platform/run.ts'
import { createRouter } from '../../platform/web.ts'
import { createDnsDeps } from '../dns-deps.ts'
import { createRequestedChecks } from '../requested-checks.ts'
import { CERTIFICATES } from '../store/certificates.ts'
import { credentials } from '../store/credentials.ts'
import { dnsCollections } from '../store/dns-collections.ts'
import { domains } from '../store/domains.ts'
import { QUOTAS, recipientsToday } from '../store/quota.ts'
import { tokens } from '../store/tokens.ts'
import { authoriseWith } from './authorise.ts'
import type { MailHttpDeps } from './deps.ts'
import { mountDnsAccounts } from './dns-accounts.ts'
import { mountDomainDns } from './dns-domains.ts'
import { mountDomains } from './domains.ts'
import { mailDocument } from './openapi.ts'
import { mountOperator } from './operator.ts'
import { loginRate, requestLimits, withRates } from './rate-limit.ts'
import { mountCredentials } from './smtp-credentials.ts'
import { mountTokens } from './tokens.ts'

/** The collections that the management API works on; a main calls ensureIndexes with them. */
export const managementCollections = [
  users,
  sessions,
  auditLog,
  loginLimits,
  requestLimits,
  knownNetworks,
  domains,
  credentials,
  tokens,
  QUOTAS,
  CERTIFICATES,
  ...dnsCollections,
]

/** Puts the whole management API on the application. */
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
    loginRate: loginRate(mongo.db, config),
    cookie: sessionCookie(config.APP_BASE_URL),
    deliveryMode: config.DELIVERY_MODE,
    subscriptionRole,
    recipientsToday: accountIds => recipientsToday(mongo.db, accountIds, clock.now()),
    businessTimeZone: config.BUSINESS_TZ,
  })
  const dns = createDnsDeps(foundation)
  const checks = createRequestedChecks(dns)
  mountDomains(router, deps, dns, checks)
  mountDomainDns(router, deps, dns, checks)
  mountDnsAccounts(router, deps, dns, checks)
  mountCredentials(router, deps)
  mountTokens(router, deps)
  mountOperator(router, deps, dns)
  mountDocument(router, config.APP_BASE_URL)
  app.use(router.routes())
}

function mountDocument(router: ReturnType<typeof createRouter>, server: string): void {
  const document = mailDocument(server)
  router.get('/openapi.json', context => {
    context.state.route = '/openapi.json'
    context.body = document
  })
}
