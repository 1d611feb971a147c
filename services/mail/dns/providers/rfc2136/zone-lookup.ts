/** Finds the zones that a server is authoritative for, by the SOA records of its answers. */
import { type Decoded, TYPE } from '../../dns-message.ts'
import { isWithin } from '../../records/names.ts'
import { loadEach } from '../load-once.ts'
import { DnsProviderError, type Zone } from '../provider.ts'
import { RCODE, type Rfc2136Client } from './client.ts'

/** Bytes. TXT data may fill a message; this leaves room for signature and prerequisites. */
const MAX_TXT = 4_000

/** Zones found so far; a provider is used for a minute only. */
export interface ZoneLookup {
  /** The zone that this server serves the name from; an update sent to its parent would never be served. */
  find(name: string): Promise<Zone | undefined>
  /** The zone that an answer about the name comes from; undefined for a referral to other servers. */
  ofAnswer(answer: Decoded, name: string): Promise<Zone | undefined>
  /** True when no zone holds the name, as far as that is known without a query. */
  isKnownOutside(name: string): Promise<boolean>
  rememberOutside(name: string): void
}

/** `within`: names outside of this zone are never looked up. */
export function createZoneLookup(client: Rfc2136Client, within: string | undefined): ZoneLookup {
  const zones = new Map<string, Promise<Zone | undefined>>()
  const isOutside = (name: string) => within !== undefined && !isWithin(name, within)
  const find: ZoneLookup['find'] = loadEach(async (name): Promise<Zone | undefined> => {
    if (isOutside(name)) return undefined
    const answer = await client.query(name, TYPE.SOA).catch(undefinedWhenRefused)
    return answer && (isAlias(answer, name) ? find(parentOf(name)) : zoneIn(answer, name))
  }, zones)
  return {
    find,
    async ofAnswer(answer, name) {
      if (!answer.aa || (answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN)) return undefined
      return (answer.answers.length === 0 ? zoneIn(answer, name) : undefined) ?? find(name)
    },
    isKnownOutside: async name => isOutside(name) || (zones.has(name) && !(await find(name))),
    rememberOutside: name => void zones.set(name, Promise.resolve(undefined)),
  }
}

/** Servers refuse queries for names that they do not serve. */
export function undefinedWhenRefused(error: unknown): undefined {
  if (error instanceof DnsProviderError && error.kind === 'permission') return undefined
  throw error
}

/** The answer for an alias describes its target; the alias itself is in the zone of its parent name. */
function isAlias({ answers }: Decoded, name: string): boolean {
  return answers.some(record => record.type === TYPE.CNAME && record.name === name)
}

/** The zone by the SOA record of an authoritative answer. */
function zoneIn({ aa, answers, authorities }: Decoded, name: string): Zone | undefined {
  const soa = [...answers, ...authorities].find(record => record.type === TYPE.SOA && isWithin(name, record.name))
  if (!aa || !soa) return undefined
  return { id: soa.name, name: soa.name, minTtl: 0, maxTxt: MAX_TXT, nameServers: [], warnings: [] }
}

function parentOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}
