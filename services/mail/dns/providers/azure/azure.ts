/** Azure DNS: public zones of a subscription. Each set is written with the ETag that it was read with. */

import { sentence } from '../../../../platform/sentences/sentence.ts'
import { canonicalName, isWithin, longestZone } from '../../records/names.ts'
import type { CloudContext } from '../http-call.ts'
import { loadOnce } from '../load-once.ts'
import { type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { createSetProvider } from '../record-sets/set-provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { type AzureSettings, azureToken } from './access.ts'
import { AzureDnsClient, type AzureZone } from './client.ts'

/** Seconds. The API takes 1; less than a minute gains nothing for mail. */
const MIN_TTL = 60
/** Bytes of a TXT value, as the documentation of Azure DNS says. */
const MAX_TXT = 4_096
/** Zones that a test of the credentials returns. */
const MAX_TEST_ZONES = 100

/** Dependencies of Azure DNS. */
export interface AzureContext extends CloudContext {
  settings: AzureSettings
}

interface ZoneWithResource extends Zone {
  resource: AzureZone
}

/** The public zones of an Azure subscription. */
export function createAzure(credentials: CredentialsOf<'azure'>, context: AzureContext): DnsProvider {
  const token = loadOnce(() => azureToken(credentials, context.settings, context))
  const { subscription_id, resource_group } = credentials
  const client = new AzureDnsClient(subscription_id, resource_group, token.get, context)
  const zones = loadOnce(async () =>
    (await client.zones()).filter(({ properties }) => properties.zoneType !== 'Private').map(toZone),
  )
  // Zones of more than one page: a name takes a call for each type there, and one call elsewhere.
  const large = new Set<string>()
  return createSetProvider<ZoneWithResource>({
    type: 'azure',
    writes: 'single',
    async test() {
      zones.reset()
      const found = await zones.get()
      const [first] = found
      if (first) await client.setsAt(first.resource, first.name)
      return found.slice(0, MAX_TEST_ZONES).map(({ resource: _, ...zone }) => zone)
    },
    async findZone(name) {
      const all = await zones.get()
      const zone = longestZone(all, name)
      const count = all.filter(other => other.name === zone?.name).length
      if (zone === undefined || count === 1) return zone
      const reason = sentence('dns_provider.azure_ambiguous', { zone: zone.name, count })
      throw new DnsProviderError('azure', 'zone_ambiguous', reason)
    },
    async at({ id, resource }, name) {
      const all = large.has(id) ? undefined : await client.sets(resource, 1)
      if (all) return all.filter(set => set.name === name)
      large.add(id)
      return client.setsAt(resource, name)
    },
    // The API filters by a suffix only, without the name itself.
    below: async (zone, name, maxPages) =>
      (await client.sets(zone.resource, maxPages))?.filter(set => isWithin(set.name, name)),
    async write(zone, changes) {
      for (const change of changes) await client.write(zone.resource, change)
    },
  })
}

function toZone(resource: AzureZone): ZoneWithResource {
  const nameServers = resource.properties.nameServers ?? []
  const name = canonicalName(resource.name)
  return { id: resource.id, name, minTtl: MIN_TTL, maxTxt: MAX_TXT, nameServers, warnings: [], resource }
}
