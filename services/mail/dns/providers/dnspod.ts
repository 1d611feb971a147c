/** Tencent DNSPod (API 3.0, 2021-03-23). Errors come with status 200; new records may be invisible in lists for 30 s. */
import { z } from 'zod'
import { absoluteName, canonicalName, longestZone, relativeName } from '../records/names.ts'
import { parseTxt, type StoredRecord, type WantedRecord } from '../records/record.ts'
import { signTencent } from './dnspod-signature.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer } from './http-call.ts'
import { type DnsProvider, DnsProviderError, type ProviderErrorKind, type Zone } from './provider.ts'
import { readNames } from './read-names.ts'
import type { CredentialsOf } from './rules/dns-credentials.ts'

const domainsSchema = z.object({
  DomainCountInfo: z.object({ DomainTotal: z.number() }),
  DomainList: z.array(
    z.object({
      DomainId: z.number(),
      Name: z.string(),
      Punycode: z.string().default(''),
      Status: z.string().default('ENABLE'),
      DNSStatus: z.string().default(''),
      Grade: z.string().default(''),
      EffectiveDNS: z.array(z.string()).default([]),
    }),
  ),
})
const packagesSchema = z.object({ Info: z.array(z.object({ DomainGrade: z.string(), MinTtl: z.number() })) })
const recordsSchema = z.object({
  RecordCountInfo: z.object({ TotalCount: z.number() }),
  RecordList: z.array(
    z.object({
      RecordId: z.number(),
      Name: z.string(),
      Type: z.string(),
      Value: z.string(),
      TTL: z.number(),
      LineId: z.string().default('0'),
      Status: z.string().default('ENABLE'),
    }),
  ),
})
const writtenSchema = z.object({ RecordId: z.number() })

const ERROR_KINDS: readonly [RegExp, ProviderErrorKind][] = [
  [/DomainRecordExist$/, 'duplicate'],
  [/(DomainNotExists|DomainInvalid|NoDataOfDomain|NotDomainOwner)$/, 'zone_not_found'],
  [/(DomainIsLocked|DomainIsSpam|DomainNotAllowedModifyRecords)$/, 'locked'],
  [/(RecordIdInvalid|NoDataOfRecord)$/, 'not_found'],
  [/(UnauthorizedOperation|NoPermissionToOperateDomain|DomainOwnerAllowedOnly)$/, 'permission'],
  [/^AuthFailure/, 'auth'],
  [/^(RequestLimitExceeded|FailedOperation\.FrequencyLimit)|OperationIsTooFrequent$/, 'rate_limited'],
  [/^(InternalError|FailedOperation\.UnknowError)/, 'unknown_outcome'],
  [/(CnameConflict|RecordConflict)/, 'conflict'],
]
/** The default line. The id wins over the name, which depends on the account's language; both are sent. */
const LINE = { RecordLine: '默认', RecordLineId: '0' }
const DEFAULT_MIN_TTL = 600
/** No bound is documented; longer values are reported by the provider itself. An assumption. */
const MAX_TXT = 2048
const PAGE = 300
const RECORD_PAGE = 1000
const THROTTLED = 5
const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('dnspod', schema, value, write)

interface DnspodZone extends Zone {
  grade: string
}

/** A DNSPod account behind one API secret. */
export function createDnspod(credentials: CredentialsOf<'dnspod'>, context: CloudContext): DnsProvider {
  let zones: Promise<DnspodZone[]> | undefined
  let packages: Promise<Map<string, number>> | undefined
  const call = async (action: string, input: object, write: boolean): Promise<unknown> => {
    const host = new URL(context.endpoint).host
    const body = JSON.stringify(input)
    const contentType = 'application/json; charset=utf-8'
    const timestamp = Math.floor(context.now().getTime() / 1000)
    const request = { host, service: 'dnspod', contentType, body, timestamp }
    const { json } = await callJson(
      'dnspod',
      context,
      {
        operation: action,
        write,
        method: 'POST',
        url: `${context.endpoint}/`,
        headers: {
          'content-type': contentType,
          'x-tc-action': action,
          'x-tc-version': '2021-03-23',
          'x-tc-timestamp': String(timestamp),
          'x-tc-language': 'en-US',
          authorization: signTencent(request, credentials.secret_id, credentials.secret_key),
        },
        body,
      },
      answer => refusalOf(answer, action),
    )
    return json.Response
  }

  async function allZones(): Promise<DnspodZone[]> {
    const found: DnspodZone[] = []
    for (let total = 1; found.length < total; ) {
      const answer = await call('DescribeDomainList', { Type: 'ALL', Offset: found.length, Limit: PAGE }, false)
      const { DomainCountInfo, DomainList } = read(domainsSchema, answer)
      found.push(...DomainList.map(toZone))
      total = DomainCountInfo.DomainTotal
      if (DomainList.length === 0) break
    }
    return found
  }

  const listed = () => {
    zones ??= allZones()
    zones.catch(() => {
      zones = undefined
    })
    return zones
  }

  /** Least TTL by grade; without the right to ask, that of the free plan. */
  async function minTtl(grade: string): Promise<number> {
    packages ??= call('DescribePackageDetail', {}, false).then(
      answer => new Map(read(packagesSchema, answer).Info.map(info => [info.DomainGrade, info.MinTtl])),
      () => new Map<string, number>(),
    )
    return (await packages).get(grade) ?? DEFAULT_MIN_TTL
  }

  async function findZone(name: string): Promise<DnspodZone | undefined> {
    const zone = longestZone(await listed(), name)
    return zone && { ...zone, minTtl: await minTtl(zone.grade) }
  }

  /** A list on the default line, page by page; undefined when it has more pages than that. */
  async function list(
    zone: Zone,
    filter: object,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<StoredRecord[] | undefined> {
    const records: z.output<typeof recordsSchema>['RecordList'] = []
    for (let page = 1, total = 1; records.length < total; page++) {
      const query = {
        ...domainOf(zone),
        ...filter,
        RecordLineId: LINE.RecordLineId,
        ErrorOnEmpty: 'no',
        Offset: records.length,
        Limit: RECORD_PAGE,
      }
      const answer = await call('DescribeRecordList', query, false).catch(emptyWhenNothing)
      const { RecordCountInfo, RecordList } = read(recordsSchema, answer)
      records.push(...RecordList)
      total = RecordCountInfo.TotalCount
      if (RecordList.length === 0) break
      if (page === 1 && total > maxPages * RecordList.length) return undefined
    }
    return records.filter(record => record.LineId === LINE.RecordLineId).map(record => toRecord(record, zone.name))
  }

  const at = async (zone: Zone, name: string) =>
    (await list(zone, { Subdomain: relativeName(name, zone.name) }))?.filter(record => record.name === name) ?? []

  return {
    type: 'dnspod',
    async test() {
      zones = undefined
      const found = await listed()
      const [first] = found
      if (first) await call('DescribeRecordList', { ...domainOf(first), Limit: 1, ErrorOnEmpty: 'no' }, false)
      return found.slice(0, 100)
    },
    findZone,
    list: at,
    // Their only search looks into values, too: the whole zone says the same with less doubt.
    read: questions =>
      readNames({ findZone, at, below: (zone, _name, maxPages) => list(zone, {}, maxPages) }, questions),
    async create(zone, record, note) {
      const input = { ...toInput(record, zone), Remark: note.slice(0, 100) }
      const { RecordId } = read(writtenSchema, await call('CreateRecord', input, true), true)
      return { ...record, id: String(RecordId) }
    },
    async update(zone, before, record) {
      // Fields that are left out fall back to their defaults: all are sent.
      await call('ModifyRecord', { ...toInput(record, zone), RecordId: Number(before.id) }, true)
      return { ...record, id: before.id }
    },
    async remove(zone, record) {
      try {
        await call('DeleteRecord', { ...domainOf(zone), RecordId: Number(record.id) }, true)
      } catch (error) {
        if (!(error instanceof DnsProviderError && error.kind === 'not_found')) throw error
      }
    },
  }
}

/** DNSPod says "no data" as an error. */
function emptyWhenNothing(error: unknown): unknown {
  if (error instanceof DnsProviderError && error.kind === 'not_found')
    return { RecordCountInfo: { TotalCount: 0 }, RecordList: [] }
  throw error
}

function domainOf(zone: Zone): { Domain: string; DomainId: number } {
  return { Domain: zone.name, DomainId: Number(zone.id) }
}

function toInput({ name, type, value, ttl }: WantedRecord, zone: Zone): object {
  return {
    ...domainOf(zone),
    SubDomain: relativeName(name, zone.name),
    RecordType: type,
    ...LINE,
    Value: value,
    TTL: ttl,
  }
}

function toRecord(record: z.output<typeof recordsSchema>['RecordList'][number], zone: string): StoredRecord {
  return {
    id: String(record.RecordId),
    name: absoluteName(canonicalName(record.Name), zone),
    type: record.Type,
    value: record.Type === 'TXT' ? parseTxt(record.Value) : canonicalTarget(record.Type, record.Value),
    ttl: record.TTL,
    ...(record.Status === 'ENABLE' ? {} : { disabled: true }),
  }
}

/** Names come with their last dot. */
function canonicalTarget(type: string, value: string): string {
  return type === 'CNAME' ? canonicalName(value) : value
}

function toZone(domain: z.output<typeof domainsSchema>['DomainList'][number]): DnspodZone {
  const warnings = [
    ...(domain.Status === 'ENABLE' ? [] : [`The zone has the status ${domain.Status} at DNSPod: it is not served.`]),
    ...(domain.DNSStatus === '' ? [] : ['The zone is not delegated to the name servers of DNSPod.']),
  ]
  return {
    id: String(domain.DomainId),
    name: canonicalName(domain.Punycode || domain.Name),
    minTtl: DEFAULT_MIN_TTL,
    maxTxt: MAX_TXT,
    nameServers: domain.EffectiveDNS,
    warnings,
    grade: domain.Grade,
  }
}

const responseSchema = z.object({
  RequestId: z.string().optional(),
  Error: z.object({ Code: z.string(), Message: z.string() }).optional(),
})

function refusalOf({ status, json }: JsonAnswer, action: string): DnsProviderError | undefined {
  const { RequestId, Error: refusal } = responseSchema.catch({}).parse(json.Response)
  if (!refusal && status < 400 && json.Response) return undefined
  const code = refusal?.Code ?? String(status)
  const more = { code, ...(RequestId ? { requestId: RequestId } : {}) }
  const kind = ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? (refusal ? 'invalid' : 'unknown_outcome')
  if (kind === 'permission') {
    const permission = `dnspod:${action}`
    return new DnsProviderError('dnspod', kind, `The API secret lacks the CAM permission ${permission}.`, {
      ...more,
      permission,
    })
  }
  if (kind === 'rate_limited')
    return new DnsProviderError('dnspod', kind, 'DNSPod asks to slow down.', { ...more, retryAfter: THROTTLED })
  return new DnsProviderError(
    'dnspod',
    kind,
    `DNSPod refused it: ${refusal?.Message ?? `status ${status}`} (${code}).`,
    more,
  )
}
