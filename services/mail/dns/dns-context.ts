/** Dependencies of the use cases on DNS, and their construction in a process. */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import { type Config, ConfigError } from '../../platform/process/config.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { createSecrets, SecretError, type Secrets } from '../../platform/security/secrets.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { aliasTargetOf } from '../message/tracking-host.ts'
import { createProvider, type ProviderAccount } from './providers/create-provider.ts'
import { type CallBudget, type DnsProvider, DnsProviderError, type ProviderType } from './providers/provider.ts'
import { ALLOWANCES } from './providers/rules/call-budget.ts'
import { type DnsCredentials, storedCredentials } from './providers/rules/dns-credentials.ts'
import { scopedProvider } from './providers/scoped-provider.ts'
import { BudgetExhausted, blockCalls, takeCall } from './providers/store/call-budgets.ts'
import { type SendingHost, spfViolations } from './records/guidance.ts'
import { createResolver, type Resolver } from './resolver.ts'

/** Dependencies of every use case on DNS. */
export interface DnsDeps {
  db: Db
  clock: Clock
  secrets: Secrets
  log: Log
  metrics: Metrics
  config: Config
  resolver: Resolver
  /** The provider for credentials; calls count against the account's limit. */
  provider: (account: ProviderAccount, credentials: DnsCredentials) => DnsProvider
  /** A number in [0, 1). */
  random: () => number
}

/** The DNS parts of a process. Throws {@link ConfigError} for SPF mechanisms that receivers cannot read. */
export function createDnsDeps({
  config,
  mongo: { db },
  clock,
  secrets,
  log,
  metrics,
}: Omit<Foundation, 'probes'>): DnsDeps {
  const { unreadable, unnamed } = spfViolations(sendingHost(config))
  if (unreadable.length > 0)
    throw new ConfigError(
      unreadable.map(term => ({
        setting: 'DEFAULT_SPF_MECHANISMS',
        reason: sentence('field.spf_mechanism', { term }),
      })),
    )
  if (unnamed) log.warn({ host: config.MAIL_HOSTNAME }, 'MAIL_HOSTNAME is no public name: SPF records need SENDING_IP')
  return {
    db,
    clock,
    secrets,
    log,
    metrics,
    config,
    resolver: createResolver({
      servers: config.DNS_SERVERS,
      port: config.DNS_PORT,
      allowPrivate: config.DNS_ALLOW_PRIVATE,
    }),
    provider: rememberProviders((account, { provider, credentials }) =>
      createProvider(provider, credentials, {
        account,
        config,
        metrics,
        budget: sharedBudget(db, clock, account._id, provider),
        now: () => clock.now(),
      }),
    ),
    random: Math.random,
  }
}

/** Milliseconds that a provider is shared by all domains of its account: it remembers its zones. */
const PROVIDER_MS = 60_000

/** Returns the same provider for the same credentials for a minute: many domains then share one search for zones. */
function rememberProviders(make: DnsDeps['provider']): DnsDeps['provider'] {
  const known = new Map<string, { until: number; credentials: DnsCredentials; provider: DnsProvider }>()
  return (account, credentials) => {
    const now = performance.now()
    for (const [id, { until }] of known) if (until <= now) known.delete(id)
    const found = known.get(account._id)
    if (found && isDeepStrictEqual(found.credentials, credentials)) return found.provider
    const provider = make(account, credentials)
    known.set(account._id, { until: now + PROVIDER_MS, credentials, provider })
    return provider
  }
}

const CREDENTIALS_LOST = sentence('dns_provider.credentials_lost')

/**
 * The provider of a stored account, restricted to the domains of a shared one. Throws {@link DnsProviderError} `auth` for
 * credentials that cannot be unsealed.
 */
export function providerOf(
  deps: DnsDeps,
  account: ProviderAccount & { provider: ProviderType; sealed: string; shared?: { domains: readonly string[] } },
): DnsProvider {
  try {
    const provider = deps.provider(account, openCredentials(deps.secrets, account))
    return account.shared ? scopedProvider(provider, account.shared.domains) : provider
  } catch (error) {
    if (error instanceof SecretError) throw new DnsProviderError(account.provider, 'auth', CREDENTIALS_LOST)
    throw error
  }
}

/** Seals credentials to their account. */
export function sealCredentials(secrets: Secrets, accountId: string, credentials: DnsCredentials): string {
  return secrets.seal('dns-credential', `dns-accounts/${accountId}`, JSON.stringify(credentials))
}

/** The inverse of {@link sealCredentials}. Throws SecretError. */
export function openCredentials(secrets: Secrets, { _id, sealed }: { _id: string; sealed: string }): DnsCredentials {
  const opened: unknown = JSON.parse(secrets.open('dns-credential', `dns-accounts/${_id}`, sealed))
  const { data } = storedCredentials.safeParse(opened)
  // An earlier version accepted other credentials. The violation is not reported: it may repeat the secret.
  if (!data) throw new SecretError('the sealed credentials are not of a kind that is taken today')
  return data
}

/** What this installation publishes about itself. */
export function sendingHost(config: Config): SendingHost {
  const { MAIL_HOSTNAME, SENDING_IP, DEFAULT_SPF_MECHANISMS, BOUNCE_DOMAIN, APP_BASE_URL, SESSION_SECRET } = config
  return {
    hostname: MAIL_HOSTNAME,
    addresses: SENDING_IP,
    spfMechanisms: DEFAULT_SPF_MECHANISMS,
    ...(BOUNCE_DOMAIN && { bounceDomain: BOUNCE_DOMAIN }),
    trackingTarget: aliasTargetOf(APP_BASE_URL),
    reports: {
      mac: value => createSecrets(SESSION_SECRET).macs('report-address', value),
      // Senders report over HTTPS only (RFC 8460 section 3).
      baseUrl: APP_BASE_URL.startsWith('https://') ? APP_BASE_URL : undefined,
      mailDomain: BOUNCE_DOMAIN,
    },
  }
}

/** One budget for an account over all processes. */
function sharedBudget(db: Db, clock: Clock, account: string, provider: ProviderType): CallBudget {
  return {
    async take() {
      try {
        await takeCall(db, clock, account, ALLOWANCES[provider])
      } catch (error) {
        if (!(error instanceof BudgetExhausted)) throw error
        const { retryAfter } = error
        const reason = sentence('dns_provider.limit_reached', { seconds: retryAfter })
        throw new DnsProviderError(provider, 'rate_limited', reason, { retryAfter })
      }
    },
    block: seconds => blockCalls(db, clock, account, seconds),
  }
}
