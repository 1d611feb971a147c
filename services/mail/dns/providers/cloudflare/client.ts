/** The calls of the Cloudflare API v4 (https://developers.cloudflare.com/api) that the provider uses. */
import { z } from 'zod'
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer, secondsToWait } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'

const zoneSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string().default('active'),
  paused: z.boolean().default(false),
  type: z.string().default('full'),
  permissions: z.array(z.string()).optional(),
  name_servers: z.array(z.string()).nullish(),
})
const recordSchema = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  content: z.string().default(''),
  /** Of MX records only. */
  priority: z.number().nullish(),
  ttl: z.number(),
  proxied: z.boolean().nullish(),
  /** Records that other products of Cloudflare manage cannot be changed. */
  locked: z.boolean().nullish(),
})
const batchSchema = z.object({ patches: z.array(recordSchema).nullish(), posts: z.array(recordSchema).nullish() })
const pageSchema = z.object({ total_pages: z.number().default(1) }).nullish()
const errorsSchema = z.array(z.object({ code: z.number(), message: z.string().default('') })).default([])

export type CloudflareZone = z.output<typeof zoneSchema>
export type CloudflareRecord = z.output<typeof recordSchema>

/** Several writes of one call; Cloudflare applies them in the order deletes, patches, posts. */
export interface CloudflareBatch {
  deletes: readonly object[]
  patches: readonly object[]
  posts: readonly object[]
}

/** Permissions of API tokens, as Cloudflare's dashboard names them. */
export const PERMISSIONS = { read: 'Zone → Zone → Read', write: 'Zone → DNS → Edit' } as const

/** Error kinds by documented or observed code; other codes follow the HTTP status. */
const ERROR_KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  81057: 'duplicate',
  81058: 'duplicate',
  81053: 'conflict',
  81054: 'conflict',
  81044: 'not_found',
  1004: 'invalid',
  6003: 'auth',
  9109: 'auth',
  10000: 'permission',
}
/** Records a page. The API accepts far more; half a megabyte is enough for one answer. */
const PAGE_SIZE = 500
/** Seconds to wait after 429 without Retry-After. */
const DEFAULT_WAIT = 300

const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('cloudflare', schema, value, write)

/** One API token. All methods throw {@link DnsProviderError}. */
export class CloudflareClient {
  readonly #token: string
  readonly #context: CloudContext

  constructor(token: string, context: CloudContext) {
    this.#token = token
    this.#context = context
  }

  async zone(id: string): Promise<CloudflareZone> {
    return read(zoneSchema, (await this.#call('zone', 'GET', `/zones/${id}`, PERMISSIONS.read)).result)
  }

  /** The first 50 zones of the token, or those with this name: more than one if the token is valid in several accounts. */
  async zones(name?: string): Promise<CloudflareZone[]> {
    const query = new URLSearchParams({ ...(name === undefined ? {} : { name }), per_page: '50' })
    return read(
      z.array(zoneSchema),
      (await this.#call('zones', 'GET', `/zones?${query}`, PERMISSIONS.read)).result ?? [],
    )
  }

  /** All pages of a list; undefined when it has more than `maxPages`. */
  async records(
    zoneId: string,
    filter: Record<string, string>,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<CloudflareRecord[] | undefined> {
    const records: CloudflareRecord[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = new URLSearchParams({ ...filter, per_page: String(PAGE_SIZE), page: String(page) })
      const json = await this.#call('list', 'GET', `/zones/${zoneId}/dns_records?${query}`, PERMISSIONS.write)
      records.push(...read(z.array(recordSchema), json.result ?? []))
      pages = read(pageSchema, json.result_info)?.total_pages ?? 1
      if (pages > maxPages) return undefined
    }
    return records
  }

  /** Fails unless the token may read the zone's records. */
  async assertRecordAccess(zoneId: string): Promise<void> {
    await this.#call('list', 'GET', `/zones/${zoneId}/dns_records?per_page=5`, PERMISSIONS.write)
  }

  async createRecord(zoneId: string, record: object): Promise<CloudflareRecord> {
    const json = await this.#call('create', 'POST', `/zones/${zoneId}/dns_records`, PERMISSIONS.write, record)
    return read(recordSchema, json.result, true)
  }

  async updateRecord(zoneId: string, id: string, record: object): Promise<CloudflareRecord> {
    const json = await this.#call('update', 'PATCH', `/zones/${zoneId}/dns_records/${id}`, PERMISSIONS.write, record)
    return read(recordSchema, json.result, true)
  }

  async deleteRecord(zoneId: string, id: string): Promise<void> {
    await this.#call('delete', 'DELETE', `/zones/${zoneId}/dns_records/${id}`, PERMISSIONS.write)
  }

  /** One transaction; each list of the answer keeps the order of its writes. */
  async batch(
    zoneId: string,
    batch: CloudflareBatch,
  ): Promise<{ updated: CloudflareRecord[]; created: CloudflareRecord[] }> {
    const filled = Object.fromEntries(Object.entries(batch).filter(([, list]) => list.length > 0))
    const json = await this.#call('batch', 'POST', `/zones/${zoneId}/dns_records/batch`, PERMISSIONS.write, filled)
    const { patches, posts } = read(batchSchema, json.result, true)
    return { updated: patches ?? [], created: posts ?? [] }
  }

  async #call(
    operation: string,
    method: string,
    path: string,
    permission: string,
    body?: object,
  ): Promise<JsonAnswer['json']> {
    const call = {
      operation,
      write: method !== 'GET',
      method,
      url: `${this.#context.endpoint}${path}`,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    const errorOf = (answer: JsonAnswer) => errorIn(answer, permission, this.#context.now())
    return (await callJson('cloudflare', this.#context, call, errorOf)).json
  }
}

/** The token lacks a permission of {@link PERMISSIONS}, or is limited to other zones. */
export function missingPermission(permission: string): DnsProviderError {
  return new DnsProviderError(
    'cloudflare',
    'permission',
    sentence('dns_provider.cloudflare_permission', { permission }),
    { permission },
  )
}

function errorIn({ status, headers, json }: JsonAnswer, permission: string, now: Date): DnsProviderError | undefined {
  if (status < 400 && json.success !== false) return undefined
  const [first] = errorsSchema.catch([]).parse(json.errors)
  const code = first ? String(first.code) : String(status)
  const requestId = headers.get('cf-ray') ?? undefined
  const more = { code, ...(requestId ? { requestId } : {}) }
  const kind = (first && ERROR_KINDS[first.code]) ?? kindOfStatus(status)
  if (kind === 'permission') return missingPermission(permission)
  if (kind === 'rate_limited') {
    const retryAfter = secondsToWait(headers.get('retry-after'), now, DEFAULT_WAIT)
    const reason = sentence('dns_provider.cloudflare_wait', { seconds: retryAfter })
    return new DnsProviderError('cloudflare', kind, reason, { ...more, retryAfter })
  }
  const reason = first?.message ? verbatim(first.message) : sentence('dns_provider.status', { status })
  const refusal = sentence('dns_provider.refused', { provider: 'Cloudflare', reason, code })
  return new DnsProviderError('cloudflare', kind, refusal, more)
}

function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 401) return 'auth'
  if (status === 403) return 'permission'
  if (status === 404) return 'not_found'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unknown_outcome' : 'invalid'
}
