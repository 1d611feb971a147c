/** Amazon Route 53: public hosted zones, changed in transactions that name the sets that they replace. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { isWithin, mayBeZone, suffixesOf } from '../../records/names.ts'
import type { CloudContext } from '../http-call.ts'
import { loadEach, loadOnce } from '../load-once.ts'
import { type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { createSetProvider } from '../record-sets/set-provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { type AwsPod, podKeys } from './aws-keys.ts'
import { type HostedZone, Route53Client } from './client.ts'
import { ROUTE53_VALUES } from './values.ts'

/** Seconds. The API takes 0; less than a minute gains nothing for mail. */
const MIN_TTL = 60
/** Bytes of a TXT value; the API counts 4,000 characters with quotes and escapes. */
const MAX_TXT = 3_800

/** Dependencies of Route 53. */
export interface Route53Context extends CloudContext {
  pod: AwsPod
}

/** The hosted zones of an AWS account. */
export function createRoute53(credentials: CredentialsOf<'route53'>, context: Route53Context): DnsProvider {
  const keys = loadOnce(async () =>
    'workload_namespace' in credentials
      ? podKeys(context.pod, context)
      : { id: credentials.access_key_id, secret: credentials.secret_access_key },
  )
  const client = new Route53Client(keys.get, context)
  const { hosted_zone_id: zoneId } = credentials
  const only = loadEach(async id => {
    const { zone, nameServers } = await client.zone(id)
    if (!zone.isPrivate) return toZone(zone, nameServers)
    const reason = sentence('dns_provider.route53_private', { zone: zone.name })
    throw new DnsProviderError('route53', 'zone_not_found', reason)
  })
  const zoneNamed = loadEach(name => publicZone(client, name))
  const findZone = async (name: string): Promise<Zone | undefined> => {
    if (zoneId !== undefined) {
      const zone = await only(zoneId)
      return isWithin(name, zone.name) ? zone : undefined
    }
    for (const candidate of suffixesOf(name).filter(mayBeZone)) {
      const found = await zoneNamed(candidate)
      if (found) return only(found.id)
    }
    return undefined
  }
  return createSetProvider({
    type: 'route53',
    codec: ROUTE53_VALUES,
    writes: 'guarded',
    async test() {
      if (zoneId !== undefined) return [await only(zoneId)]
      const zones = (await client.zones()).filter(({ isPrivate }) => !isPrivate)
      const [first] = zones
      if (first) await client.sets(first.id, first.name, false, 1)
      return zones.map(zone => toZone(zone, []))
    },
    findZone,
    at: async (zone, name) => (await client.sets(zone.id, name, false)) ?? [],
    below: (zone, name, maxPages) => client.sets(zone.id, name, true, maxPages),
    write: (zone, changes, note) => client.change(zone.id, changes, note),
  })
}

async function publicZone(client: Route53Client, name: string): Promise<HostedZone | undefined> {
  const zones = (await client.zonesNamed(name)).filter(({ isPrivate }) => !isPrivate)
  if (zones.length > 1)
    throw new DnsProviderError(
      'route53',
      'zone_ambiguous',
      sentence('dns_provider.route53_ambiguous', { zone: name, count: zones.length }),
    )
  return zones[0]
}

function toZone({ id, name }: HostedZone, nameServers: string[]): Zone {
  return { id, name, minTtl: MIN_TTL, maxTxt: MAX_TXT, nameServers, warnings: [] }
}
