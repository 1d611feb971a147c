/** Makes the provider of an account from its type and credentials. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { guardedFetch } from '../../../platform/network/guarded-fetch.ts'
import { isPublicAddress } from '../../../platform/network/public-address.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { Config } from '../../../platform/process/config.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { ServerAddress } from '../dns-transport.ts'
import { createAliyun } from './aliyun/aliyun.ts'
import type { AzureSettings } from './azure/access.ts'
import { createAzure } from './azure/azure.ts'
import { createCloudflare } from './cloudflare/cloudflare.ts'
import { createDnspod } from './dnspod/dnspod.ts'
import type { GoogleSettings } from './google/access.ts'
import { createGoogle } from './google/google.ts'
import { type CallBudget, type DnsProvider, DnsProviderError, type ProviderType } from './provider.ts'
import { createRfc2136 } from './rfc2136/rfc2136.ts'
import type { AwsPod } from './route53/aws-keys.ts'
import { createRoute53 } from './route53/route53.ts'
import type { CredentialsOf, DnsCredentials } from './rules/dns-credentials.ts'
import type { WebhookContext } from './webhook/protocol.ts'
import { createWebhook } from './webhook/webhook.ts'

/** The settings that providers follow. */
export type ProviderConfig = Pick<
  Config,
  | 'CLOUDFLARE_API_URL'
  | 'ALIYUN_DNS_ENDPOINT'
  | 'DNSPOD_ENDPOINT'
  | 'DNS_PORT'
  | 'DNS_ALLOW_PRIVATE'
  | 'DNS_PRIVATE_WEBHOOKS'
  | 'DNS_WORKLOAD_IDENTITY_NAMESPACES'
  | 'ROUTE53_URL'
  | 'GOOGLE_DNS_URL'
  | 'AZURE_MANAGEMENT_URL'
  | keyof AzureSettings
  | keyof AwsPod
  | keyof GoogleSettings
>

/** The account that a provider is made for: that of a ClusterDNSProvider (`shared`), of a DNSProvider, or of a person. */
export interface ProviderAccount {
  _id: string
  shared?: unknown
  managed_by?: { namespace?: string | undefined } | undefined
}

/** Dependencies of {@link createProvider}. */
export interface ProviderDeps {
  account: ProviderAccount
  config: ProviderConfig
  metrics: Metrics
  budget: CallBudget
  now: () => Date
}

/**
 * A provider for these credentials. Makes no call. Throws {@link DnsProviderError} `permission` for the identity of the
 * pods in a namespace that may not use it.
 */
export function createProvider<P extends ProviderType>(
  type: P,
  credentials: CredentialsOf<P>,
  deps: ProviderDeps,
): DnsProvider {
  return build({ provider: type, credentials } as DnsCredentials, deps)
}

function build(given: DnsCredentials, { account, config, metrics, budget, now }: ProviderDeps): DnsProvider {
  const counted = (operation: string, outcome: string) =>
    metrics.dnsProviderCalls.inc({ provider: given.provider, operation, outcome })
  const cloud = (endpoint: string) => ({ endpoint, budget, now, counted })
  refuseIdentity(given, config)
  switch (given.provider) {
    case 'cloudflare':
      return createCloudflare(given.credentials, cloud(config.CLOUDFLARE_API_URL))
    case 'aliyun':
      return createAliyun(given.credentials, cloud(config.ALIYUN_DNS_ENDPOINT))
    case 'dnspod':
      return createDnspod(given.credentials, cloud(config.DNSPOD_ENDPOINT))
    case 'rfc2136':
      return createRfc2136(given.credentials, {
        budget,
        now,
        counted,
        serverAddress: server => addressOf(server, config),
      })
    case 'route53':
      return createRoute53(given.credentials, { ...cloud(config.ROUTE53_URL), pod: config })
    case 'google':
      return createGoogle(given.credentials, { ...cloud(config.GOOGLE_DNS_URL), settings: config })
    case 'azure':
      return createAzure(given.credentials, { ...cloud(config.AZURE_MANAGEMENT_URL), settings: config })
    case 'webhook':
      return createWebhook(given.credentials, {
        ...cloud(given.credentials.url),
        ...webhookAccess(given.credentials.url, config, account),
      })
  }
}

/**
 * The cloud identity of the pods is that of the installation, not of an account: only namespaces that an administrator
 * lists use it. The list counts at every use, so that a namespace that is removed from it stops.
 */
function refuseIdentity(
  { provider, credentials }: DnsCredentials,
  { DNS_WORKLOAD_IDENTITY_NAMESPACES: allowed }: Pick<Config, 'DNS_WORKLOAD_IDENTITY_NAMESPACES'>,
): void {
  if (!('workload_namespace' in credentials)) return
  const { workload_namespace: namespace } = credentials
  if (allowed.includes('*') || allowed.includes(namespace)) return
  throw new DnsProviderError(provider, 'permission', sentence('dns_provider.identity_not_allowed', { namespace }), {
    permission: `DNS_WORKLOAD_IDENTITY_NAMESPACES=${namespace}`,
  })
}

/** Shared by all accounts: each has a pool of connections. */
const PUBLIC_ONLY = guardedFetch(false)
const ANYWHERE = guardedFetch(true)

/**
 * The addresses that the provider at a URL may have: public ones over TLS, or any for a host that an administrator lists
 * for this account. Such a provider has no login: its address is all that keeps others from writing with it. Accounts
 * choose the URL, so that DNS_ALLOW_PRIVATE, which is about name servers, does not count.
 */
export function webhookAccess(
  url: string,
  config: Pick<Config, 'DNS_PRIVATE_WEBHOOKS'>,
  account: ProviderAccount,
): Pick<WebhookContext, 'allowPrivate' | 'guardedFetch'> {
  const { host, hostname } = new URL(url)
  const allowPrivate = config.DNS_PRIVATE_WEBHOOKS.some(entry => {
    const [, owner, allowed = ''] = /^(?:([^/]*)\/)?(.*)$/.exec(entry.toLowerCase()) ?? []
    if (!isOwner(account, owner)) return false
    return allowed === host || allowed === hostname || (allowed.startsWith('*.') && hostname.endsWith(allowed.slice(1)))
  })
  return { allowPrivate, guardedFetch: allowPrivate ? ANYWHERE : PUBLIC_ONLY }
}

/** Without an owner an entry is for ClusterDNSProviders, which administrators make. */
function isOwner({ shared, managed_by }: ProviderAccount, owner: string | undefined): boolean {
  if (shared !== undefined || owner === '*') return true
  return owner !== undefined && owner !== '' && managed_by?.namespace === owner
}

/**
 * Resolves `host[:port]`; the port defaults to DNS_PORT. Throws {@link DnsProviderError} `unavailable` without an address,
 * or for a private one unless DNS_ALLOW_PRIVATE is set.
 */
export async function addressOf(
  server: string,
  config: Pick<Config, 'DNS_PORT' | 'DNS_ALLOW_PRIVATE'>,
): Promise<ServerAddress> {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:]+))(?::(?<port>\d+))?$/.exec(server)
  const host = match?.groups?.v6 ?? match?.groups?.host ?? ''
  const port = Number(match?.groups?.port ?? config.DNS_PORT)
  const addresses = isIP(host) ? [host] : await resolveHost(host)
  const ip = config.DNS_ALLOW_PRIVATE ? addresses[0] : addresses.find(isPublicAddress)
  if (ip) return { ip, port }
  const reason = addresses.length === 0 ? 'dns_provider.host_unknown' : 'dns_provider.host_private'
  throw new DnsProviderError('rfc2136', 'unavailable', sentence(reason, { host }))
}

async function resolveHost(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}
