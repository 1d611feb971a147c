/** The calls of the Azure DNS API (2018-05-01) that the provider uses. Sets have ETags, and are written one by one. */
import { z } from 'zod'
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { absoluteName, canonicalName, relativeName } from '../../records/names.ts'
import {
  type CloudContext,
  callProvider,
  gatewayError,
  type HttpCall,
  readAnswer,
  secondsToWait,
  type TextAnswer,
} from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import type { RecordSet, SetChange } from '../record-sets/record-set.ts'
import { propertiesSchema, type RecordProperties, toProperties, valuesOf } from './record-properties.ts'

const zoneSchema = z.object({
  /** Is appended to the address of the API. */
  id: z.string().regex(/^\/subscriptions\/[^?#]+$/),
  name: z.string(),
  properties: z
    .object({ nameServers: z.array(z.string()).nullish(), zoneType: z.string().default('Public') })
    .default({ zoneType: 'Public' }),
})
const setSchema = z.object({
  name: z.string(),
  /** As in `Microsoft.Network/dnszones/TXT`. */
  type: z.string(),
  etag: z.string().nullish(),
  properties: propertiesSchema,
})
const page = <S extends z.ZodType>(item: S) =>
  z.object({ value: z.array(item).default([]), nextLink: z.string().nullish() })
const errorSchema = z.object({ error: z.object({ code: z.string().default(''), message: z.string().default('') }) })

/** A zone with the path of its resource. */
export type AzureZone = z.output<typeof zoneSchema>

/** What a set was read with; `etag` guards its change. */
interface AzureSource {
  etag: string | undefined
  metadata: RecordProperties['metadata']
}

const API_VERSION = '2018-05-01'
/** Sets a page; the API may give fewer. */
const PAGE_SIZE = 1000
/** Types that are read at a single name. */
const TYPES = ['TXT', 'CNAME', 'MX', 'A', 'AAAA'] as const
const STATUS_KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  ...{ 401: 'auth', 403: 'permission', 404: 'zone_not_found', 412: 'changed', 429: 'rate_limited' },
}
const CODE_KINDS: readonly [RegExp, ProviderErrorKind][] = [
  [/^(PreconditionFailed)$/, 'changed'],
  [/^(InvalidAuthenticationToken|ExpiredAuthenticationToken|InvalidAuthenticationTokenTenant)$/, 'auth'],
  [/^(TooManyRequests|SubscriptionRequestsThrottled|OperationNotAllowed)$/, 'rate_limited'],
]
/** Of the messages about sets that exclude each other. */
const CONFLICT = /CNAME|coexist|conflict/i
/** Seconds to wait after a throttled call without Retry-After. */
const THROTTLED_WAIT = 60
const JSON_PATTERN = /^\s*\{/

/** One subscription, or one resource group of it. All methods throw {@link DnsProviderError}. */
export class AzureDnsClient {
  readonly #scope: string
  readonly #token: () => Promise<string>
  readonly #context: CloudContext

  constructor(
    subscription: string,
    resourceGroup: string | undefined,
    token: () => Promise<string>,
    context: CloudContext,
  ) {
    const group = resourceGroup === undefined ? '' : `/resourceGroups/${encodeURIComponent(resourceGroup)}`
    this.#scope = `/subscriptions/${encodeURIComponent(subscription)}${group}`
    this.#token = token
    this.#context = context
  }

  /** All zones. */
  async zones(): Promise<AzureZone[]> {
    const path = `${this.#scope}/providers/Microsoft.Network/dnszones`
    return (await this.#pages(zoneSchema, 'Microsoft.Network/dnsZones/read', path)) ?? []
  }

  /** All sets of a zone; undefined when that takes more than `maxPages` calls. */
  async sets(zone: AzureZone, maxPages = Number.POSITIVE_INFINITY): Promise<RecordSet[] | undefined> {
    const path = `${zone.id}/recordsets`
    const permission = 'Microsoft.Network/dnsZones/recordsets/read'
    return (await this.#pages(setSchema, permission, path, { $top: String(PAGE_SIZE) }, maxPages))?.map(set =>
      toSet(set, zone),
    )
  }

  /** The sets at a name, of the types that matter. */
  async setsAt(zone: AzureZone, name: string): Promise<RecordSet[]> {
    const sets: RecordSet[] = []
    for (const type of TYPES) {
      const answer = await this.#call(`Microsoft.Network/dnsZones/${type}/read`, 'GET', pathOf(zone, { name, type }), {
        ...{ isMissingAllowed: true },
      })
      if (answer.status !== 404) sets.push(toSet(readAnswer('azure', setSchema, jsonIn(answer)), zone))
    }
    return sets
  }

  /** Writes one set. Fails unless it is as it was read, or there is none without `before`. */
  async write(zone: AzureZone, { before, after }: SetChange): Promise<void> {
    const set = after ?? before
    if (!set) return
    const source = before?.source as AzureSource | undefined
    const guard: Record<string, string> = source?.etag ? { 'if-match': source.etag } : { 'if-none-match': '*' }
    const path = pathOf(zone, set)
    if (!after) {
      await this.#call(`Microsoft.Network/dnsZones/${set.type}/delete`, 'DELETE', path, { headers: guard })
      return
    }
    const body = { properties: toProperties(after, source?.metadata) }
    const answer = await this.#call(`Microsoft.Network/dnsZones/${set.type}/write`, 'PUT', path, {
      headers: guard,
      body,
    })
    readAnswer('azure', setSchema, jsonIn(answer), true)
  }

  async #pages<S extends z.ZodType>(
    item: S,
    permission: string,
    path: string,
    query: Record<string, string> = {},
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<z.output<S>[] | undefined> {
    const found: z.output<S>[] = []
    const { endpoint } = this.#context
    let next: string | undefined = `${path}?${new URLSearchParams({ ...query, 'api-version': API_VERSION })}`
    for (let number = 1; next !== undefined; number++) {
      if (number > maxPages) return undefined
      const answer: TextAnswer = await this.#call(permission, 'GET', next, {})
      const { value, nextLink } = readAnswer('azure', page(item), jsonIn(answer))
      found.push(...(value as z.output<S>[]))
      // The token is for this address only.
      next = nextLink?.startsWith(`${endpoint}/`) ? nextLink.slice(endpoint.length) : undefined
    }
    return found
  }

  async #call(
    permission: string,
    method: string,
    path: string,
    {
      headers = {},
      body,
      isMissingAllowed = false,
    }: { headers?: Record<string, string>; body?: object; isMissingAllowed?: boolean },
  ): Promise<TextAnswer> {
    const call: HttpCall = {
      ...{ operation: permission, write: method !== 'GET', method, url: `${this.#context.endpoint}${path}` },
      headers: {
        ...{ authorization: `Bearer ${await this.#token()}`, 'content-type': 'application/json' },
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    const errorOf = (answer: TextAnswer) =>
      isMissingAllowed && answer.status === 404 && codeIn(answer) !== 'ParentResourceNotFound'
        ? undefined
        : this.#errorIn(answer, call, permission)
    return callProvider('azure', this.#context, call, answer => answer, errorOf)
  }

  #errorIn(answer: TextAnswer, call: HttpCall, permission: string): DnsProviderError | undefined {
    const { status, headers, body } = answer
    if (status < 300) return undefined
    const parsed = JSON_PATTERN.test(body) ? errorSchema.safeParse(jsonIn(answer)).data : undefined
    const reason = sentence('dns_provider.status', { status })
    if (!parsed) return gatewayError('azure', this.#context, call, answer, sentence('dns_provider.no_json', { status }))
    const { code, message } = parsed.error
    const requestId = headers.get('x-ms-request-id') ?? undefined
    const more = { code: code || String(status), ...(requestId ? { requestId } : {}) }
    const kind = kindOf(status, code, message)
    if (kind === 'permission')
      return new DnsProviderError('azure', kind, sentence('dns_provider.azure_permission', { permission }), {
        ...{ ...more, permission },
      })
    if (kind === 'rate_limited') {
      const retryAfter = secondsToWait(headers.get('retry-after'), this.#context.now(), THROTTLED_WAIT)
      return new DnsProviderError('azure', kind, sentence('dns_provider.wait', { seconds: retryAfter }), {
        ...{ ...more, retryAfter },
      })
    }
    const refusal = { provider: 'Azure', reason: message ? verbatim(message) : reason, code: more.code }
    return new DnsProviderError('azure', kind, sentence('dns_provider.refused', refusal), more)
  }
}

function kindOf(status: number, code: string, message: string): ProviderErrorKind {
  const known = CODE_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? STATUS_KINDS[status]
  if (known) return known
  if (status >= 500) return 'unknown_outcome'
  return (status === 400 || status === 409) && CONFLICT.test(message) ? 'conflict' : 'invalid'
}

function codeIn(answer: TextAnswer): string | undefined {
  return errorSchema.safeParse(jsonIn(answer)).data?.error.code
}

function jsonIn({ body }: TextAnswer): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}

/** The address of a single set. */
function pathOf(zone: AzureZone, { name, type }: Pick<RecordSet, 'name' | 'type'>): string {
  const relative = relativeName(name, canonicalName(zone.name))
  return `${zone.id}/${type}/${relative === '@' ? relative : encodeURIComponent(relative)}?api-version=${API_VERSION}`
}

function toSet({ name, type: resource, etag, properties }: z.output<typeof setSchema>, zone: AzureZone): RecordSet {
  const type = (resource.split('/').at(-1) ?? '').toUpperCase()
  const isAlias = Boolean(properties.targetResource?.id)
  const source: AzureSource = { etag: etag ?? undefined, metadata: properties.metadata }
  const values = valuesOf(type, properties)
  return {
    name: absoluteName(canonicalName(name), canonicalName(zone.name)),
    ...{ type, ttl: properties.TTL, source },
    values: isAlias && values.length === 0 ? [properties.targetResource?.id ?? ''] : values,
    ...(isAlias ? { foreign: true as const } : {}),
  }
}
