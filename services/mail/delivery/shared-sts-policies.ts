/** MTA-STS policies of a process: downloaded by it or by another worker, and refreshed by the job of one of them. */
import { Resolver } from 'node:dns/promises'
import type { Config } from '../../platform/process/config.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { refreshStsPolicies } from './refresh-sts-policies.ts'
import { type FetchPolicy, fetchStsPolicy, type ResolveRecords, withStoredPolicies } from './smtp/sts-policy.ts'
import { createStsPolicies } from './store/sts-policies.ts'

type Needs = Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log'>

/** Finds the policy of a domain: the stored one of all workers, and DNS and the policy host for a new one. */
export function sharedStsPolicies({ config, mongo, clock, log }: Needs): FetchPolicy {
  const now = () => clock.now().getTime()
  return withStoredPolicies(downloadOf(config, now), createStsPolicies(mongo.db, now), {
    now,
    onError: error => log.warn({ err: error }, 'stored MTA-STS policies cannot be read or written'),
  })
}

/** The job that refreshes stored policies; it has nothing to do unless mail is delivered directly. */
export async function refreshSharedStsPolicies({ config, mongo, clock }: Needs, signal: AbortSignal): Promise<void> {
  if (config.DELIVERY_MODE !== 'direct') return
  const now = () => clock.now().getTime()
  await refreshStsPolicies(createStsPolicies(mongo.db, now), downloadOf(config, now), signal)
}

function downloadOf(config: Config, now: () => number): FetchPolicy {
  return fetchStsPolicy(policyResolver(config), { allowPrivate: config.DELIVERY_ALLOW_PRIVATE, now })
}

/** Looks up what domains publish about TLS. */
export function policyResolver({ DNS_SERVERS }: Pick<Config, 'DNS_SERVERS'>): ResolveRecords {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  if (DNS_SERVERS.length > 0) resolver.setServers([...DNS_SERVERS])
  return (name, type) => resolver.resolve(name, type)
}
