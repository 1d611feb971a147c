/** Cloudflare: zones are found by name or by the zone id of the credentials, writes go out in transactions. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { canonicalName, isWithin, mayBeZone, suffixesOf } from '../../records/names.ts'
import { parseMx, parseTxt, quoteTxt, type StoredRecord, type WantedRecord } from '../../records/record.ts'
import { type CloudContext, ignoreNotFound } from '../http-call.ts'
import { loadEach } from '../load-once.ts'
import { type Change, type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { readNames } from '../read-names.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import {
  CloudflareClient,
  type CloudflareRecord,
  type CloudflareZone,
  missingPermission,
  PERMISSIONS,
} from './client.ts'

type Credentials = CredentialsOf<'cloudflare'>

/** Seconds. 60 is the minimum of all plans but Enterprise; less than 300 gains nothing for mail. */
const MIN_TTL = 300
/** Bytes. Cloudflare documents no limit; 2048 characters is what its dashboard accepts. An assumption. */
const MAX_TXT = 2048
/** Characters of a record's comment. */
const MAX_COMMENT = 100

/** A Cloudflare account with one API token. */
export function createCloudflare(credentials: Credentials, context: CloudContext): DnsProvider {
  const client = new CloudflareClient(credentials.api_token, context)
  const findZone = zoneFinder(client, credentials.zone_id)
  const at = (zone: Zone, name: string) => recordsAt(client, zone, name)
  const below = (zone: Zone, name: string, maxPages: number) => recordsBelow(client, zone, name, maxPages)
  return {
    type: 'cloudflare',
    test: () => testAccess(client, credentials.zone_id),
    findZone,
    list: at,
    read: questions => readNames({ findZone, at, below }, questions),
    batch: {
      guarded: false,
      write: (zone, changes, _seen, note) => writeBatch(client, zone, changes, note),
    },
    create: async (zone, record, note) => toRecord(await client.createRecord(zone.id, toPost(record, note))),
    update: async (zone, before, record) => toRecord(await client.updateRecord(zone.id, before.id, toBody(record))),
    remove: (zone, record) => client.deleteRecord(zone.id, record.id).catch(ignoreNotFound),
  }
}

async function testAccess(client: CloudflareClient, zoneId: string | undefined): Promise<Zone[]> {
  const zones = zoneId ? [await client.zone(zoneId)] : await client.zones()
  const [first] = zones
  if (first?.permissions && !first.permissions.includes('#dns_records:edit')) throw missingPermission(PERMISSIONS.write)
  if (first) await client.assertRecordAccess(first.id)
  return zones.map(toZone)
}

function zoneFinder(client: CloudflareClient, zoneId: string | undefined): DnsProvider['findZone'] {
  const zoneNamed = loadEach(name => findByName(client, name))
  const search = async (name: string) => {
    for (const candidate of suffixesOf(name).filter(mayBeZone)) {
      const zone = await zoneNamed(candidate)
      if (zone) return zone
    }
    return undefined
  }
  return loadEach(async name => {
    if (!zoneId) return search(name)
    const zone = toZone(await client.zone(zoneId))
    // The id names one zone; a token for that zone alone may not search for others.
    return isWithin(name, zone.name) ? zone : search(name).catch(undefinedWhenDenied)
  })
}

async function findByName(client: CloudflareClient, name: string): Promise<Zone | undefined> {
  const zones = await client.zones(name)
  if (zones.length > 1)
    throw new DnsProviderError(
      'cloudflare',
      'zone_ambiguous',
      sentence('dns_provider.cloudflare_ambiguous', { zone: name, count: zones.length }),
    )
  return zones[0] && toZone(zones[0])
}

function undefinedWhenDenied(error: unknown): undefined {
  if (error instanceof DnsProviderError && error.kind === 'permission') return undefined
  throw error
}

async function recordsAt(client: CloudflareClient, zone: Zone, name: string): Promise<StoredRecord[]> {
  const records = (await client.records(zone.id, { 'name.exact': name })) ?? []
  return records.map(toRecord).filter(record => record.name === name)
}

async function recordsBelow(client: CloudflareClient, zone: Zone, name: string, maxPages: number) {
  const filter = name === zone.name ? {} : { 'name.endswith': name }
  return (await client.records(zone.id, filter, maxPages))?.map(toRecord)
}

async function writeBatch(
  client: CloudflareClient,
  zone: Zone,
  changes: readonly Change[],
  note: string,
): Promise<(StoredRecord | undefined)[]> {
  const { updated, created } = await client.batch(zone.id, {
    deletes: changes.flatMap(change => (change.action === 'delete' ? [{ id: change.before.id }] : [])),
    patches: changes.flatMap(change =>
      change.action === 'update' ? [{ id: change.before.id, ...toBody(change.record) }] : [],
    ),
    posts: changes.flatMap(change => (change.action === 'create' ? [toPost(change.record, note)] : [])),
  })
  return changes.map(({ action }) => {
    const record = action === 'create' ? created.shift() : action === 'update' ? updated.shift() : undefined
    return record && toRecord(record)
  })
}

function toPost(record: WantedRecord, note: string): object {
  return { ...toBody(record), comment: note.slice(0, MAX_COMMENT) }
}

function toBody({ type, name, value, ttl }: WantedRecord): object {
  if (type === 'MX') {
    const { preference, host } = parseMx(value)
    return { type, name, content: host, priority: preference, ttl }
  }
  // A proxied address answers with Cloudflare's web servers, which do not accept SMTP.
  const proxied = type === 'TXT' ? {} : { proxied: false }
  return { type, name, content: type === 'TXT' ? quoteTxt(value) : value, ttl, ...proxied }
}

function toRecord({ id, name, type, content, priority, ttl, proxied, locked }: CloudflareRecord): StoredRecord {
  return {
    id,
    name: canonicalName(name),
    type,
    value: type === 'TXT' ? parseTxt(content) : type === 'MX' ? `${priority ?? 0} ${canonicalName(content)}` : content,
    ttl,
    ...(proxied ? { proxied: true } : {}),
    ...(locked ? { locked: true } : {}),
  }
}

function toZone({ id, name, status, paused, type, name_servers }: CloudflareZone): Zone {
  const warnings = [
    ...(status === 'active' ? [] : [sentence('dns_provider.cloudflare_status', { status })]),
    ...(paused ? [sentence('dns_provider.cloudflare_paused')] : []),
    ...(type === 'partial' ? [sentence('dns_provider.cloudflare_partial')] : []),
  ]
  return { id, name: canonicalName(name), minTtl: MIN_TTL, maxTxt: MAX_TXT, nameServers: name_servers ?? [], warnings }
}
