/** Cloudflare API v4 (https://developers.cloudflare.com/api): bearer token, five calls. */
import { z } from 'zod'
import { canonicalName, isWithin, suffixesOf } from '../records/names.ts'
import { parseTxt, quoteTxt, type StoredRecord, type WantedRecord } from '../records/record.ts'
import { type CloudContext, callJson, type JsonAnswer, readAnswer, secondsToWait } from './http-call.ts'
import { type Change, type DnsProvider, DnsProviderError, type ProviderErrorKind, type Zone } from './provider.ts'
import { readNames } from './read-names.ts'
import type { CredentialsOf } from './rules/dns-credentials.ts'

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
  ttl: z.number(),
  proxied: z.boolean().nullish(),
  /** Records that other products of theirs manage cannot be changed. */
  locked: z.boolean().nullish(),
})
const batchSchema = z.object({ patches: z.array(recordSchema).nullish(), posts: z.array(recordSchema).nullish() })
const pageSchema = z.object({ total_pages: z.number().default(1) }).nullish()
const errorsSchema = z.array(z.object({ code: z.number(), message: z.string().default('') })).default([])

/** Faults by documented or observed code; anything else goes by the HTTP status. */
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
/** 60 is the least of all plans but Enterprise; lower than 300 changes nothing for mail. */
const MIN_TTL = 300
/** The vendor documents no bound; 2048 characters is what its dashboard takes. An assumption. */
const MAX_TXT = 2048
/** The vendor takes far more; half a megabyte is enough for one answer. */
const PAGE = 500
const read = <S extends z.ZodType>(schema: S, value: unknown, write = false) =>
  readAnswer('cloudflare', schema, value, write)
const RIGHTS = { read: 'Zone → Zone → Read', write: 'Zone → DNS → Edit' }

/** A Cloudflare account behind one API token. */
export function createCloudflare(credentials: CredentialsOf<'cloudflare'>, context: CloudContext): DnsProvider {
  const zones = new Map<string, Promise<Zone | undefined>>()
  const call = (operation: string, method: string, path: string, right: string, body?: object) =>
    callJson(
      'cloudflare',
      context,
      {
        operation,
        write: method !== 'GET',
        method,
        url: `${context.endpoint}${path}`,
        headers: { authorization: `Bearer ${credentials.api_token}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      },
      answer => refusalOf(answer, right, context.now()),
    )

  async function zoneNamed(name: string): Promise<Zone | undefined> {
    const { json } = await call('zones', 'GET', `/zones?${new URLSearchParams({ name, per_page: '50' })}`, RIGHTS.read)
    const found = read(z.array(zoneSchema), json.result ?? [])
    if (found.length > 1)
      throw new DnsProviderError(
        'cloudflare',
        'zone_ambiguous',
        `The zone ${name} is in ${found.length} accounts of this token; store the zone id as well.`,
      )
    return found[0] && toZone(found[0])
  }

  async function searchZone(name: string): Promise<Zone | undefined> {
    if (credentials.zone_id) {
      const { json } = await call('zone', 'GET', `/zones/${credentials.zone_id}`, RIGHTS.read)
      const zone = toZone(read(zoneSchema, json.result))
      if (isWithin(name, zone.name)) return zone
      // The id speaks of its own zone only; a token for that one alone may not look further.
      return searchByName(name).catch(nothingWhenDenied)
    }
    return searchByName(name)
  }

  async function searchByName(name: string): Promise<Zone | undefined> {
    for (const candidate of suffixesOf(name).filter(mayBeZone)) {
      const known = zones.get(`= ${candidate}`) ?? zoneNamed(candidate)
      zones.set(`= ${candidate}`, known)
      const zone = await known
      if (zone) return zone
    }
    return undefined
  }

  /** A list, page by page; undefined when it has more pages than that. */
  async function list(
    zone: Zone,
    filter: Record<string, string>,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<StoredRecord[] | undefined> {
    const records: StoredRecord[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = new URLSearchParams({ ...filter, per_page: String(PAGE), page: String(page) })
      const { json } = await call('list', 'GET', `/zones/${zone.id}/dns_records?${query}`, RIGHTS.write)
      records.push(...read(z.array(recordSchema), json.result ?? []).map(toRecord))
      pages = read(pageSchema, json.result_info)?.total_pages ?? 1
      if (pages > maxPages) return undefined
    }
    return records
  }

  function findZone(name: string): Promise<Zone | undefined> {
    const known = zones.get(name) ?? searchZone(name)
    zones.set(name, known)
    known.catch(() => zones.clear())
    return known
  }

  const at = async (zone: Zone, name: string) =>
    (await list(zone, { 'name.exact': name }))?.filter(record => record.name === name) ?? []

  return {
    type: 'cloudflare',
    async test() {
      const { json } = await call(
        'zones',
        'GET',
        credentials.zone_id ? `/zones/${credentials.zone_id}` : '/zones?per_page=50',
        RIGHTS.read,
      )
      const found = read(z.array(zoneSchema), Array.isArray(json.result) ? json.result : [json.result])
      const [first] = found
      if (first?.permissions && !first.permissions.includes('#dns_records:edit')) throw lacks(RIGHTS.write)
      if (first) await call('list', 'GET', `/zones/${first.id}/dns_records?per_page=5`, RIGHTS.write)
      return found.map(toZone)
    },
    findZone,
    list: at,
    read: questions =>
      readNames(
        {
          findZone,
          at,
          below: (zone, name, maxPages) => list(zone, name === zone.name ? {} : { 'name.endswith': name }, maxPages),
        },
        questions,
      ),
    batch: {
      guarded: false,
      /** One transaction of theirs, in the order deletes, patches, posts; each list of the answer keeps its order. */
      async write(zone, changes, _seen, note) {
        const body = {
          deletes: changes.flatMap(change => (change.action === 'delete' ? [{ id: change.before.id }] : [])),
          patches: changes.flatMap(change =>
            change.action === 'update' ? [{ id: change.before.id, ...toBody(change.record) }] : [],
          ),
          posts: changes.flatMap(change => (change.action === 'create' ? [toPost(change.record, note)] : [])),
        }
        const filled = Object.fromEntries(Object.entries(body).filter(([, list]) => list.length > 0))
        const { json } = await call('batch', 'POST', `/zones/${zone.id}/dns_records/batch`, RIGHTS.write, filled)
        return inOrder(changes, read(batchSchema, json.result, true))
      },
    },
    async create(zone, record, note) {
      const { json } = await call('create', 'POST', `/zones/${zone.id}/dns_records`, RIGHTS.write, toPost(record, note))
      return toRecord(read(recordSchema, json.result, true))
    },
    async update(zone, before, record) {
      const { json } = await call(
        'update',
        'PATCH',
        `/zones/${zone.id}/dns_records/${before.id}`,
        RIGHTS.write,
        toBody(record),
      )
      return toRecord(read(recordSchema, json.result, true))
    },
    async remove(zone, record) {
      try {
        await call('delete', 'DELETE', `/zones/${zone.id}/dns_records/${record.id}`, RIGHTS.write)
      } catch (error) {
        if (!(error instanceof DnsProviderError && error.kind === 'not_found')) throw error
      }
    },
  }
}

function nothingWhenDenied(error: unknown): undefined {
  if (error instanceof DnsProviderError && error.kind === 'permission') return undefined
  throw error
}

/** Labels with an underscore carry records of services, never a zone of an account. */
function mayBeZone(name: string): boolean {
  return name.includes('.') && !name.split('.').some(label => label.startsWith('_'))
}

function toPost(record: WantedRecord, note: string): object {
  return { ...toBody(record), comment: note.slice(0, 100) }
}

/** The records of a batch's answer beside the changes that made them. */
function inOrder(changes: readonly Change[], { patches, posts }: z.output<typeof batchSchema>) {
  const [updated, created] = [[...(patches ?? [])], [...(posts ?? [])]]
  return changes.map(({ action }) => {
    const record = action === 'create' ? created.shift() : action === 'update' ? updated.shift() : undefined
    return record && toRecord(record)
  })
}

function toBody({ type, name, value, ttl }: WantedRecord): object {
  // A proxied address would answer with Cloudflare's web servers, which speak no SMTP.
  const proxied = type === 'TXT' ? {} : { proxied: false }
  return { type, name, content: type === 'TXT' ? quoteTxt(value) : value, ttl, ...proxied }
}

function toRecord({ id, name, type, content, ttl, proxied, locked }: z.output<typeof recordSchema>): StoredRecord {
  return {
    id,
    name: canonicalName(name),
    type,
    value: type === 'TXT' ? parseTxt(content) : content,
    ttl,
    ...(proxied ? { proxied: true } : {}),
    ...(locked ? { locked: true } : {}),
  }
}

function toZone({ id, name, status, paused, type, name_servers }: z.output<typeof zoneSchema>): Zone {
  const warnings = [
    ...(status === 'active' ? [] : [`The zone is ${status} at Cloudflare: what is written there is not served yet.`]),
    ...(paused ? ['The zone is paused at Cloudflare.'] : []),
    ...(type === 'partial' ? ['The zone is a partial (CNAME) setup: its DNS is served elsewhere.'] : []),
  ]
  return { id, name: canonicalName(name), minTtl: MIN_TTL, maxTxt: MAX_TXT, nameServers: name_servers ?? [], warnings }
}

function lacks(permission: string): DnsProviderError {
  return new DnsProviderError(
    'cloudflare',
    'permission',
    `The API token is not valid here or lacks the permission ${permission}.`,
    { permission },
  )
}

function refusalOf({ status, headers, json }: JsonAnswer, right: string, now: Date): DnsProviderError | undefined {
  if (status < 400 && json.success !== false) return undefined
  const [first] = errorsSchema.catch([]).parse(json.errors)
  const code = first ? String(first.code) : String(status)
  const requestId = headers.get('cf-ray') ?? undefined
  const more = { code, ...(requestId ? { requestId } : {}) }
  const kind = (first && ERROR_KINDS[first.code]) ?? byStatus(status)
  if (kind === 'permission') return lacks(right)
  if (kind === 'rate_limited') {
    const seconds = secondsToWait(headers.get('retry-after'), now, 300)
    return new DnsProviderError('cloudflare', kind, `Cloudflare asks to wait ${seconds} s.`, {
      ...more,
      retryAfter: seconds,
    })
  }
  return new DnsProviderError(
    'cloudflare',
    kind,
    `Cloudflare refused it: ${first?.message || `status ${status}`} (${code}).`,
    more,
  )
}

function byStatus(status: number): ProviderErrorKind {
  if (status === 401) return 'auth'
  if (status === 403) return 'permission'
  if (status === 404) return 'not_found'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unknown_outcome' : 'invalid'
}
