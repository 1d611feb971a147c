/** A strict fake of a webhook provider of external-dns (protocol version 1): exact old values, all or nothing, its own TXT forms. */
import { quoteTxt } from '../../../services/mail/dns/records/record.ts'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, replaceSet } from './fake-provider-zones.ts'

const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1'

/** Bearer tokens that a proxy in front of the provider knows. */
const TOKENS: Readonly<Record<string, { write: boolean }>> = {
  'good-token': { write: true },
  'no-write-token': { write: false },
}

/**
 * `txt`: how values are returned, and how old values must be written. `quoted`: in quotes; `plain`: without, compared as
 * text; `strings`: each character-string a target of its own, as the RFC 2136 provider of external-dns does.
 */
export interface WebhookOptions {
  txt?: 'quoted' | 'plain' | 'strings'
  /** The domain filter; default: the zones of the store. */
  filter?: object | null
  /** Labels of an endpoint, by `name type`. */
  labels?: Readonly<Record<string, Record<string, string>>>
}

interface Endpoint {
  dnsName: string
  recordType: string
  targets: string[]
  recordTTL?: number
  setIdentifier?: string
  labels?: Record<string, string>
}
type Changes = Partial<Record<'create' | 'updateOld' | 'updateNew' | 'delete', Endpoint[]>>

/** Starts the fake. */
export function startWebhookProvider(store: FakeStore, options: WebhookOptions = {}): Promise<FakeCloud> {
  return startFake(store, {
    operation: ({ method, url }) => `${method} ${url.pathname}`,
    handle: (request, operation) => guard(request) ?? act(store, request, operation, options),
    throttle: () => ({ status: 429, json: undefined, headers: { 'retry-after': '17' } }),
    failure: () => ({ status: 500, json: undefined }),
  })
}

function guard({ method, url, headers }: FakeRequest): FakeReply | undefined {
  const token = TOKENS[/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '']
  if (!token) return { status: 401, json: undefined }
  if (headers.accept !== MEDIA_TYPE) return { status: 406, json: undefined }
  if (method === 'POST' && headers['content-type'] !== MEDIA_TYPE) return { status: 415, json: undefined }
  if (method === 'POST' && url.pathname === '/records' && !token.write) return { status: 403, json: undefined }
  return undefined
}

function act(store: FakeStore, { body }: FakeRequest, operation: string, options: WebhookOptions): FakeReply {
  switch (operation) {
    case 'GET /': {
      const all = { include: store.zones.map(({ name }) => name) }
      return success(options.filter === undefined ? all : options.filter)
    }
    case 'GET /records':
      return success(store.zones.flatMap(zone => endpointsOf(zone, options)))
    case 'POST /adjustendpoints':
      return success(
        (JSON.parse(body) as Endpoint[]).map(one => ({ ...one, recordTTL: Math.max(60, one.recordTTL ?? 60) })),
      )
    case 'POST /records':
      return apply(store, JSON.parse(body) as Changes, options)
    default:
      return { status: 404, json: undefined }
  }
}

function endpointsOf(zone: FakeZone, options: WebhookOptions): Endpoint[] {
  const shown = zone.records.filter(({ disabled }) => !disabled)
  const sets = Map.groupBy(shown, ({ name, type, line }) => `${name} ${type} ${line}`)
  return [...sets.values()].map(records => {
    const [{ name, type, ttl, line } = expectRecord()] = records
    return {
      ...{ dnsName: name, recordType: type, recordTTL: ttl, labels: options.labels?.[`${name} ${type}`] ?? {} },
      ...(line === 'default' ? {} : { setIdentifier: line }),
      targets: records.flatMap(record => targetsOf(record, options)),
    }
  })
}

function targetsOf({ type, value }: FakeRecord, { txt = 'quoted' }: WebhookOptions): string[] {
  if (type !== 'TXT') return [value]
  if (txt === 'quoted') return [quoteTxt(value)]
  return txt === 'plain' ? [value] : (value.match(/[\s\S]{1,255}/g) ?? [''])
}

/** All changes or none. */
function apply(store: FakeStore, changes: Changes, options: WebhookOptions): FakeReply {
  const unknown = Object.keys(changes).find(key => !['create', 'updateOld', 'updateNew', 'delete'].includes(key))
  const { create = [], updateOld = [], updateNew = [], delete: gone = [] } = changes
  const key = ({ dnsName, recordType }: Endpoint) => `${dnsName} ${recordType}`
  if (unknown || String(updateOld.map(key)) !== String(updateNew.map(key))) return refusal('malformed changes')
  const steps: [Endpoint | undefined, Endpoint | undefined][] = [
    ...gone.map((old): [Endpoint, undefined] => [old, undefined]),
    ...updateOld.map((old, index): [Endpoint, Endpoint | undefined] => [old, updateNew[index]]),
    ...create.map((fresh): [undefined, Endpoint] => [undefined, fresh]),
  ]
  const before = store.zones.map(({ records }) => records.map(record => ({ record, copy: { ...record } })))
  for (const [old, fresh] of steps) {
    const error = change(store, old, fresh, options)
    if (error === undefined) continue
    for (const [index, zone] of store.zones.entries()) {
      const saved = before[index] ?? []
      for (const { record, copy } of saved) Object.assign(record, copy)
      zone.records.splice(0, zone.records.length, ...saved.map(({ record }) => record))
    }
    return refusal(error)
  }
  return { status: 204, json: undefined }
}

/** Why the change of a set is refused; the old values must be there, and the new ones valid. */
function change(
  store: FakeStore,
  old: Endpoint | undefined,
  fresh: Endpoint | undefined,
  options: WebhookOptions,
): string | undefined {
  const { dnsName: name, recordType: type, recordTTL: ttl = 0 } = fresh ?? old ?? expectRecord()
  const zone = zoneOf(store, name)
  if (!zone) return `no zone for ${name}`
  if (fresh && ttl < zone.minTtl) return `the TTL of ${name} is below ${zone.minTtl}`
  const here = zone.records.filter(record => record.name === name && record.line === 'default')
  const stored = here.filter(record => record.type === type).map(({ value }) => value)
  const gone = type === 'TXT' ? oldValues(old?.targets ?? [], options) : (old?.targets ?? [])
  const missing = gone.find(value => !stored.includes(value))
  if (missing !== undefined) return `${name} has no ${type} ${missing}`
  if (!old && stored.length > 0) return `${name} ${type} exists`
  const values = (fresh?.targets ?? []).map(target => (type === 'TXT' ? stringsOf(target) : target))
  const error = fresh && whyInvalid(type, values, here)
  if (error) return error
  replaceSet(store, zone, { name, type, ttl, values: [...stored.filter(value => !gone.includes(value)), ...values] })
  return undefined
}

function whyInvalid(type: string, values: readonly string[], here: readonly FakeRecord[]): string | undefined {
  if (type === 'MX' && values.some(value => !/^\d+ \S+[^.]$/.test(value))) return `"${values}" is no MX target`
  const others = here.filter(record => record.type !== type)
  const isAlias = others.some(record => record.type === 'CNAME') || (type === 'CNAME' && others.length > 0)
  return isAlias ? 'there is an alias' : undefined
}

/** A provider that compares texts takes quotes for a part of the value. */
function oldValues(targets: readonly string[], { txt = 'quoted' }: WebhookOptions): string[] {
  return txt === 'plain' ? [...targets] : targets.map(stringsOf)
}

/** Text of a zone file: without quotes, a blank ends a character-string and a semicolon starts a comment. */
function stringsOf(target: string): string {
  const parts = [...target.matchAll(/"((?:[^"\\]|\\.)*)"|;.*|([^\s";]+)/gs)]
  return parts.map(([, quoted, plain]) => (quoted ?? plain ?? '').replace(/\\(.)/gs, '$1')).join('')
}

function zoneOf({ zones }: FakeStore, name: string): FakeZone | undefined {
  return zones
    .filter(zone => name === zone.name || name.endsWith(`.${zone.name}`))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
}

function expectRecord(): never {
  throw new Error('a set has records')
}

function success(json: unknown): FakeReply {
  return { status: 200, json, headers: { 'content-type': MEDIA_TYPE } }
}

/** The server of external-dns answers every error of a provider with 500; some add a text. */
function refusal(text: string): FakeReply {
  return { status: 500, json: text }
}
