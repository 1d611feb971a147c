/** Aliyun DNS (alidns 2015-01-09): signed RPC calls. Zones are found in the account's own list. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { absoluteName, canonicalName, longestZone, relativeName } from '../records/names.ts'
import { parseTxt, type StoredRecord, type WantedRecord } from '../records/record.ts'
import { canonicalQuery, sha256, signAliyun } from './aliyun-signature.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer } from './http-call.ts'
import { type DnsProvider, DnsProviderError, type ProviderErrorKind, type Zone } from './provider.ts'
import { readNames } from './read-names.ts'
import type { CredentialsOf } from './rules/dns-credentials.ts'

const domainsSchema = z.object({
  TotalCount: z.number(),
  Domains: z.object({
    Domain: z.array(
      z.object({
        DomainName: z.string(),
        PunyCode: z.string().optional(),
        DnsServers: z.object({ DnsServer: z.array(z.string()) }).optional(),
      }),
    ),
  }),
})
const infoSchema = z.object({ MinTtl: z.number().optional(), InBlackHole: z.boolean().optional() })
const recordsSchema = z.object({
  TotalCount: z.number(),
  DomainRecords: z.object({
    Record: z.array(
      z.object({
        RecordId: z.string(),
        RR: z.string(),
        Type: z.string(),
        Value: z.string(),
        TTL: z.number(),
        Line: z.string().default('default'),
        Status: z.string().default('ENABLE'),
        Locked: z.boolean().default(false),
      }),
    ),
  }),
})
const writtenSchema = z.object({ RecordId: z.string() })

const ERROR_KINDS: readonly [RegExp, ProviderErrorKind][] = [
  [/^DomainRecordDuplicate/, 'duplicate'],
  [/^DomainRecordConflict/, 'conflict'],
  [/^DomainRecordLocked/, 'locked'],
  [/^DomainRecordNotBelongToUser/, 'not_found'],
  [/^(IncorrectDomainUser|InvalidDomainName\.NoExist)/, 'zone_not_found'],
  [/^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidTimeStamp|SignatureNonceUsed|IncompleteSignature)/, 'auth'],
  [/^Forbidden/, 'permission'],
  [/Throttling/, 'rate_limited'],
  [/^(ServiceUnavailable|InternalError)/, 'unknown_outcome'],
]
/** 600 s is the least of the free edition; DescribeDomainInfo tells the zone's own. */
const DEFAULT_MIN_TTL = 600
/** 511 bytes pass and 764 fail where others measured it. An assumption until a live account says more. */
const MAX_TXT = 511
const PAGE = 100
const RECORD_PAGE = 500
/** Seconds of silence after Throttling, which names no time. */
const THROTTLED = 5
const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('aliyun', schema, value, write)

/** The account's own form of the zone name beside the canonical one: calls want the first. */
interface AliyunZone extends Zone {
  id: string
}

/** An Aliyun account behind one access key. */
export function createAliyun(credentials: CredentialsOf<'aliyun'>, context: CloudContext): DnsProvider {
  let zones: Promise<AliyunZone[]> | undefined
  const call = async (action: string, query: Record<string, string>, write: boolean): Promise<unknown> => {
    const host = new URL(context.endpoint).host
    const headers = {
      host,
      'x-acs-action': action,
      'x-acs-version': '2015-01-09',
      'x-acs-date': `${context.now().toISOString().slice(0, 19)}Z`,
      // A new one for each attempt: a repeated nonce is refused as a replay.
      'x-acs-signature-nonce': randomUUID(),
      'x-acs-content-sha256': sha256(''),
    }
    const authorization = signAliyun(
      { method: 'POST', host, query, headers, body: '' },
      credentials.access_key_id,
      credentials.access_key_secret,
    )
    const { host: _, ...sent } = headers
    const request = {
      operation: action,
      write,
      method: 'POST',
      url: `${context.endpoint}/?${canonicalQuery(query)}`,
      headers: { ...sent, authorization },
    }
    return (await callJson('aliyun', context, request, answer => refusalOf(answer, action))).json
  }

  async function allZones(): Promise<AliyunZone[]> {
    const found: AliyunZone[] = []
    // By count, not by page size: a server may give smaller pages than asked for.
    for (let page = 1, total = 1; found.length < total; page++) {
      const answer = await call('DescribeDomains', { PageNumber: String(page), PageSize: String(PAGE) }, false)
      const { TotalCount, Domains } = read(domainsSchema, answer)
      found.push(...Domains.Domain.map(toZone))
      total = TotalCount
      if (Domains.Domain.length === 0) break
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

  async function withInfo(zone: AliyunZone): Promise<AliyunZone> {
    const info = read(
      infoSchema,
      await call('DescribeDomainInfo', { DomainName: zone.id, NeedDetailAttributes: 'true' }, false),
    )
    const warnings = info.InBlackHole ? ['Aliyun DNS has suspended the zone (black hole): it is not served.'] : []
    return { ...zone, minTtl: info.MinTtl ?? DEFAULT_MIN_TTL, warnings }
  }
  const detailed = new Map<string, Promise<AliyunZone>>()

  async function findZone(name: string): Promise<AliyunZone | undefined> {
    const zone = longestZone(await listed(), name)
    if (!zone) return undefined
    const known = detailed.get(zone.id) ?? withInfo(zone)
    detailed.set(zone.id, known)
    known.catch(() => detailed.delete(zone.id))
    return known
  }

  /** A list on the default line, page by page; undefined when it has more pages than that. */
  async function list(
    zone: Zone,
    filter: Record<string, string>,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<StoredRecord[] | undefined> {
    const records: z.output<typeof recordsSchema>['DomainRecords']['Record'] = []
    for (let page = 1, total = 1; records.length < total; page++) {
      const query = { DomainName: zone.id, ...filter, PageNumber: String(page), PageSize: String(RECORD_PAGE) }
      const { TotalCount, DomainRecords } = read(recordsSchema, await call('DescribeDomainRecords', query, false))
      records.push(...DomainRecords.Record)
      total = TotalCount
      if (DomainRecords.Record.length === 0) break
      if (page === 1 && total > maxPages * DomainRecords.Record.length) return undefined
    }
    return records.filter(record => record.Line === 'default').map(record => toRecord(record, zone.name))
  }

  const at = async (zone: Zone, name: string) =>
    // Only in this mode RRKeyWord is exact.
    (await list(zone, { SearchMode: 'COMBINATION', RRKeyWord: relativeName(name, zone.name) }))?.filter(
      record => record.name === name,
    ) ?? []

  return {
    type: 'aliyun',
    async test() {
      zones = undefined
      const found = await listed()
      const [first] = found
      if (first) {
        await withInfo(first)
        await call('DescribeDomainRecords', { DomainName: first.id, PageSize: '1' }, false)
      }
      return found.slice(0, 100)
    },
    findZone,
    list: at,
    // Their search by a part of a name has modes that differ between editions: the whole zone leaves no doubt.
    read: questions =>
      readNames({ findZone, at, below: (zone, _name, maxPages) => list(zone, {}, maxPages) }, questions),
    async create(zone, record) {
      const { RecordId } = read(
        writtenSchema,
        await call('AddDomainRecord', { DomainName: zone.id, ...toQuery(record, zone) }, true),
        true,
      )
      return { ...record, id: RecordId }
    },
    async update(zone, before, record) {
      await call('UpdateDomainRecord', { RecordId: before.id, ...toQuery(record, zone) }, true)
      return { ...record, id: before.id }
    },
    async remove(_zone, record) {
      try {
        await call('DeleteDomainRecord', { RecordId: record.id }, true)
      } catch (error) {
        if (!(error instanceof DnsProviderError && error.kind === 'not_found')) throw error
      }
    },
  }
}

function toQuery({ name, type, value, ttl }: WantedRecord, zone: Zone): Record<string, string> {
  return { RR: relativeName(name, zone.name), Type: type, Value: value, TTL: String(ttl), Line: 'default' }
}

function toRecord(
  record: z.output<typeof recordsSchema>['DomainRecords']['Record'][number],
  zone: string,
): StoredRecord {
  return {
    id: record.RecordId,
    name: absoluteName(canonicalName(record.RR), zone),
    type: record.Type,
    value: record.Type === 'TXT' ? parseTxt(record.Value) : record.Value,
    ttl: record.TTL,
    ...(record.Locked ? { locked: true } : {}),
    ...(record.Status === 'DISABLE' ? { disabled: true } : {}),
  }
}

function toZone(domain: z.output<typeof domainsSchema>['Domains']['Domain'][number]): AliyunZone {
  return {
    id: domain.DomainName,
    name: canonicalName(domain.PunyCode ?? domain.DomainName),
    minTtl: DEFAULT_MIN_TTL,
    maxTxt: MAX_TXT,
    nameServers: domain.DnsServers?.DnsServer ?? [],
    warnings: [],
  }
}

function refusalOf({ status, json }: JsonAnswer, action: string): DnsProviderError | undefined {
  if (status < 400 && json.Code === undefined) return undefined
  const code = String(json.Code ?? status)
  const requestId = typeof json.RequestId === 'string' ? { requestId: json.RequestId } : {}
  const kind =
    ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? (status >= 500 ? 'unknown_outcome' : 'invalid')
  const more = { code, ...requestId }
  if (kind === 'permission') {
    const permission = `alidns:${action}`
    return new DnsProviderError('aliyun', kind, `The access key lacks the RAM permission ${permission}.`, {
      ...more,
      permission,
    })
  }
  if (kind === 'rate_limited')
    return new DnsProviderError('aliyun', kind, 'Aliyun asks to slow down.', { ...more, retryAfter: THROTTLED })
  const message = typeof json.Message === 'string' ? json.Message : `status ${status}`
  return new DnsProviderError('aliyun', kind, `Aliyun refused it: ${message} (${code}).`, more)
}
