/**
 * Dynamic update (RFC 2136) with TSIG: BIND, Knot, PowerDNS and others. The only provider with compare-and-set: every
 * change names the record set that it saw, so a change by another program in between is never lost.
 */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { TYPE } from '../../dns-message.ts'
import type { StoredRecord, WantedRecord } from '../../records/record.ts'
import { type DnsProvider, DnsProviderError, type NameState, type Question, type Zone } from '../provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { RCODE, Rfc2136Client, type UpdateContext, updateRefused } from './client.ts'
import {
  absent,
  deletion,
  type RawRecord,
  recordsAt,
  setIs,
  toRaw,
  toRecord,
  toUpdate,
  withoutRaw,
} from './update-records.ts'
import { createZoneLookup, undefinedWhenRefused, type ZoneLookup } from './zone-lookup.ts'

/** Types of records that a list contains. */
const LISTED_TYPES = ['TXT', 'A', 'AAAA', 'MX'] as const

/** A zone on an authoritative server that accepts signed updates. */
export function createRfc2136(credentials: CredentialsOf<'rfc2136'>, context: UpdateContext): DnsProvider {
  const client = new Rfc2136Client(credentials, context)
  const zones = createZoneLookup(client, credentials.zone)
  return {
    type: 'rfc2136',
    test: () => testAccess(client, zones, credentials.zone),
    findZone: zones.find,
    list: async (zone, name) => (await listRaw(client, zone, name)).map(withoutRaw),
    async read([first, ...rest]) {
      if (!first) return []
      // The first alone: a server that is down is asked once, not once for each name.
      const state = await readName(client, zones, first)
      return [state, ...(await Promise.all(rest.map(question => readName(client, zones, question))))]
    },
    batch: {
      guarded: true,
      async write(zone, changes, seen) {
        const { prerequisites, updates, stored } = toUpdate(changes, seen)
        await client.update(zone, prerequisites, updates)
        return stored
      },
    },
    create: (zone, record) => createRecord(client, zone, record),
    update: (zone, before, record) => updateRecord(client, zone, before, record),
    remove: (zone, record) => removeRecord(client, zone, record),
  }
}

async function testAccess(client: Rfc2136Client, zones: ZoneLookup, name: string | undefined): Promise<Zone[]> {
  if (name === undefined) {
    await client.query('', TYPE.SOA).catch(undefinedWhenRefused) // the server checks the key before the name
    return []
  }
  const zone = await zones.find(name)
  if (!zone)
    throw new DnsProviderError('rfc2136', 'zone_not_found', sentence('dns_provider.not_authoritative', { zone: name }))
  await client.update(zone, [], []) // an empty update changes nothing and passes the same checks
  return [zone]
}

/** One query for each type; without records its answer also names the zone. */
async function readName(client: Rfc2136Client, zones: ZoneLookup, { name, types }: Question): Promise<NameState> {
  const [first = 'TXT', ...more] = types.includes('CNAME') ? LISTED_TYPES : types.filter(type => type !== 'CNAME')
  const answer = (await zones.isKnownOutside(name))
    ? undefined
    : await client.query(name, TYPE[first]).catch(undefinedWhenRefused)
  const zone = answer && (await zones.ofAnswer(answer, name))
  if (!zone) {
    zones.rememberOutside(name)
    return { name, records: [] }
  }
  const isMissing = answer.rcode === RCODE.NXDOMAIN
  const others = isMissing ? [] : await Promise.all(more.map(type => client.query(name, TYPE[type])))
  const found = [answer, ...others].flatMap(({ answers }) => recordsAt(answers, name))
  return { name, zone, records: [...new Map(found.map(record => [record.id, withoutRaw(record)])).values()] }
}

async function listRaw(client: Rfc2136Client, zone: Zone, name: string): Promise<RawRecord[]> {
  const records = new Map<string, RawRecord>()
  for (const type of LISTED_TYPES) {
    const { rcode, aa, answers } = await client.query(name, TYPE[type])
    if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) throw updateRefused(rcode, zone.name)
    if (!aa) {
      const reason = sentence('dns_provider.delegated_away', { name, zone: zone.name })
      throw new DnsProviderError('rfc2136', 'zone_not_found', reason)
    }
    for (const record of recordsAt(answers, name)) records.set(record.id, record)
    if (rcode === RCODE.NXDOMAIN) break
  }
  return [...records.values()]
}

async function createRecord(client: Rfc2136Client, zone: Zone, record: WantedRecord): Promise<StoredRecord> {
  const { name, type, value } = record
  const current = await listRaw(client, zone, name)
  if (current.some(other => other.type === 'CNAME') || (type === 'CNAME' && current.length > 0)) {
    throw new DnsProviderError('rfc2136', 'conflict', sentence('dns_provider.cname_conflict', { name }))
  }
  const set = current.filter(other => other.type === type)
  if (set.some(other => other.value === value))
    throw new DnsProviderError('rfc2136', 'duplicate', sentence('dns_provider.record_exists'))
  const added = toRaw(record, set[0]?.ttl)
  await client.update(zone, [...setIs(record, set), absent(name, TYPE.CNAME)], [added])
  return withoutRaw(toRecord(added))
}

async function updateRecord(
  client: Rfc2136Client,
  zone: Zone,
  before: StoredRecord,
  record: WantedRecord,
): Promise<StoredRecord> {
  const { set, current } = await setOf(client, zone, before)
  if (!current) throw new DnsProviderError('rfc2136', 'changed', sentence('dns_provider.record_changed'))
  const added = toRaw(record, set.length > 1 ? current.ttl : undefined)
  await client.update(zone, setIs(before, set), [deletion(current.raw), added])
  return withoutRaw(toRecord(added))
}

async function removeRecord(client: Rfc2136Client, zone: Zone, record: StoredRecord): Promise<void> {
  const { set, current } = await setOf(client, zone, record)
  if (current) await client.update(zone, setIs(record, set), [deletion(current.raw)])
}

/** The record set of a record, and the record itself unless it changed. */
async function setOf(client: Rfc2136Client, zone: Zone, { id, name, type }: StoredRecord) {
  const set = (await listRaw(client, zone, name)).filter(other => other.type === type)
  return { set, current: set.find(other => other.id === id) }
}
