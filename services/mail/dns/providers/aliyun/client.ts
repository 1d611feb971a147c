/** The calls of Aliyun DNS (alidns 2015-01-09) that the provider uses: signed RPC calls. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import { canonicalQuery, sha256 } from '../request-signing.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { signAliyun } from './signature.ts'

const domainSchema = z.object({
  DomainName: z.string(),
  PunyCode: z.string().optional(),
  DnsServers: z.object({ DnsServer: z.array(z.string()) }).optional(),
})
const domainsSchema = z.object({ TotalCount: z.number(), Domains: z.object({ Domain: z.array(domainSchema) }) })
const infoSchema = z.object({ MinTtl: z.number().optional(), InBlackHole: z.boolean().optional() })
const recordSchema = z.object({
  RecordId: z.string(),
  RR: z.string(),
  Type: z.string(),
  Value: z.string(),
  /** Of MX records only. */
  Priority: z.number().nullish(),
  TTL: z.number(),
  Line: z.string().default('default'),
  Status: z.string().default('ENABLE'),
  Locked: z.boolean().default(false),
})
const recordsSchema = z.object({
  TotalCount: z.number(),
  DomainRecords: z.object({ Record: z.array(recordSchema) }),
})
const writtenSchema = z.object({ RecordId: z.string() })

export type AliyunDomain = z.output<typeof domainSchema>
export type AliyunDomainInfo = z.output<typeof infoSchema>
export type AliyunRecord = z.output<typeof recordSchema>

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
/** The default line. */
export const DEFAULT_LINE = 'default'
const DOMAINS_PAGE = 100
const RECORDS_PAGE = 500
/** Seconds to wait after Throttling; the error names no time. */
const THROTTLED_WAIT = 5

const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('aliyun', schema, value, write)

/** One access key. All methods throw {@link DnsProviderError}. */
export class AliyunClient {
  readonly #credentials: CredentialsOf<'aliyun'>
  readonly #context: CloudContext

  constructor(credentials: CredentialsOf<'aliyun'>, context: CloudContext) {
    this.#credentials = credentials
    this.#context = context
  }

  /** All domains of the account. */
  async domains(): Promise<AliyunDomain[]> {
    const found: AliyunDomain[] = []
    // Until the total is reached: a server may return smaller pages than requested.
    for (let page = 1, total = 1; found.length < total; page++) {
      const query = { PageNumber: String(page), PageSize: String(DOMAINS_PAGE) }
      const { TotalCount, Domains } = read(domainsSchema, await this.#call('DescribeDomains', query, false))
      found.push(...Domains.Domain)
      total = TotalCount
      if (Domains.Domain.length === 0) break
    }
    return found
  }

  async domainInfo(domainName: string): Promise<AliyunDomainInfo> {
    const query = { DomainName: domainName, NeedDetailAttributes: 'true' }
    return read(infoSchema, await this.#call('DescribeDomainInfo', query, false))
  }

  /** All pages of a list on the default line; undefined when it has more than `maxPages`. */
  async records(
    domainName: string,
    filter: Record<string, string>,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<AliyunRecord[] | undefined> {
    const records: AliyunRecord[] = []
    for (let page = 1, total = 1; records.length < total; page++) {
      const query = { DomainName: domainName, ...filter, PageNumber: String(page), PageSize: String(RECORDS_PAGE) }
      const { TotalCount, DomainRecords } = read(recordsSchema, await this.#call('DescribeDomainRecords', query, false))
      records.push(...DomainRecords.Record)
      total = TotalCount
      if (DomainRecords.Record.length === 0) break
      if (page === 1 && total > maxPages * DomainRecords.Record.length) return undefined
    }
    return records.filter(record => record.Line === DEFAULT_LINE)
  }

  /** Fails unless the access key may read the domain's records. */
  async assertRecordAccess(domainName: string): Promise<void> {
    await this.#call('DescribeDomainRecords', { DomainName: domainName, PageSize: '1' }, false)
  }

  /** Returns the id of the new record. */
  async addRecord(domainName: string, record: Record<string, string>): Promise<string> {
    const answer = await this.#call('AddDomainRecord', { DomainName: domainName, ...record }, true)
    return read(writtenSchema, answer, true).RecordId
  }

  async updateRecord(id: string, record: Record<string, string>): Promise<void> {
    await this.#call('UpdateDomainRecord', { RecordId: id, ...record }, true)
  }

  async deleteRecord(id: string): Promise<void> {
    await this.#call('DeleteDomainRecord', { RecordId: id }, true)
  }

  async #call(action: string, query: Record<string, string>, write: boolean): Promise<unknown> {
    const { endpoint } = this.#context
    const { access_key_id, access_key_secret } = this.#credentials
    const host = new URL(endpoint).host
    const headers = {
      'x-acs-action': action,
      'x-acs-version': '2015-01-09',
      'x-acs-date': `${this.#context.now().toISOString().slice(0, 19)}Z`,
      // A new one for each attempt: a repeated nonce is refused as a replay.
      'x-acs-signature-nonce': randomUUID(),
      'x-acs-content-sha256': sha256(''),
    }
    const signed = { method: 'POST', host, query, headers: { host, ...headers }, body: '' }
    const call = {
      operation: action,
      write,
      method: 'POST',
      url: `${endpoint}/?${canonicalQuery(query)}`,
      headers: { ...headers, authorization: signAliyun(signed, access_key_id, access_key_secret) },
    }
    return (await callJson('aliyun', this.#context, call, answer => errorIn(answer, action))).json
  }
}

function errorIn({ status, json }: JsonAnswer, action: string): DnsProviderError | undefined {
  if (status < 400 && json.Code === undefined) return undefined
  const code = String(json.Code ?? status)
  const more = { code, ...(typeof json.RequestId === 'string' ? { requestId: json.RequestId } : {}) }
  const unlisted = status >= 500 ? 'unknown_outcome' : 'invalid'
  const kind = ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? unlisted
  if (kind === 'permission') {
    const permission = `alidns:${action}`
    const reason = sentence('dns_provider.aliyun_permission', { permission })
    return new DnsProviderError('aliyun', kind, reason, { ...more, permission })
  }
  if (kind === 'rate_limited')
    return new DnsProviderError('aliyun', kind, sentence('dns_provider.aliyun_throttled'), {
      ...more,
      retryAfter: THROTTLED_WAIT,
    })
  const reason = typeof json.Message === 'string' ? verbatim(json.Message) : sentence('dns_provider.status', { status })
  return new DnsProviderError(
    'aliyun',
    kind,
    sentence('dns_provider.refused', { provider: 'Aliyun', reason, code }),
    more,
  )
}
