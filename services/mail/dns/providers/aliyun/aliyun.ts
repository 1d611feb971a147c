/** Aliyun DNS: zones are found in the account's own list. The id of a zone is its name as the account stores it. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { absoluteName, canonicalName, longestZone, relativeName } from '../../records/names.ts'
import { parseMx, parseTxt, type StoredRecord, type WantedRecord } from '../../records/record.ts'
import { type CloudContext, ignoreNotFound } from '../http-call.ts'
import { loadEach, loadOnce } from '../load-once.ts'
import type { DnsProvider, Zone } from '../provider.ts'
import { readNames } from '../read-names.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { AliyunClient, type AliyunDomain, type AliyunDomainInfo, type AliyunRecord, DEFAULT_LINE } from './client.ts'

/** Seconds; that of the free edition. DescribeDomainInfo has the zone's own. */
const DEFAULT_MIN_TTL = 600
/** Bytes. Others measured that 511 pass and 764 fail. An assumption until a live account says more. */
const MAX_TXT = 511
/** Zones that a test of the credentials returns. */
const MAX_TEST_ZONES = 100

/** An Aliyun account with one access key. */
export function createAliyun(credentials: CredentialsOf<'aliyun'>, context: CloudContext): DnsProvider {
  const client = new AliyunClient(credentials, context)
  const zones = loadOnce(async () => (await client.domains()).map(toZone))
  const infoOf = loadEach(zoneId => client.domainInfo(zoneId))
  const findZone = async (name: string) => {
    const zone = longestZone(await zones.get(), name)
    return zone && withInfo(zone, await infoOf(zone.id))
  }
  const at = (zone: Zone, name: string) => recordsAt(client, zone, name)
  // The search by a part of a name differs between editions: the list of the whole zone is exact.
  const below = (zone: Zone, _name: string, maxPages: number) => recordsOf(client, zone, {}, maxPages)
  return {
    type: 'aliyun',
    async test() {
      zones.reset()
      const found = await zones.get()
      const [first] = found
      if (first) {
        await client.domainInfo(first.id)
        await client.assertRecordAccess(first.id)
      }
      return found.slice(0, MAX_TEST_ZONES)
    },
    findZone,
    list: at,
    read: questions => readNames({ findZone, at, below }, questions),
    create: async (zone, record) => ({ ...record, id: await client.addRecord(zone.id, toQuery(record, zone)) }),
    async update(zone, before, record) {
      await client.updateRecord(before.id, toQuery(record, zone))
      return { ...record, id: before.id }
    },
    remove: (_zone, record) => client.deleteRecord(record.id).catch(ignoreNotFound),
  }
}

async function recordsOf(
  client: AliyunClient,
  zone: Zone,
  filter: Record<string, string>,
  maxPages?: number,
): Promise<StoredRecord[] | undefined> {
  return (await client.records(zone.id, filter, maxPages))?.map(record => toRecord(record, zone.name))
}

async function recordsAt(client: AliyunClient, zone: Zone, name: string): Promise<StoredRecord[]> {
  // RRKeyWord is exact in this mode only.
  const filter = { SearchMode: 'COMBINATION', RRKeyWord: relativeName(name, zone.name) }
  return (await recordsOf(client, zone, filter))?.filter(record => record.name === name) ?? []
}

function toQuery({ name, type, value, ttl }: WantedRecord, zone: Zone): Record<string, string> {
  const common = { RR: relativeName(name, zone.name), Type: type, TTL: String(ttl), Line: DEFAULT_LINE }
  if (type !== 'MX') return { ...common, Value: value }
  const { preference, host } = parseMx(value)
  return { ...common, Value: host, Priority: String(preference) }
}

function toRecord(
  { RecordId, RR, Type, Value, Priority, TTL, Locked, Status }: AliyunRecord,
  zone: string,
): StoredRecord {
  return {
    id: RecordId,
    name: absoluteName(canonicalName(RR), zone),
    type: Type,
    value: Type === 'TXT' ? parseTxt(Value) : Type === 'MX' ? `${Priority ?? 0} ${canonicalName(Value)}` : Value,
    ttl: TTL,
    ...(Locked ? { locked: true } : {}),
    ...(Status === 'DISABLE' ? { disabled: true } : {}),
  }
}

function toZone({ DomainName, PunyCode, DnsServers }: AliyunDomain): Zone {
  return {
    id: DomainName,
    name: canonicalName(PunyCode ?? DomainName),
    minTtl: DEFAULT_MIN_TTL,
    maxTxt: MAX_TXT,
    nameServers: DnsServers?.DnsServer ?? [],
    warnings: [],
  }
}

function withInfo(zone: Zone, { MinTtl, InBlackHole }: AliyunDomainInfo): Zone {
  const warnings = InBlackHole ? [sentence('dns_provider.aliyun_suspended')] : []
  return { ...zone, minTtl: MinTtl ?? DEFAULT_MIN_TTL, warnings }
}
