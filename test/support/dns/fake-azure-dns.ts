/** A strict fake of Azure DNS (2018-05-01) with its token service: sets with ETags, aliases, pages with links. */
import { createHash } from 'node:crypto'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, mxParts, replaceSet } from './fake-provider-zones.ts'

export const AZURE = {
  tenant_id: '11111111-1111-1111-1111-111111111111',
  client_id: '22222222-2222-2222-2222-222222222222',
  client_secret: 'good~secret',
  subscription_id: '33333333-3333-3333-3333-333333333333',
}
/** An app registration that may only read. */
export const AZURE_READER = '44444444-4444-4444-4444-444444444444'
/** The token of a pod with workload identity. */
export const AZURE_POD_TOKEN = 'federated-token'
/** So small that every list has several pages. */
const PAGE_CAP = 2
const GROUP = 'dns-group'

/** Settings of a process without an identity, with the token service of a fake. */
export function azureSettings(url: string) {
  return {
    ...{ AZURE_AUTHORITY_HOST: url, AZURE_TENANT_ID: undefined, AZURE_CLIENT_ID: undefined },
    AZURE_FEDERATED_TOKEN_FILE: undefined,
  }
}

/** `privateZones`: names of private zones beside the public ones of the store. */
export interface AzureOptions {
  privateZones?: readonly string[]
}

/** Starts the fake. The token service is at the same address. */
export function startAzureDns(store: FakeStore, options: AzureOptions = {}): Promise<FakeCloud> {
  return startFake(store, {
    operation: ({ method, url }) => {
      if (url.pathname.endsWith('/token')) return 'POST /token'
      const [, list = '', ...rest] = url.pathname.split(/\/dnszones\/?/i)
      const parts = [list, ...rest].join('/').split('/').slice(1)
      if (list === '') return `${method} /dnszones`
      return `${method} ${parts[0] === 'recordsets' ? 'recordsets' : ':set'}`
    },
    handle: request => {
      if (request.url.pathname.endsWith('/token')) return exchange(request)
      return guard(request) ?? act(store, request, options)
    },
    throttle: () => failure(429, 'TooManyRequests', 'The request is being throttled', { 'retry-after': '11' }),
    failure: () => failure(500, 'InternalServerError', 'Encountered internal server error'),
  })
}

function exchange({ url, headers, body }: FakeRequest): FakeReply {
  const form = Object.fromEntries(new URLSearchParams(body))
  const refused = (error: string, code: string) => ({
    status: 401,
    json: { error, error_description: `${code}: refused` },
  })
  if (url.pathname !== `/${AZURE.tenant_id}/oauth2/v2.0/token`) return refused('invalid_request', 'AADSTS90002')
  if (form.grant_type !== 'client_credentials' || form.scope !== `http://${headers.host}/.default`)
    return refused('invalid_scope', 'AADSTS70011')
  if (form.client_id !== AZURE.client_id && form.client_id !== AZURE_READER)
    return refused('invalid_client', 'AADSTS700016')
  const isAssertion = form.client_assertion_type === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const isGood = isAssertion ? form.client_assertion === AZURE_POD_TOKEN : form.client_secret === AZURE.client_secret
  if (!isGood) return refused('invalid_client', 'AADSTS7000215')
  const access_token = form.client_id === AZURE_READER ? 'reader-token' : 'writer-token'
  return { status: 200, json: { access_token, expires_in: 3599, token_type: 'Bearer' } }
}

function guard({ method, url, headers }: FakeRequest): FakeReply | undefined {
  const token = /^Bearer (writer|reader)-token$/.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return failure(401, 'InvalidAuthenticationToken', 'The access token is invalid.')
  if (url.searchParams.get('api-version') !== '2018-05-01')
    return failure(400, 'MissingApiVersionParameter', 'The api-version query parameter is required.')
  if (!url.pathname.startsWith(`/subscriptions/${AZURE.subscription_id}/`))
    return failure(404, 'SubscriptionNotFound', 'The subscription could not be found.')
  if (token === 'reader' && method !== 'GET')
    return failure(403, 'AuthorizationFailed', 'The client does not have authorization to perform the action.')
  return undefined
}

function act(store: FakeStore, request: FakeRequest, options: AzureOptions): FakeReply {
  const { method, url } = request
  const scope = `/subscriptions/${AZURE.subscription_id}`
  const path = url.pathname.replace(`${scope}/resourceGroups/${GROUP}`, scope)
  const base = `${scope}/providers/Microsoft.Network/dnszones`
  if (path === base && method === 'GET') return page(zones(store, options), request)
  const [name, type, relative] = path.startsWith(`${base}/`) ? path.slice(base.length + 1).split('/') : []
  const zone = store.zones.find(each => each.name === name)
  if (!zone)
    return failure(
      404,
      'ParentResourceNotFound',
      `Cannot perform requested operation on nested resource. ${name} not found.`,
    )
  if (type === 'recordsets' && relative === undefined && method === 'GET') return page(setsOf(zone).map(shown), request)
  const set = {
    name: relative === '@' ? zone.name : `${decodeURIComponent(relative ?? '')}.${zone.name}`,
    type: type ?? '',
  }
  const stored = setsOf(zone).find(other => other.name === set.name && other.type === set.type)
  if (method === 'GET')
    return stored
      ? { status: 200, json: shown(stored) }
      : failure(404, 'NotFound', 'The resource record was not found.')
  return change(store, zone, request, set, stored)
}

function zones(store: FakeStore, { privateZones = [] }: AzureOptions): object[] {
  const id = (name: string) =>
    `/subscriptions/${AZURE.subscription_id}/resourceGroups/${GROUP}/providers/Microsoft.Network/dnszones/${name}`
  return [
    ...privateZones.map(name => ({ id: id(name), name, properties: { zoneType: 'Private' } })),
    ...store.zones.map(({ name }) => ({
      ...{ id: id(name), name, etag: 'z' },
      properties: { zoneType: 'Public', nameServers: ['ns1-01.azure-dns.test.', 'ns2-01.azure-dns.test.'] },
    })),
  ]
}

interface StoredSet {
  name: string
  type: string
  relative: string
  records: FakeRecord[]
}

function setsOf(zone: FakeZone): StoredSet[] {
  const groups = Map.groupBy(zone.records, ({ name, type }) => `${name} ${type}`)
  return [...groups.values()].flatMap(records => {
    const [first] = records
    if (!first) return []
    const { name, type } = first
    return [{ name, type, records, relative: name === zone.name ? '@' : name.slice(0, -zone.name.length - 1) }]
  })
}

function etagOf({ records }: StoredSet): string {
  const content = JSON.stringify(records.map(({ value, ttl }) => [value, ttl]))
  return createHash('sha1').update(content).digest('hex')
}

function shown(set: StoredSet): object {
  const { type, relative, records } = set
  const [first] = records
  const values = records.map(({ value }) => value)
  const forms: Record<string, object> = {
    TXT: { TXTRecords: values.map(value => ({ value: value.match(/[\s\S]{1,255}/g) ?? [''] })) },
    A: { ARecords: values.map(ipv4Address => ({ ipv4Address })) },
    AAAA: { AAAARecords: values.map(ipv6Address => ({ ipv6Address })) },
    MX: { MXRecords: values.map(mxParts).map(({ preference, host }) => ({ preference, exchange: `${host}.` })) },
    CNAME: { CNAMERecord: { cname: `${values[0]}.` } },
    NS: { NSRecords: values.map(nsdname => ({ nsdname })) },
  }
  return {
    ...{ id: `/x/${relative}`, name: relative, type: `Microsoft.Network/dnszones/${type}`, etag: etagOf(set) },
    properties: {
      ...{ TTL: first?.ttl, fqdn: `${set.name}.`, provisioningState: 'Succeeded' },
      ...(first?.comment ? { metadata: { note: first.comment } } : {}),
      ...(first?.proxied ? { targetResource: { id: '/subscriptions/x/publicIPAddresses/ip' } } : forms[type]),
    },
  }
}

interface Body {
  properties: {
    TTL: number
    metadata?: Record<string, string>
    TXTRecords?: { value: string[] }[]
    ARecords?: { ipv4Address: string }[]
    AAAARecords?: { ipv6Address: string }[]
    MXRecords?: { preference: number; exchange: string }[]
    CNAMERecord?: { cname: string }
  }
}

function change(
  store: FakeStore,
  zone: FakeZone,
  { method, headers, body }: FakeRequest,
  { name, type }: Pick<StoredSet, 'name' | 'type'>,
  stored: StoredSet | undefined,
): FakeReply {
  const etag = stored && etagOf(stored)
  if (headers['if-match'] !== undefined && headers['if-match'] !== etag)
    return failure(412, 'PreconditionFailed', 'The condition set in the request was not met.')
  if (headers['if-none-match'] === '*' && stored)
    return failure(412, 'PreconditionFailed', 'The Record set already exists so cannot be created again.')
  if (headers['if-match'] === undefined && headers['if-none-match'] === undefined)
    return failure(400, 'BadRequest', 'This client always sends a condition.')
  if (method === 'DELETE') {
    replaceSet(store, zone, { name, type, ttl: 0, values: [] })
    return { status: 200, json: undefined }
  }
  if (method !== 'PUT') return failure(405, 'MethodNotAllowed', method)
  const { properties } = JSON.parse(body) as Body
  const values = valuesOf(type, properties)
  const error = whyInvalid(zone, { name, type }, properties, values)
  if (error) return error
  replaceSet(store, zone, { name, type, ttl: properties.TTL, values: values ?? [] })
  const made = setsOf(zone).find(set => set.name === name && set.type === type)
  return { status: stored ? 200 : 201, json: made && shown(made) }
}

function whyInvalid(
  zone: FakeZone,
  { name, type }: Pick<StoredSet, 'name' | 'type'>,
  properties: Body['properties'],
  values: string[] | undefined,
): FakeReply | undefined {
  if (!values || values.length === 0 || !Number.isInteger(properties.TTL))
    return failure(400, 'BadRequest', `The resource record set ${name} of type ${type} is invalid.`)
  if (properties.TXTRecords?.some(({ value }) => value.some(text => Buffer.byteLength(text) > 255)))
    return failure(400, 'BadRequest', 'A character-string of a TXT record is longer than 255.')
  const others = zone.records.filter(record => record.name === name && record.type !== type)
  if (others.some(record => record.type === 'CNAME') || (type === 'CNAME' && others.length > 0))
    return failure(400, 'BadRequest', `A CNAME record set with name '${name}' cannot coexist with other record sets.`)
  if (type === 'CNAME' && name === zone.name)
    return failure(400, 'BadRequest', 'A CNAME record set cannot be created at the zone apex.')
  return undefined
}

function valuesOf(type: string, properties: Body['properties']): string[] | undefined {
  if (type === 'TXT') return properties.TXTRecords?.map(({ value }) => value.join(''))
  if (type === 'A') return properties.ARecords?.map(({ ipv4Address }) => ipv4Address)
  if (type === 'AAAA') return properties.AAAARecords?.map(({ ipv6Address }) => ipv6Address)
  if (type === 'MX') return properties.MXRecords?.map(({ preference, exchange }) => `${preference} ${exchange}`)
  return properties.CNAMERecord && [properties.CNAMERecord.cname]
}

function page(all: readonly object[], { url, headers }: FakeRequest): FakeReply {
  const from = Number(url.searchParams.get('$skiptoken') ?? 0)
  const next = new URL(`http://${headers.host}${url.pathname}${url.search}`)
  next.searchParams.set('$skiptoken', String(from + PAGE_CAP))
  const value = all.slice(from, from + PAGE_CAP)
  return { status: 200, json: { value, ...(from + PAGE_CAP < all.length ? { nextLink: next.href } : {}) } }
}

function failure(status: number, code: string, message: string, headers: Record<string, string> = {}): FakeReply {
  return { status, json: { error: { code, message } }, headers: { 'x-ms-request-id': 'R-1', ...headers } }
}
