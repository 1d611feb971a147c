/** The calls of the Cloud DNS API (v1) that the provider uses. */
import { z } from 'zod'
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { canonicalName } from '../../records/names.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer, secondsToWait } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import type { RecordSet, SetChange } from '../record-sets/record-set.ts'
import type { GoogleAccess } from './access.ts'

const zoneSchema = z.object({
  name: z.string(),
  dnsName: z.string(),
  visibility: z.string().default('public'),
  nameServers: z.array(z.string()).default([]),
})
const setSchema = z.object({
  name: z.string(),
  type: z.string(),
  ttl: z.number().default(0),
  rrdatas: z.array(z.string()).default([]),
  routingPolicy: z.unknown().optional(),
})
const zonesSchema = z.object({ managedZones: z.array(zoneSchema).default([]), nextPageToken: z.string().optional() })
const setsSchema = z.object({ rrsets: z.array(setSchema).default([]), nextPageToken: z.string().optional() })
const errorSchema = z.object({
  error: z.object({
    message: z.string().default(''),
    errors: z.array(z.object({ reason: z.string().default('') })).default([]),
  }),
})

export type ManagedZone = z.output<typeof zoneSchema>

/** Error kinds by reason; other reasons follow the HTTP status. */
const ERROR_KINDS: readonly [RegExp, ProviderErrorKind][] = [
  [/^(rateLimitExceeded|userRateLimitExceeded|quotaExceeded|resourcesExhausted)$/i, 'rate_limited'],
  [/cname.*conflict/i, 'conflict'],
  [/^(alreadyExists|conditionNotMet|containsRequiredRecordDeletion)$/, 'changed'],
]
const STATUS_KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  ...{ 401: 'auth', 403: 'permission', 404: 'zone_not_found', 409: 'changed', 412: 'changed', 429: 'rate_limited' },
}
/** Sets a page. */
const PAGE_SIZE = 1000
/** Seconds to wait after a throttled call without Retry-After. */
const THROTTLED_WAIT = 30

/** The project of an identity. All methods throw {@link DnsProviderError}. */
export class GoogleDnsClient {
  readonly #access: () => Promise<GoogleAccess>
  readonly #context: CloudContext

  constructor(access: () => Promise<GoogleAccess>, context: CloudContext) {
    this.#access = access
    this.#context = context
  }

  /** All managed zones of the project, private ones included. */
  async zones(): Promise<ManagedZone[]> {
    const zones: ManagedZone[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const query: Record<string, string> = token ? { pageToken: token } : {}
      const answer = await this.#call('dns.managedZones.list', 'GET', '', query)
      const page: z.output<typeof zonesSchema> = readAnswer('google', zonesSchema, answer)
      zones.push(...page.managedZones)
      token = page.nextPageToken
    }
    return zones
  }

  /** The sets of a zone, or those at one name; undefined when that takes more than `maxPages` calls. */
  async sets(zone: string, name?: string, maxPages = Number.POSITIVE_INFINITY): Promise<RecordSet[] | undefined> {
    const sets: RecordSet[] = []
    let token: string | undefined = ''
    for (let number = 1; token !== undefined; number++) {
      if (number > maxPages) return undefined
      const query: Record<string, string> = {
        maxResults: String(PAGE_SIZE),
        ...(name === undefined ? {} : { name: `${name}.` }),
        ...(token ? { pageToken: token } : {}),
      }
      const path = `/${encodeURIComponent(zone)}/rrsets`
      const answer = await this.#call('dns.resourceRecordSets.list', 'GET', path, query)
      const page: z.output<typeof setsSchema> = readAnswer('google', setsSchema, answer)
      sets.push(...page.rrsets.map(toSet))
      token = page.nextPageToken
    }
    return sets
  }

  /** One transaction. Fails unless the sets are as `before` says, values and TTL. */
  async change(zone: string, changes: readonly SetChange[]): Promise<void> {
    const body = {
      deletions: changes.flatMap(({ before }) => (before ? [toResource(before)] : [])),
      additions: changes.flatMap(({ after }) => (after ? [toResource(after)] : [])),
    }
    await this.#call('dns.changes.create', 'POST', `/${encodeURIComponent(zone)}/changes`, {}, body)
  }

  async #call(
    permission: string,
    method: string,
    path: string,
    query: Record<string, string>,
    body?: object,
  ): Promise<JsonAnswer['json']> {
    const { token, project } = await this.#access()
    const parameters = new URLSearchParams(query).toString()
    const call = {
      ...{ operation: permission, write: method !== 'GET', method },
      url: `${this.#context.endpoint}/dns/v1/projects/${project}/managedZones${path}${parameters && `?${parameters}`}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    const errorOf = (answer: JsonAnswer) => errorIn(answer, permission, this.#context.now())
    return (await callJson('google', this.#context, call, errorOf)).json
  }
}

function errorIn({ status, headers, json }: JsonAnswer, permission: string, now: Date): DnsProviderError | undefined {
  if (status < 300) return undefined
  const { error } = errorSchema.catch({ error: { message: '', errors: [] } }).parse(json)
  const code = error.errors[0]?.reason || String(status)
  const unlisted = STATUS_KINDS[status] ?? (status >= 500 ? 'unknown_outcome' : 'invalid')
  // A set that is to be deleted is gone; otherwise the zone is.
  const isGone = status === 404 && error.message.includes('entity.change')
  const kind = isGone ? 'changed' : (ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? unlisted)
  if (kind === 'permission')
    return new DnsProviderError('google', kind, sentence('dns_provider.google_permission', { permission }), {
      ...{ code, permission },
    })
  if (kind === 'rate_limited') {
    const retryAfter = secondsToWait(headers.get('retry-after'), now, THROTTLED_WAIT)
    return new DnsProviderError('google', kind, sentence('dns_provider.wait', { seconds: retryAfter }), {
      ...{ code, retryAfter },
    })
  }
  const reason = error.message ? verbatim(error.message) : sentence('dns_provider.status', { status })
  const refusal = sentence('dns_provider.refused', { provider: 'Google Cloud', reason, code })
  return new DnsProviderError('google', kind, refusal, { code })
}

function toSet({ name, type, ttl, rrdatas, routingPolicy }: z.output<typeof setSchema>): RecordSet {
  const isForeign = routingPolicy !== undefined && routingPolicy !== null
  return {
    ...{ name: canonicalName(name), type, ttl },
    // A routing policy has values of its own; one stands for all of them.
    values: isForeign && rrdatas.length === 0 ? ['routing policy'] : rrdatas,
    ...(isForeign ? { foreign: true as const } : {}),
  }
}

function toResource({ name, type, ttl, values }: RecordSet): object {
  return { name: `${name}.`, type, ttl, rrdatas: values }
}
