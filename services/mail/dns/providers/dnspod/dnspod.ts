/** Tencent DNSPod: zones are found in the account's own list; new records may be missing from lists for 30 s. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { absoluteName, canonicalName, longestZone, relativeName } from '../../records/names.ts'
import { parseMx, parseTxt, type StoredRecord, type WantedRecord } from '../../records/record.ts'
import { type CloudContext, ignoreNotFound } from '../http-call.ts'
import { loadOnce } from '../load-once.ts'
import type { DnsProvider, Zone } from '../provider.ts'
import { readNames } from '../read-names.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { DEFAULT_LINE_ID, DnspodClient, type DnspodDomain, type DnspodRecord, type DomainKey } from './client.ts'

interface DnspodZone extends Zone {
  grade: string
}

/** The default line. The id takes precedence over the name; both are sent. */
const DEFAULT_LINE = { RecordLine: '默认', RecordLineId: DEFAULT_LINE_ID }
/** Seconds; that of the free plan. */
const DEFAULT_MIN_TTL = 600
/** Bytes. No limit is documented; the API reports longer values itself. An assumption. */
const MAX_TXT = 2048
/** Characters of a record's remark. */
const MAX_REMARK = 100
/** Zones that a test of the credentials returns. */
const MAX_TEST_ZONES = 100

/** A DNSPod account with one API secret. */
export function createDnspod(credentials: CredentialsOf<'dnspod'>, context: CloudContext): DnsProvider {
  const client = new DnspodClient(credentials, context)
  const zones = loadOnce(async () => (await client.domains()).map(toZone))
  const minTtls = loadOnce(() => client.minTtlByGrade())
  const findZone = async (name: string): Promise<DnspodZone | undefined> => {
    const zone = longestZone(await zones.get(), name)
    return zone && { ...zone, minTtl: (await minTtls.get()).get(zone.grade) ?? DEFAULT_MIN_TTL }
  }
  const at = (zone: Zone, name: string) => recordsAt(client, zone, name)
  // The only search also matches values: the list of the whole zone is exact.
  const below = (zone: Zone, _name: string, maxPages: number) => recordsOf(client, zone, {}, maxPages)
  return {
    type: 'dnspod',
    async test() {
      zones.reset()
      const found = await zones.get()
      const [first] = found
      if (first) await client.assertRecordAccess(keyOf(first))
      return found.slice(0, MAX_TEST_ZONES)
    },
    findZone,
    list: at,
    read: questions => readNames({ findZone, at, below }, questions),
    async create(zone, record, note) {
      const id = await client.createRecord({ ...toInput(record, zone), Remark: note.slice(0, MAX_REMARK) })
      return { ...record, id: String(id) }
    },
    async update(zone, before, record) {
      await client.modifyRecord(Number(before.id), toInput(record, zone))
      return { ...record, id: before.id }
    },
    remove: (zone, record) => client.deleteRecord(keyOf(zone), Number(record.id)).catch(ignoreNotFound),
  }
}

async function recordsOf(
  client: DnspodClient,
  zone: Zone,
  filter: object,
  maxPages?: number,
): Promise<StoredRecord[] | undefined> {
  return (await client.records(keyOf(zone), filter, maxPages))?.map(record => toRecord(record, zone.name))
}

async function recordsAt(client: DnspodClient, zone: Zone, name: string): Promise<StoredRecord[]> {
  const records = await recordsOf(client, zone, { Subdomain: relativeName(name, zone.name) })
  return records?.filter(record => record.name === name) ?? []
}

function keyOf(zone: Zone): DomainKey {
  return { Domain: zone.name, DomainId: Number(zone.id) }
}

function toInput({ name, type, value, ttl }: WantedRecord, zone: Zone): object {
  const { preference, host } = parseMx(value)
  return {
    ...keyOf(zone),
    SubDomain: relativeName(name, zone.name),
    RecordType: type,
    ...DEFAULT_LINE,
    ...(type === 'MX' ? { Value: host, MX: preference } : { Value: value }),
    TTL: ttl,
  }
}

function toRecord({ RecordId, Name, Type, Value, MX, TTL, Status }: DnspodRecord, zone: string): StoredRecord {
  return {
    id: String(RecordId),
    name: absoluteName(canonicalName(Name), zone),
    type: Type,
    value: Type === 'TXT' ? parseTxt(Value) : canonicalTarget(Type, Value, MX ?? 0),
    ttl: TTL,
    ...(Status === 'ENABLE' ? {} : { disabled: true }),
  }
}

/** Names in values end with a dot. */
function canonicalTarget(type: string, value: string, preference: number): string {
  if (type === 'MX') return `${preference} ${canonicalName(value)}`
  return type === 'CNAME' ? canonicalName(value) : value
}

function toZone({ DomainId, Name, Punycode, Status, DNSStatus, Grade, EffectiveDNS }: DnspodDomain): DnspodZone {
  const warnings = [
    ...(Status === 'ENABLE' ? [] : [sentence('dns_provider.dnspod_status', { status: Status })]),
    ...(DNSStatus === '' ? [] : [sentence('dns_provider.dnspod_delegation')]),
  ]
  return {
    id: String(DomainId),
    name: canonicalName(Punycode || Name),
    minTtl: DEFAULT_MIN_TTL,
    maxTxt: MAX_TXT,
    nameServers: EffectiveDNS,
    warnings,
    grade: Grade,
  }
}
