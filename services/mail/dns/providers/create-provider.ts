/** Makes the provider of an account from its type and credentials. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isPublicAddress } from '../../../platform/network/public-address.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { Config } from '../../../platform/process/config.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { ServerAddress } from '../dns-transport.ts'
import { createAliyun } from './aliyun/aliyun.ts'
import { createCloudflare } from './cloudflare/cloudflare.ts'
import { createDnspod } from './dnspod/dnspod.ts'
import { type CallBudget, type DnsProvider, DnsProviderError, type ProviderType } from './provider.ts'
import { createRfc2136 } from './rfc2136/rfc2136.ts'
import type { CredentialsOf, DnsCredentials } from './rules/dns-credentials.ts'

/** The settings that providers follow. */
export type ProviderConfig = Pick<
  Config,
  'CLOUDFLARE_API_URL' | 'ALIYUN_DNS_ENDPOINT' | 'DNSPOD_ENDPOINT' | 'DNS_PORT' | 'DNS_ALLOW_PRIVATE'
>

/** Dependencies of {@link createProvider}. */
export interface ProviderDeps {
  config: ProviderConfig
  metrics: Metrics
  budget: CallBudget
  now: () => Date
}

/** A provider for these credentials. Makes no call. */
export function createProvider<P extends ProviderType>(
  type: P,
  credentials: CredentialsOf<P>,
  deps: ProviderDeps,
): DnsProvider {
  return build({ provider: type, credentials } as DnsCredentials, deps)
}

function build(account: DnsCredentials, { config, metrics, budget, now }: ProviderDeps): DnsProvider {
  const counted = (operation: string, outcome: string) =>
    metrics.dnsProviderCalls.inc({ provider: account.provider, operation, outcome })
  const cloud = (endpoint: string) => ({ endpoint, budget, now, counted })
  switch (account.provider) {
    case 'cloudflare':
      return createCloudflare(account.credentials, cloud(config.CLOUDFLARE_API_URL))
    case 'aliyun':
      return createAliyun(account.credentials, cloud(config.ALIYUN_DNS_ENDPOINT))
    case 'dnspod':
      return createDnspod(account.credentials, cloud(config.DNSPOD_ENDPOINT))
    case 'rfc2136':
      return createRfc2136(account.credentials, {
        budget,
        now,
        counted,
        serverAddress: server => addressOf(server, config),
      })
  }
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
