/**
 * Any DNS provider that speaks the webhook protocol of external-dns: a service that teams run for one of its dozens of
 * providers. What it answers is not trusted: only names of the account's zones are read and written, and each write is
 * compared with what the provider stores then.
 */
import { type Sentence, sentence } from '../../../../platform/sentences/sentence.ts'
import { isWithin, longestZone } from '../../records/names.ts'
import { loadOnce } from '../load-once.ts'
import { type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { createSetProvider } from '../record-sets/set-provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { domainsOf, serves } from './domain-filter.ts'
import { ENDPOINT_VALUES, toSets } from './endpoint-sets.ts'
import { WebhookClient, type WebhookContext } from './protocol.ts'
import { writeEndpoints } from './write-endpoints.ts'

/** Bytes. Providers have limits of their own and report them. */
const MAX_TXT = 4_000
/** Zones that a test of the credentials returns. */
const MAX_TEST_ZONES = 100

/** A webhook provider. */
export function createWebhook(credentials: CredentialsOf<'webhook'>, context: WebhookContext): DnsProvider {
  const client = new WebhookClient(credentials, context)
  const filter = loadOnce(() => client.negotiate())
  const zones = async () => {
    const known = await filter.get()
    const names = credentials.zones ?? domainsOf(known)
    if (names.length === 0) throw noZone(sentence('dns_provider.webhook_zones'))
    const unserved = credentials.zones?.find(name => !serves(known, name) && !serves(known, `x.${name}`))
    if (unserved !== undefined) throw noZone(sentence('dns_provider.webhook_zone_unserved', { zone: unserved }))
    return names.map(toZone)
  }
  const findZone = async (name: string) => {
    const zone = longestZone(await zones(), name)
    return zone && (name === zone.name || serves(await filter.get(), name)) ? zone : undefined
  }
  const setsWhere = async (zone: Zone, wanted: (name: string) => boolean) =>
    toSets(await client.records(), zone.name).filter(({ name }) => wanted(name))
  return createSetProvider({
    type: 'webhook',
    codec: ENDPOINT_VALUES,
    writes: 'together',
    async test() {
      filter.reset()
      const found = await zones()
      await client.records()
      return found.slice(0, MAX_TEST_ZONES)
    },
    findZone,
    at: (zone, name) => setsWhere(zone, other => other === name),
    // The protocol has one list, with everything.
    below: (zone, parent) => setsWhere(zone, name => isWithin(name, parent)),
    async write(zone, changes) {
      const known = await filter.get()
      for (const { name } of changes.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()))
        if (!isWithin(name, zone.name) || !serves(known, name))
          throw noZone(sentence('dns_provider.webhook_name_unserved', { name }))
      await writeEndpoints(client, zone.name, changes)
    },
  })
}

function toZone(name: string): Zone {
  return { id: name, name, minTtl: 0, maxTxt: MAX_TXT, nameServers: [], warnings: [] }
}

function noZone(reason: Sentence): DnsProviderError {
  return new DnsProviderError('webhook', 'zone_not_found', reason)
}
