/** The calls of Tencent's DNSPod API 3.0 (2021-03-23) that the provider uses. Errors come with HTTP status 200. */
import { z } from 'zod'
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { signTencent } from './signature.ts'

const domainSchema = z.object({
  DomainId: z.number(),
  Name: z.string(),
  Punycode: z.string().default(''),
  Status: z.string().default('ENABLE'),
  DNSStatus: z.string().default(''),
  Grade: z.string().default(''),
  EffectiveDNS: z.array(z.string()).default([]),
})
const domainsSchema = z.object({
  DomainCountInfo: z.object({ DomainTotal: z.number() }),
  DomainList: z.array(domainSchema),
})
const packagesSchema = z.object({ Info: z.array(z.object({ DomainGrade: z.string(), MinTtl: z.number() })) })
const recordSchema = z.object({
  RecordId: z.number(),
  Name: z.string(),
  Type: z.string(),
  Value: z.string(),
  /** Preference of MX records; 0 in others. */
  MX: z.number().nullish(),
  TTL: z.number(),
  LineId: z.string().default('0'),
  Status: z.string().default('ENABLE'),
})
const recordsSchema = z.object({
  RecordCountInfo: z.object({ TotalCount: z.number() }),
  RecordList: z.array(recordSchema),
})
const writtenSchema = z.object({ RecordId: z.number() })
const responseSchema = z.object({
  RequestId: z.string().optional(),
  Error: z.object({ Code: z.string(), Message: z.string() }).optional(),
})

export type DnspodDomain = z.output<typeof domainSchema>
export type DnspodRecord = z.output<typeof recordSchema>
/** Identifies a domain in calls; both fields are sent. */
export type DomainKey = { Domain: string; DomainId: number }

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
/** Id of the default line; its name depends on the account's language. */
export const DEFAULT_LINE_ID = '0'
const DOMAINS_PAGE = 300
const RECORDS_PAGE = 1000
/** Seconds to wait after a throttled call; the error names no time. */
const THROTTLED_WAIT = 5
const CONTENT_TYPE = 'application/json; charset=utf-8'

const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('dnspod', schema, value, write)

/** One API secret. All methods throw {@link DnsProviderError}. */
export class DnspodClient {
  readonly #credentials: CredentialsOf<'dnspod'>
  readonly #context: CloudContext

  constructor(credentials: CredentialsOf<'dnspod'>, context: CloudContext) {
    this.#credentials = credentials
    this.#context = context
  }

  /** All domains of the account. */
  async domains(): Promise<DnspodDomain[]> {
    const found: DnspodDomain[] = []
    for (let total = 1; found.length < total; ) {
      const page = { Type: 'ALL', Offset: found.length, Limit: DOMAINS_PAGE }
      const { DomainCountInfo, DomainList } = read(domainsSchema, await this.#call('DescribeDomainList', page, false))
      found.push(...DomainList)
      total = DomainCountInfo.DomainTotal
      if (DomainList.length === 0) break
    }
    return found
  }

  /** Minimum TTL in seconds by grade of a domain; empty for a secret that may not ask. */
  async minTtlByGrade(): Promise<ReadonlyMap<string, number>> {
    return this.#call('DescribePackageDetail', {}, false).then(
      answer => new Map(read(packagesSchema, answer).Info.map(info => [info.DomainGrade, info.MinTtl])),
      () => new Map<string, number>(),
    )
  }

  /** All pages of a list on the default line; undefined when it has more than `maxPages`. */
  async records(
    domain: DomainKey,
    filter: object,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<DnspodRecord[] | undefined> {
    const records: DnspodRecord[] = []
    for (let page = 1, total = 1; records.length < total; page++) {
      const query = {
        ...domain,
        ...filter,
        RecordLineId: DEFAULT_LINE_ID,
        ErrorOnEmpty: 'no',
        Offset: records.length,
        Limit: RECORDS_PAGE,
      }
      const answer = await this.#call('DescribeRecordList', query, false).catch(emptyWhenNotFound)
      const { RecordCountInfo, RecordList } = read(recordsSchema, answer)
      records.push(...RecordList)
      total = RecordCountInfo.TotalCount
      if (RecordList.length === 0) break
      if (page === 1 && total > maxPages * RecordList.length) return undefined
    }
    return records.filter(record => record.LineId === DEFAULT_LINE_ID)
  }

  /** Fails unless the secret may read the domain's records. */
  async assertRecordAccess(domain: DomainKey): Promise<void> {
    await this.#call('DescribeRecordList', { ...domain, Limit: 1, ErrorOnEmpty: 'no' }, false)
  }

  /** Returns the id of the new record, which may be missing from lists for 30 s. */
  async createRecord(record: object): Promise<number> {
    return read(writtenSchema, await this.#call('CreateRecord', record, true), true).RecordId
  }

  /** Replaces all fields: those that are left out fall back to their defaults. */
  async modifyRecord(id: number, record: object): Promise<void> {
    await this.#call('ModifyRecord', { ...record, RecordId: id }, true)
  }

  async deleteRecord(domain: DomainKey, id: number): Promise<void> {
    await this.#call('DeleteRecord', { ...domain, RecordId: id }, true)
  }

  async #call(action: string, input: object, write: boolean): Promise<unknown> {
    const { endpoint } = this.#context
    const body = JSON.stringify(input)
    const timestamp = Math.floor(this.#context.now().getTime() / 1000)
    const signed = { host: new URL(endpoint).host, service: 'dnspod', contentType: CONTENT_TYPE, body, timestamp }
    const call = {
      operation: action,
      write,
      method: 'POST',
      url: `${endpoint}/`,
      headers: {
        'content-type': CONTENT_TYPE,
        'x-tc-action': action,
        'x-tc-version': '2021-03-23',
        'x-tc-timestamp': String(timestamp),
        'x-tc-language': 'en-US',
        authorization: signTencent(signed, this.#credentials.secret_id, this.#credentials.secret_key),
      },
      body,
    }
    return (await callJson('dnspod', this.#context, call, answer => errorIn(answer, action))).json.Response
  }
}

/** DNSPod reports an empty list as an error. */
function emptyWhenNotFound(error: unknown): unknown {
  if (error instanceof DnsProviderError && error.kind === 'not_found')
    return { RecordCountInfo: { TotalCount: 0 }, RecordList: [] }
  throw error
}

function errorIn({ status, json }: JsonAnswer, action: string): DnsProviderError | undefined {
  const { RequestId, Error: refusal } = responseSchema.catch({}).parse(json.Response)
  if (!refusal && status < 400 && json.Response) return undefined
  const code = refusal?.Code ?? String(status)
  const more = { code, ...(RequestId ? { requestId: RequestId } : {}) }
  const unlisted = refusal ? 'invalid' : 'unknown_outcome'
  const kind = ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? unlisted
  if (kind === 'permission') {
    const permission = `dnspod:${action}`
    const reason = sentence('dns_provider.dnspod_permission', { permission })
    return new DnsProviderError('dnspod', kind, reason, { ...more, permission })
  }
  if (kind === 'rate_limited')
    return new DnsProviderError('dnspod', kind, sentence('dns_provider.dnspod_throttled'), {
      ...more,
      retryAfter: THROTTLED_WAIT,
    })
  const reason = refusal?.Message ? verbatim(refusal.Message) : sentence('dns_provider.status', { status })
  return new DnsProviderError(
    'dnspod',
    kind,
    sentence('dns_provider.refused', { provider: 'DNSPod', reason, code }),
    more,
  )
}
