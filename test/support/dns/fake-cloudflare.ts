/** A strict fake of the Cloudflare API v4: token permissions, exact parameters, small pages, its duplicate and CNAME rules. */
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, mxParts } from './fake-provider-zones.ts'

/** Tokens and their permissions. */
const CLOUDFLARE_TOKENS: Readonly<Record<string, readonly string[]>> = {
  'good-token': ['zone:read', 'dns:edit'],
  'no-edit-token': ['zone:read', 'dns:read'],
  'no-zone-token': ['dns:edit'],
}

/** So small that every list has several pages. */
const PAGE_CAP = 3
const TTL = { automatic: 1, min: 60, max: 86_400 }
const MAX_CONTENT = 2048
/** Maximum number of changes in one batch on the free plan. */
const MAX_BATCH = 200

/** Starts the fake. `twice`: names of zones that another account of the token has as well. */
export function startCloudflare(store: FakeStore, twice: readonly string[] = []): Promise<FakeCloud> {
  return startFake(store, {
    operation: ({ method, url }) =>
      `${method} ${url.pathname.replace(/[0-9a-f]{32}/g, ':zone').replace(/dns_records\/(?!batch$).+/, 'dns_records/:id')}`,
    handle: request => guarded(store, twice, request),
    throttle: () => failure(429, 10_429, 'Rate limited', { 'retry-after': '17' }),
    failure: () => failure(500, 500, 'internal'),
  })
}

/** The id of a zone in the fake. */
export function cloudflareZoneId({ id }: FakeZone): string {
  return id.toString(16).padStart(32, '0')
}

function guarded(store: FakeStore, twice: readonly string[], request: FakeRequest): FakeReply {
  const match = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')
  if (!match) return failure(400, 6003, 'Invalid request headers')
  const rights = CLOUDFLARE_TOKENS[match[1] ?? '']
  if (!rights) return failure(403, 9109, 'Invalid access token')
  const parts = request.url.pathname.slice(1).split('/')
  if (parts[0] !== 'zones') return failure(404, 7000, 'No route for that URI')
  if (parts.length <= 2)
    return rights.includes('zone:read')
      ? zones(store, twice, rights, request, parts[1])
      : failure(403, 10_000, 'Authentication error')
  const zone = store.zones.find(each => cloudflareZoneId(each) === parts[1])
  if (!zone || parts[2] !== 'dns_records')
    return failure(404, 7003, 'Could not route to /zones, perhaps your object identifier is invalid?')
  const needed = request.method === 'GET' ? ['dns:edit', 'dns:read'] : ['dns:edit']
  if (!needed.some(right => rights.includes(right))) return failure(403, 10_000, 'Authentication error')
  return records(store, zone, request, parts[3])
}

function zones(
  store: FakeStore,
  twice: readonly string[],
  rights: readonly string[],
  { url }: FakeRequest,
  id: string | undefined,
): FakeReply {
  const shown = (zone: FakeZone) => ({
    id: cloudflareZoneId(zone),
    name: zone.name,
    status: zone.status,
    paused: false,
    type: 'full',
    permissions: rights.includes('dns:edit') ? ['#dns_records:read', '#dns_records:edit'] : ['#dns_records:read'],
    name_servers: ['ada.ns.cloudflare.test', 'bob.ns.cloudflare.test'],
  })
  if (id !== undefined) {
    const zone = store.zones.find(each => cloudflareZoneId(each) === id)
    return zone ? success(shown(zone)) : failure(404, 7003, 'invalid identifier')
  }
  const unknown = unknownIn(url.searchParams.keys(), ['name', 'status', 'page', 'per_page'])
  if (unknown) return failure(400, 1004, `unknown parameter ${unknown}`)
  if (Number(url.searchParams.get('per_page') ?? 20) > 50) return failure(400, 1004, 'per_page is at most 50')
  const name = url.searchParams.get('name')
  const found = store.zones.filter(zone => name === null || zone.name === name)
  const doubled = found.flatMap(zone =>
    twice.includes(zone.name) ? [zone, { ...zone, id: zone.id + 500_000 }] : [zone],
  )
  return page(doubled.map(shown), url)
}

function records(store: FakeStore, zone: FakeZone, request: FakeRequest, id: string | undefined): FakeReply {
  const { method, url } = request
  if (method === 'GET' && id === undefined) {
    const known = ['name.exact', 'name.endswith', 'type', 'content.exact', 'page', 'per_page']
    const unknown = unknownIn(url.searchParams.keys(), known)
    if (unknown) return failure(400, 1004, `unknown parameter ${unknown}`)
    const name = url.searchParams.get('name.exact')
    const end = url.searchParams.get('name.endswith') ?? ''
    const fits = (record: FakeRecord) => (name === null || record.name === name) && record.name.endsWith(end)
    return page(zone.records.filter(fits).map(shownRecord), url)
  }
  if (method === 'POST' && id === undefined) return create(store, zone, parse(request.body))
  if (method === 'POST' && id === 'batch') return batch(store, zone, parse(request.body))
  const record = zone.records.find(each => String(each.id) === id)
  if (!record) return failure(404, 81_044, 'Record does not exist.')
  if (method === 'DELETE') return remove(zone, String(record.id))
  if (method !== 'PATCH') return failure(405, 10_405, 'Method not allowed')
  return patch(zone, record, parse(request.body))
}

/** One transaction: deletes, patches, posts; the first error restores the zone. */
function batch(store: FakeStore, zone: FakeZone, body: Record<string, unknown>): FakeReply {
  const unknown = unknownIn(Object.keys(body), ['deletes', 'patches', 'puts', 'posts'])
  if (unknown) return failure(400, 1004, `unknown field ${unknown}`)
  const parts = (name: string) => (body[name] ?? []) as Record<string, unknown>[]
  const count = parts('deletes').length + parts('patches').length + parts('posts').length
  if (count === 0 || count > MAX_BATCH) return failure(400, 1004, 'a batch has 1 to 200 changes')
  const before = structuredClone(zone.records)
  const result: Record<string, unknown[]> = { deletes: [], patches: [], puts: [], posts: [] }
  const steps: [string, (part: Record<string, unknown>) => FakeReply][] = [
    ['deletes', ({ id }) => remove(zone, String(id))],
    ['patches', ({ id, ...change }) => patchById(zone, String(id), change)],
    ['posts', part => create(store, zone, part)],
  ]
  for (const [name, step] of steps)
    for (const part of parts(name)) {
      const reply = step(part)
      if (reply.status !== 200) {
        zone.records.splice(0, zone.records.length, ...before)
        return reply
      }
      result[name]?.push((reply.json as { result: unknown }).result)
    }
  return success(result)
}

function remove(zone: FakeZone, id: string): FakeReply {
  const index = zone.records.findIndex(each => String(each.id) === id)
  if (index < 0) return failure(404, 81_044, 'Record does not exist.')
  zone.records.splice(index, 1)
  return success({ id })
}

function patchById(zone: FakeZone, id: string, change: Record<string, unknown>): FakeReply {
  const record = zone.records.find(each => String(each.id) === id)
  return record ? patch(zone, record, change) : failure(404, 81_044, 'Record does not exist.')
}

function create(store: FakeStore, zone: FakeZone, body: Record<string, unknown>): FakeReply {
  const refusal = refuse(zone, body, undefined)
  if (refusal) return refusal
  const record: FakeRecord = {
    id: store.nextId(),
    name: String(body.name),
    type: String(body.type),
    value: joined(body),
    ttl: Number(body.ttl),
    line: 'default',
    proxied: body.proxied === true,
    comment: String(body.comment ?? ''),
  }
  zone.records.push(record)
  return success(shownRecord(record))
}

function patch(zone: FakeZone, record: FakeRecord, body: Record<string, unknown>): FakeReply {
  if (record.locked) return failure(400, 81_047, 'The record is managed and cannot be edited')
  const merged: Record<string, unknown> = {
    type: record.type,
    name: record.name,
    ...(record.type === 'MX' ? mxFields(record.value) : { content: record.value }),
    ttl: record.ttl,
    ...body,
  }
  const refusal = refuse(zone, merged, record)
  if (refusal) return refusal
  Object.assign(record, { value: joined(merged), ttl: Number(merged.ttl), proxied: merged.proxied === true })
  return success(shownRecord(record))
}

function refuse(zone: FakeZone, body: Record<string, unknown>, self: FakeRecord | undefined): FakeReply | undefined {
  const unknown = unknownIn(Object.keys(body), ['type', 'name', 'content', 'priority', 'ttl', 'proxied', 'comment'])
  if (unknown) return failure(400, 1004, `DNS Validation Error: unknown field ${unknown}`)
  const { type, name, ttl } = body
  if (typeof name !== 'string' || !(name === zone.name || name.endsWith(`.${zone.name}`)))
    return failure(400, 1004, 'name is not in the zone')
  if (type === 'TXT' && 'proxied' in body) return failure(400, 9004, 'This record type cannot be proxied.')
  if (type === 'MX' && (!Number.isInteger(body.priority) || 'proxied' in body))
    return failure(400, 9100, 'MX records need a valid priority and cannot be proxied.')
  if (ttl !== TTL.automatic && !(Number(ttl) >= TTL.min && Number(ttl) <= TTL.max))
    return failure(400, 9021, 'ttl out of range')
  if (String(body.comment ?? '').length > 100) return failure(400, 9300, 'comment too long')
  return refuseConflict(zone, body, self)
}

/** Errors that depend on the other records of the name. */
function refuseConflict(
  zone: FakeZone,
  body: Record<string, unknown>,
  self: FakeRecord | undefined,
): FakeReply | undefined {
  const { type, name } = body
  const value = joined(body)
  if (value === '' || value.length > MAX_CONTENT) return failure(400, 9207, 'Content for TXT record is invalid.')
  const here = zone.records.filter(each => each.name === name && each !== self)
  if (here.some(each => each.type === type && each.value === value))
    return failure(400, 81_058, 'An identical record already exists.')
  if (here.some(each => each.type === 'CNAME'))
    return failure(400, 81_054, 'A CNAME record with that host already exists.')
  if (type === 'CNAME' && here.length > 0)
    return failure(400, 81_053, 'An A, AAAA, or CNAME record with that host already exists.')
  return undefined
}

function mxFields(value: string) {
  const { preference, host } = mxParts(value)
  return { content: host, priority: preference }
}

/** TXT is stored as given and split at 255 octets; the value is the joined text. */
function joined({ type, content, priority }: Record<string, unknown>): string {
  const text = String(content ?? '')
  if (type === 'MX') return `${priority} ${text}`
  if (type !== 'TXT' || !text.startsWith('"')) return text
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, chunk = '']) => chunk.replace(/\\(.)/g, '$1')).join('')
}

/** Reads return quoted, unquoted or split values. */
function shownRecord(record: FakeRecord) {
  const { id, name, type, value, ttl, proxied, comment, locked } = record
  const quoted = (value.match(/[\s\S]{1,255}/g) ?? [''])
    .map(chunk => `"${chunk.replace(/(["\\])/g, '\\$1')}"`)
    .join(' ')
  const content = type === 'TXT' && (id % 2 === 0 || value.length > 255) ? quoted : value
  return {
    id: String(id),
    name,
    type,
    ...(type === 'MX' ? mxFields(value) : { content }),
    ttl,
    proxied: proxied ?? false,
    proxiable: type === 'A',
    comment,
    tags: [],
    locked: locked ?? false,
  }
}

function page(all: readonly unknown[], url: URL): FakeReply {
  const per = Math.min(PAGE_CAP, Number(url.searchParams.get('per_page') ?? 20))
  const number = Number(url.searchParams.get('page') ?? 1)
  const result = all.slice((number - 1) * per, number * per)
  const info = {
    page: number,
    per_page: per,
    count: result.length,
    total_count: all.length,
    total_pages: Math.ceil(all.length / per),
  }
  return { status: 200, json: { success: true, errors: [], messages: [], result, result_info: info } }
}

function success(result: unknown): FakeReply {
  return { status: 200, json: { success: true, errors: [], messages: [], result } }
}

function failure(status: number, code: number, message: string, headers: Record<string, string> = {}): FakeReply {
  return {
    status,
    json: { success: false, errors: [{ code, message }], messages: [], result: null },
    headers: { 'cf-ray': 'ray-1', ...headers },
  }
}

function unknownIn(names: Iterable<string>, known: readonly string[]): string | undefined {
  return [...names].find(name => !known.includes(name))
}

function parse(body: string): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>
}
