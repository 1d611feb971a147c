/** Google Cloud DNS: public managed zones of a project, changed in transactions that name the sets that they replace. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { canonicalName, isWithin, longestZone } from '../../records/names.ts'
import type { CloudContext } from '../http-call.ts'
import { loadOnce } from '../load-once.ts'
import { type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { createSetProvider } from '../record-sets/set-provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { parseServiceAccountKey } from '../rules/service-account-key.ts'
import { type GoogleSettings, keyAccess, podAccess } from './access.ts'
import { GoogleDnsClient, type ManagedZone } from './client.ts'

/** Seconds. The API takes 0; less than a minute gains nothing for mail. */
const MIN_TTL = 60
/** Bytes. No limit of a value is documented; a set takes part in limits of the project. An assumption. */
const MAX_TXT = 4_000
/** Zones that a test of the credentials returns. */
const MAX_TEST_ZONES = 100

/** Dependencies of Google Cloud DNS. */
export interface GoogleContext extends CloudContext {
  settings: GoogleSettings
}

/** The managed zones of a Google Cloud project. */
export function createGoogle(credentials: CredentialsOf<'google'>, context: GoogleContext): DnsProvider {
  const access = loadOnce(async () => {
    const found = await ('workload_namespace' in credentials
      ? podAccess(context.settings, context)
      : keyAccess(keyOf(credentials.service_account_key), context.settings, context))
    return { ...found, project: credentials.project ?? found.project }
  })
  const client = new GoogleDnsClient(access.get, context)
  const { managed_zone: only } = credentials
  const zones = loadOnce(async () =>
    (await client.zones())
      .filter(({ visibility, name }) => visibility === 'public' && (only === undefined || name === only))
      .map(toZone),
  )
  return createSetProvider({
    type: 'google',
    writes: 'guarded',
    async test() {
      zones.reset()
      const found = await zones.get()
      const [first] = found
      if (first) await client.sets(first.id, first.name)
      else if (only !== undefined)
        throw new DnsProviderError('google', 'zone_not_found', sentence('dns_provider.zone_gone', { zone: only }))
      return found.slice(0, MAX_TEST_ZONES)
    },
    async findZone(name) {
      const all = await zones.get()
      const zone = longestZone(all, name)
      const count = all.filter(other => other.name === zone?.name).length
      if (zone === undefined || count === 1) return zone
      const reason = sentence('dns_provider.google_ambiguous', { zone: zone.name, count })
      throw new DnsProviderError('google', 'zone_ambiguous', reason)
    },
    at: async (zone, name) => (await client.sets(zone.id, name)) ?? [],
    // The API filters by a complete name only.
    below: async (zone, name, maxPages) =>
      (await client.sets(zone.id, undefined, maxPages))?.filter(set => isWithin(set.name, name)),
    write: (zone, changes) => client.change(zone.id, changes),
  })
}

function keyOf(text: string) {
  const key = parseServiceAccountKey(text)
  if (key) return key
  throw new DnsProviderError('google', 'auth', sentence('dns_provider.google_key'))
}

function toZone({ name, dnsName, nameServers }: ManagedZone): Zone {
  return { id: name, name: canonicalName(dnsName), minTtl: MIN_TTL, maxTxt: MAX_TXT, nameServers, warnings: [] }
}
