/** A strict fake of Amazon Route 53 (2013-04-01): verifies each signature independently; transactions with exact old sets. */
import { createHash, createHmac } from 'node:crypto'
import { child, listAt, parseXml, textAt, type XmlElement } from '../../../services/mail/dns/providers/route53/xml.ts'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, replaceSet } from './fake-provider-zones.ts'

/** Secrets by key id, with denied actions; temporary keys have a token. */
const AWS_KEYS: Readonly<Record<string, { secret: string; denied?: readonly string[]; token?: string }>> = {
  AKIAGOOD: { secret: 'good/secret+key' },
  AKIANOWRITE: { secret: 'good/secret+key', denied: ['ChangeResourceRecordSets'] },
  AKIANOLIST: { secret: 'good/secret+key', denied: ['ListHostedZones', 'ListHostedZonesByName'] },
  ASIAROLE: { secret: 'temporary', token: 'session token/=' },
}
const SKEW_SECONDS = 300
/** So small that every list has several pages. */
const PAGE_CAP = 2

/** `privateZones`: names of private zones beside the public ones of the store. `now`: the clock of the service. */
export interface Route53Options {
  privateZones?: readonly string[]
  now?: () => Date
}

interface StoredSet {
  name: string
  type: string
  ttl: number
  values: string[]
  identifier?: string
  alias?: boolean
}

/** Starts the fake. */
export function startRoute53(store: FakeStore, options: Route53Options = {}): Promise<FakeCloud> {
  const now = options.now ?? (() => new Date())
  return startFake(store, {
    operation: actionOf,
    handle: (request, action) => guard(request, action, now()) ?? act(store, request, action, options),
    throttle: () => failure(400, 'Throttling', 'Rate exceeded'),
    failure: () => failure(500, 'InternalFailure', 'An internal error has occurred'),
  })
}

/** The id of a zone in the fake. */
export function hostedZoneId({ id }: Pick<FakeZone, 'id'>): string {
  return `Z${String(id).padStart(12, '0')}`
}

function actionOf({ method, url }: FakeRequest): string {
  const path = url.pathname.replace(/^\/2013-04-01/, '')
  if (path === '/hostedzone') return 'ListHostedZones'
  if (path === '/hostedzonesbyname') return 'ListHostedZonesByName'
  if (/^\/hostedzone\/[^/]+$/.test(path)) return 'GetHostedZone'
  if (/^\/hostedzone\/[^/]+\/rrset\/?$/.test(path))
    return method === 'GET' ? 'ListResourceRecordSets' : 'ChangeResourceRecordSets'
  return '?'
}

function guard(request: FakeRequest, action: string, now: Date): FakeReply | undefined {
  const { headers } = request
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!match) return failure(403, 'MissingAuthenticationToken', 'Missing Authentication Token')
  const [, id = '', date = '', region = '', service = '', signed = '', signature = ''] = match
  const key = AWS_KEYS[id]
  if (!key) return failure(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.')
  const time = headers['x-amz-date'] ?? ''
  const needed = ['host', 'x-amz-date', ...(key.token ? ['x-amz-security-token'] : [])]
  if (needed.some(name => !signed.split(';').includes(name)) || !time.startsWith(date))
    return failure(403, 'IncompleteSignature', 'A header is not signed.')
  if (key.token !== headers['x-amz-security-token'])
    return failure(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.')
  const scope = [date, region, service, 'aws4_request']
  if (
    region !== 'us-east-1' ||
    service !== 'route53' ||
    signature !== expected(request, signed, scope, time, key.secret)
  )
    return failure(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.')
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(now.getTime() - at) <= SKEW_SECONDS * 1000))
    return failure(403, 'RequestExpired', `Signature expired: ${time} is now earlier than the allowed time`)
  if (key.denied?.includes(action))
    return failure(403, 'AccessDenied', `User is not authorized to perform: route53:${action}`)
  return undefined
}

function expected(
  { method, url, headers, body }: FakeRequest,
  signed: string,
  scope: readonly string[],
  time: string,
  secret: string,
): string {
  const hash = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')
  const mac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text, 'utf8').digest()
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted()
  const lines = signed.split(';').map(name => `${name}:${headers[name]?.trim()}\n`)
  const canonical = `${method}\n${url.pathname}\n${query.join('&')}\n${lines.join('')}\n${signed}\n${hash(body)}`
  const key = scope.reduce<Buffer | string>(mac, `AWS4${secret}`)
  return mac(key, `AWS4-HMAC-SHA256\n${time}\n${scope.join('/')}\n${hash(canonical)}`).toString('hex')
}

function act(store: FakeStore, request: FakeRequest, action: string, options: Route53Options): FakeReply {
  const query = Object.fromEntries(request.url.searchParams)
  if (action === 'ListHostedZones') return zoneList('ListHostedZonesResponse', allZones(store, options))
  if (action === 'ListHostedZonesByName') {
    // From this name on, in the order of reversed labels.
    const from = allZones(store, options).filter(
      ({ name }) => order(name) >= order((query.dnsname ?? '').replace(/\.$/, '')),
    )
    return zoneList('ListHostedZonesByNameResponse', from)
  }
  const id = request.url.pathname.split('/')[3]
  const zone = allZones(store, options).find(each => each.id === id)
  if (!zone) return failure(404, 'NoSuchHostedZone', `No hosted zone found with ID: ${id}`)
  if (action === 'GetHostedZone') {
    const servers = ['ns-1.awsdns-01.test', 'ns-2.awsdns-02.test'].map(name => `<NameServer>${name}</NameServer>`)
    const delegation = `<DelegationSet><NameServers>${servers.join('')}</NameServers></DelegationSet>`
    return xml(200, `<GetHostedZoneResponse>${zoneXml(zone)}${delegation}</GetHostedZoneResponse>`)
  }
  const stored = store.zones.find(({ name }) => name === zone.name) ?? store.zone(zone.name)
  if (action === 'ListResourceRecordSets') return listSets(stored, query)
  return action === 'ChangeResourceRecordSets' ? change(store, stored, request) : failure(404, 'InvalidAction', '?')
}

interface ShownZone {
  id: string
  name: string
  isPrivate: boolean
}

function allZones({ zones }: FakeStore, { privateZones = [] }: Route53Options): ShownZone[] {
  const hidden = privateZones.map((name, index) => ({ id: `ZPRIVATE${index}`, name, isPrivate: true }))
  const shown = zones.map(zone => ({ id: hostedZoneId(zone), name: zone.name, isPrivate: false }))
  return [...hidden, ...shown].toSorted((a, b) => (order(a.name) < order(b.name) ? -1 : 1))
}

function zoneXml({ id, name, isPrivate }: ShownZone): string {
  return `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><Config><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`
}

function zoneList(root: string, zones: readonly ShownZone[]): FakeReply {
  return xml(200, `<${root}><HostedZones>${zones.map(zoneXml).join('')}</HostedZones></${root}>`)
}

function listSets(zone: FakeZone, query: Record<string, string>): FakeReply {
  const unknown = Object.keys(query).find(name => !['name', 'type', 'identifier', 'maxitems'].includes(name))
  if (unknown) return failure(400, 'InvalidInput', `unknown parameter ${unknown}`)
  const key = ({ name, type, identifier = '' }: Pick<StoredSet, 'name' | 'type' | 'identifier'>) =>
    `${order(name)}\0${type}\0${identifier}`
  const from = query.name === undefined ? '' : `${order(query.name.replace(/\.$/, ''))}\0${query.type ?? ''}`
  const all = setsOf(zone).toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
  const rest = all.filter(set => key(set) >= (query.identifier ? `${from}\0${query.identifier}` : from))
  const page = rest.slice(0, Math.min(PAGE_CAP, Number(query.maxitems ?? 300)))
  const next = rest[page.length]
  const more = next
    ? `<IsTruncated>true</IsTruncated><NextRecordName>${escapeName(next.name)}</NextRecordName><NextRecordType>${next.type}</NextRecordType>${next.identifier ? `<NextRecordIdentifier>${next.identifier}</NextRecordIdentifier>` : ''}`
    : '<IsTruncated>false</IsTruncated>'
  const sets = page.map(setXml).join('')
  return xml(
    200,
    `<ListResourceRecordSetsResponse><ResourceRecordSets>${sets}</ResourceRecordSets>${more}</ListResourceRecordSetsResponse>`,
  )
}

function setXml({ name, type, ttl, values, identifier, alias }: StoredSet): string {
  const policy = identifier ? `<SetIdentifier>${identifier}</SetIdentifier><Weight>10</Weight>` : ''
  const records = values.map(value => `<ResourceRecord><Value>${escapeText(value)}</Value></ResourceRecord>`).join('')
  const content = alias
    ? `<AliasTarget><HostedZoneId>Z1</HostedZoneId><DNSName>${values[0]}</DNSName></AliasTarget>`
    : `<TTL>${ttl}</TTL><ResourceRecords>${records}</ResourceRecords>`
  return `<ResourceRecordSet><Name>${escapeName(name)}</Name><Type>${type}</Type>${policy}${content}</ResourceRecordSet>`
}

/** One transaction: the first error leaves the zone as it was. */
function change(store: FakeStore, zone: FakeZone, { body, headers }: FakeRequest): FakeReply {
  const root = parseXml(body)
  if (root?.name !== 'ChangeResourceRecordSetsRequest' || headers['content-type'] !== 'application/xml')
    return failure(400, 'MalformedInput', 'The XML is malformed.')
  if (!body.includes('xmlns="https://route53.amazonaws.com/doc/2013-04-01/"'))
    return failure(400, 'MalformedInput', 'The namespace is missing.')
  const saved = zone.records.map(record => ({ record, copy: { ...record } }))
  // A set that is deleted and created again is changed in place.
  const steps = listAt(child(root, 'ChangeBatch'), 'Changes')
  const errors = [
    ...steps.map(step => (textAt(step, 'Action') === 'DELETE' ? checkDelete(zone, step) : undefined)),
    ...[applyAll(store, zone, steps)],
  ]
  const error = errors.find(Boolean)
  if (error === undefined)
    return xml(
      200,
      '<ChangeResourceRecordSetsResponse><ChangeInfo><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
    )
  for (const { record, copy } of saved) Object.assign(record, copy)
  zone.records.splice(0, zone.records.length, ...saved.map(({ record }) => record))
  return failure(400, 'InvalidChangeBatch', `[${error}]`)
}

function read(step: XmlElement): StoredSet {
  const set = child(step, 'ResourceRecordSet')
  return {
    name: (textAt(set, 'Name') ?? '').replace(/\.$/, ''),
    type: textAt(set, 'Type') ?? '',
    ttl: Number(textAt(set, 'TTL')),
    values: listAt(set, 'ResourceRecords').map(record => textAt(record, 'Value') ?? ''),
  }
}

function checkDelete(zone: FakeZone, step: XmlElement): string | undefined {
  const { name, type, ttl, values } = read(step)
  const label = `[name='${name}.', type='${type}']`
  const stored = setsOf(zone).find(set => set.name === name && set.type === type && !set.identifier && !set.alias)
  if (!stored) return `Tried to delete resource record set ${label} but it was not found`
  const same = stored.ttl === ttl && String(stored.values.toSorted()) === String(values.toSorted())
  return same
    ? undefined
    : `Tried to delete resource record set ${label} but the values provided do not match the current values`
}

function applyAll(store: FakeStore, zone: FakeZone, steps: readonly XmlElement[]): string | undefined {
  const gone = steps.filter(step => textAt(step, 'Action') === 'DELETE').map(read)
  const made = steps.filter(step => textAt(step, 'Action') === 'CREATE').map(read)
  if (gone.length + made.length !== steps.length || steps.length === 0) return 'Unknown action'
  const at = (set: StoredSet) => ({ name: set.name, type: set.type, ttl: set.ttl })
  const isSame = (a: StoredSet, b: StoredSet) => a.name === b.name && a.type === b.type
  for (const set of gone.filter(old => !made.some(fresh => isSame(old, fresh))))
    replaceSet(store, zone, { ...at(set), values: [] })
  for (const set of made) {
    const error = checkCreate(
      zone,
      set,
      gone.some(old => isSame(old, set)),
    )
    if (error) return error
    const values = set.values.map(value => (set.type === 'TXT' ? txtValue(value) : value.replace(/\.$/, '')))
    replaceSet(store, zone, { ...at(set), values })
  }
  return undefined
}

function checkCreate(zone: FakeZone, { name, type, ttl, values }: StoredSet, isReplaced: boolean): string | undefined {
  const label = `[name='${name}.', type='${type}']`
  const here = zone.records.filter(record => record.name === name)
  if (name !== zone.name && !name.endsWith(`.${zone.name}`))
    return `RRSet with DNS name ${name}. is not permitted in zone ${zone.name}.`
  if (!isReplaced && here.some(record => record.type === type))
    return `Tried to create resource record set ${label} but it already exists`
  const others = here.filter(record => record.type !== type)
  if (others.some(record => record.type === 'CNAME') || (type === 'CNAME' && others.length > 0))
    return `RRSet of type ${type} with DNS name ${name}. is not permitted as it conflicts with other records with the same DNS name in zone ${zone.name}.`
  if (!(ttl >= 0) || values.length === 0) return 'Invalid request'
  if (type === 'TXT' && values.some(value => !/^"(?:[^"\\]|\\.){0,255}"(?: "(?:[^"\\]|\\.){0,255}")*$/.test(value)))
    return 'Invalid Resource Record: InvalidCharacterString (Value should be enclosed in quotation marks)'
  if (type === 'MX' && values.some(value => !/^\d+ \S+\.$/.test(value)))
    return 'Invalid Resource Record: FATAL problem: MX'
  return undefined
}

function setsOf(zone: FakeZone): StoredSet[] {
  const groups = Map.groupBy(zone.records, ({ name, type, line }) => `${name} ${type} ${line}`)
  return [...groups.values()].flatMap(records => {
    const [first] = records
    if (!first) return []
    const { name, type, ttl, line, proxied } = first
    return [
      {
        ...{ name, type, ttl, values: records.map(shownValue) },
        ...(line === 'default' ? {} : { identifier: line }),
        ...(proxied ? { alias: true } : {}),
      },
    ]
  })
}

function shownValue({ type, value }: FakeRecord): string {
  if (type === 'MX' || type === 'CNAME' || type === 'NS') return `${value}.`
  if (type !== 'TXT') return value
  return (
    Buffer.from(value, 'utf8')
      .toString('latin1')
      .match(/[\s\S]{1,255}/g) ?? ['']
  )
    .map(
      part =>
        `"${part.replace(/["\\]/g, '\\$&').replace(/[^ -~]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`,
    )
    .join(' ')
}

function txtValue(raw: string): string {
  const strings = [...raw.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text)
  const octets = strings
    .join('')
    .replace(/\\(?:([0-7]{3})|(.))/g, (_, code: string | undefined, char: string) =>
      code === undefined ? char : String.fromCharCode(Number.parseInt(code, 8)),
    )
  return Buffer.from(octets, 'latin1').toString('utf8')
}

const order = (name: string) => name.split('.').toReversed().join('.').replaceAll('.', '\u0001')
const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const escapeName = (name: string) => `${name.replace('*', '\\052')}.`

function failure(status: number, code: string, message: string): FakeReply {
  return xml(
    status,
    `<ErrorResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${escapeText(message)}</Message></Error><RequestId>R-1</RequestId></ErrorResponse>`,
  )
}

function xml(status: number, body: string): FakeReply {
  return { status, json: undefined, text: `<?xml version="1.0"?>\n${body}`, headers: { 'content-type': 'text/xml' } }
}
