/** A strict fake of Aliyun DNS (alidns 2015-01-09): verifies each ACS3 signature independently, replays and the clock. */
import { createHash, createHmac } from 'node:crypto'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, mxParts } from './fake-provider-zones.ts'

/** Access keys with their secrets and denied actions. */
const ALIYUN_KEYS: Readonly<Record<string, { secret: string; denied: readonly string[] }>> = {
  'good-key': { secret: 'good-secret', denied: [] },
  'no-write-key': { secret: 'good-secret', denied: ['AddDomainRecord', 'UpdateDomainRecord', 'DeleteDomainRecord'] },
  'no-list-key': { secret: 'good-secret', denied: ['DescribeDomains'] },
}

const MAX_TXT = 511
const SKEW_MS = 15 * 60_000
/** Parameters of each action; `!` marks required ones. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  DescribeDomains: ['PageNumber', 'PageSize', 'KeyWord', 'SearchMode'],
  DescribeDomainInfo: ['DomainName!', 'NeedDetailAttributes'],
  DescribeDomainRecords: [
    'DomainName!',
    'PageNumber',
    'PageSize',
    'RRKeyWord',
    'TypeKeyWord',
    'ValueKeyWord',
    'Type',
    'Line',
    'Status',
    'SearchMode',
  ],
  AddDomainRecord: ['DomainName!', 'RR!', 'Type!', 'Value!', 'TTL', 'Line', 'Priority'],
  UpdateDomainRecord: ['RecordId!', 'RR!', 'Type!', 'Value!', 'TTL', 'Line', 'Priority'],
  DeleteDomainRecord: ['RecordId!'],
}

/** Starts the fake. `now` is the vendor's clock; `pageCap` limits its pages below the requested size. */
export function startAliyun(store: FakeStore, now: () => Date = () => new Date(), pageCap = 2): Promise<FakeCloud> {
  const nonces = new Set<string>()
  return startFake(store, {
    operation: ({ headers }) => headers['x-acs-action'] ?? '?',
    handle: (request, action) =>
      guard(request, action, now(), nonces) ?? act(store, action, request.url.searchParams, pageCap),
    throttle: () => refusal(400, 'Throttling.User', 'Request was denied due to user flow control.'),
    failure: () =>
      refusal(503, 'ServiceUnavailable', 'The request has failed due to a temporary failure of the server.'),
  })
}

/** Checks signature, clock, replay and permissions, in the vendor's order. */
function guard(request: FakeRequest, action: string, now: Date, nonces: Set<string>): FakeReply | undefined {
  const { headers } = request
  const match = /^ACS3-HMAC-SHA256 Credential=([^,]+),SignedHeaders=([^,]+),Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  )
  if (!match) return refusal(400, 'IncompleteSignature', 'The request signature does not conform to Aliyun standards.')
  const [, id = '', signed = '', signature = ''] = match
  const key = ALIYUN_KEYS[id]
  if (!key) return refusal(404, 'InvalidAccessKeyId.NotFound', 'Specified access key is not found.')
  const mustBeSigned = Object.keys(headers).filter(name => name.startsWith('x-acs-'))
  const names = signed.split(';')
  const complete = [...mustBeSigned, 'host'].every(name => names.includes(name))
  if (!complete || signature !== expected(request, names, key.secret))
    return refusal(400, 'SignatureDoesNotMatch', 'Specified signature is not matched with our calculation.')
  if (headers['x-acs-version'] !== '2015-01-09')
    return refusal(400, 'InvalidVersion', 'Specified parameter Version is not valid.')
  if (Math.abs(now.getTime() - Date.parse(headers['x-acs-date'] ?? '')) > SKEW_MS)
    return refusal(400, 'InvalidTimeStamp.Expired', 'Specified time stamp or date value is expired.')
  const nonce = headers['x-acs-signature-nonce'] ?? ''
  if (nonces.has(nonce)) return refusal(400, 'SignatureNonceUsed', 'The nonce has been used.')
  nonces.add(nonce)
  if (key.denied.includes(action))
    return refusal(403, 'Forbidden.RAM', 'User not authorized to operate on the specified resource.')
  return undefined
}

function expected({ method, url, headers, body }: FakeRequest, names: readonly string[], secret: string): string {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const encode = (text: string) =>
    [...Buffer.from(text)]
      .map(byte =>
        /[A-Za-z0-9_.~-]/.test(String.fromCharCode(byte))
          ? String.fromCharCode(byte)
          : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
      )
      .join('')
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  let text = `${method}\n/\n${query}\n`
  for (const name of [...names].sort()) text += `${name}:${headers[name]?.trim()}\n`
  text += `\n${[...names].sort().join(';')}\n${hash(body)}`
  return createHmac('sha256', secret)
    .update(`ACS3-HMAC-SHA256\n${hash(text)}`)
    .digest('hex')
}

function act(store: FakeStore, action: string, query: URLSearchParams, pageCap: number): FakeReply {
  const known = ACTIONS[action]
  if (!known) return refusal(404, 'InvalidAction.NotFound', 'Specified api is not found.')
  const unknown = [...query.keys()].find(name => !known.includes(name) && !known.includes(`${name}!`))
  if (unknown) return refusal(400, 'InvalidParameter', `The parameter ${unknown} is not known.`)
  const missing = known.find(name => name.endsWith('!') && !query.get(name.slice(0, -1)))
  if (missing)
    return refusal(400, `Missing${missing.slice(0, -1)}`, `${missing.slice(0, -1)} is mandatory for this action.`)
  const get = (name: string) => query.get(name) ?? ''
  if (action === 'DescribeDomains') return listDomains(store, query, pageCap)
  if (action === 'UpdateDomainRecord' || action === 'DeleteDomainRecord') return changeRecord(store, action, query)
  const zone = store.zones.find(each => (each.unicode ?? each.name) === get('DomainName'))
  if (!zone) return refusal(400, 'InvalidDomainName.NoExist', 'The specified domain name does not exist.')
  if (action === 'DescribeDomainInfo')
    return success({ DomainName: get('DomainName'), MinTtl: zone.minTtl, InBlackHole: zone.status === 'blackhole' })
  return action === 'DescribeDomainRecords' ? listRecords(zone, query, pageCap) : addRecord(store, zone, query)
}

function listDomains(store: FakeStore, query: URLSearchParams, cap: number): FakeReply {
  if (Number(query.get('PageSize') ?? 20) > 100) return refusal(400, 'InvalidPageSize', 'PageSize is at most 100.')
  const { rows, number, size } = paged(store.zones, query, cap)
  const Domain = rows.map(({ id, name, unicode }) => ({
    DomainId: String(id),
    DomainName: unicode ?? name,
    PunyCode: name,
    DnsServers: { DnsServer: ['ns1.alidns.test', 'ns2.alidns.test'] },
  }))
  return success({ TotalCount: store.zones.length, PageNumber: number, PageSize: size, Domains: { Domain } })
}

/** RRKeyWord is fuzzy unless SearchMode is COMBINATION. */
function listRecords(zone: FakeZone, query: URLSearchParams, cap: number): FakeReply {
  if (Number(query.get('PageSize') ?? 20) > 500) return refusal(400, 'InvalidPageSize', 'PageSize is at most 500.')
  const word = query.get('RRKeyWord') ?? ''
  const fits = (record: FakeRecord) =>
    query.get('SearchMode') === 'COMBINATION' && word ? rrOf(record, zone) === word : rrOf(record, zone).includes(word)
  const found = zone.records.filter(fits)
  const { rows, number, size } = paged(found, query, cap)
  const Record = rows.map(record => ({
    RecordId: String(record.id),
    RR: rrOf(record, zone),
    Type: record.type,
    ...(record.type === 'MX' ? mxFields(record.value) : { Value: record.value }),
    TTL: record.ttl,
    Line: record.line,
    Status: record.disabled ? 'DISABLE' : 'ENABLE',
    Locked: record.locked ?? false,
    DomainName: zone.name,
  }))
  return success({ TotalCount: found.length, PageNumber: number, PageSize: size, DomainRecords: { Record } })
}

function addRecord(store: FakeStore, zone: FakeZone, query: URLSearchParams): FakeReply {
  const wanted = recordFrom(zone, query)
  const refused = refuse(zone, wanted, undefined)
  if (refused) return refused
  const record = { ...wanted, id: store.nextId() }
  zone.records.push(record)
  return success({ RecordId: String(record.id) })
}

function changeRecord(store: FakeStore, action: string, query: URLSearchParams): FakeReply {
  const zone = store.zones.find(each => each.records.some(({ id }) => String(id) === query.get('RecordId')))
  const record = zone?.records.find(({ id }) => String(id) === query.get('RecordId'))
  if (!zone || !record) return refusal(400, 'DomainRecordNotBelongToUser', 'The domain record does not belong to you.')
  if (record.locked) return refusal(400, 'DomainRecordLocked', 'The domain record is locked.')
  if (action === 'DeleteDomainRecord') {
    zone.records.splice(zone.records.indexOf(record), 1)
    return success({ RecordId: String(record.id) })
  }
  const wanted = recordFrom(zone, query)
  const same =
    wanted.name === record.name &&
    wanted.type === record.type &&
    wanted.value === record.value &&
    wanted.ttl === record.ttl
  if (same) return refusal(400, 'DomainRecordDuplicate', 'The domain record already exists.')
  const refused = refuse(zone, wanted, record)
  if (refused) return refused
  Object.assign(record, wanted, { id: record.id })
  return success({ RecordId: String(record.id) })
}

function recordFrom(zone: FakeZone, query: URLSearchParams): FakeRecord {
  const rr = query.get('RR') ?? ''
  const type = query.get('Type') ?? ''
  const given = query.get('Value') ?? ''
  const value = type === 'MX' ? `${query.get('Priority')} ${given}` : given
  return {
    id: 0,
    name: rr === '@' ? zone.name : `${rr}.${zone.name}`,
    type,
    // The vendor removes outer quotes and trailing blanks from TXT.
    value: type === 'TXT' ? value.replace(/^"([\s\S]*)"$/, '$1').replace(/\s+$/, '') : value,
    ttl: Number(query.get('TTL') ?? 600),
    line: query.get('Line') ?? 'default',
  }
}

function refuse(zone: FakeZone, wanted: FakeRecord, self: FakeRecord | undefined): FakeReply | undefined {
  if (wanted.ttl < zone.minTtl || wanted.ttl > 86_400)
    return refusal(400, 'InvalidTTL', 'The TTL is out of the range of your edition.')
  if (wanted.type === 'TXT' && (wanted.value === '' || Buffer.byteLength(wanted.value) > MAX_TXT))
    return refusal(400, 'InvalidValue', 'The value of the TXT record is too long.')
  if (wanted.type === 'MX' && !/^(?:[1-9]|[1-4]\d|50) [^ .]\S*[^ .]$/.test(wanted.value))
    return refusal(400, 'InvalidPriority', 'The MX record needs a priority from 1 to 50 and a host.')
  const here = zone.records.filter(each => each.name === wanted.name && each.line === wanted.line && each !== self)
  if (here.some(each => each.type === wanted.type && each.value === wanted.value))
    return refusal(400, 'DomainRecordDuplicate', 'The domain record already exists.')
  const alias = here.some(each => each.type === 'CNAME') || (wanted.type === 'CNAME' && here.length > 0)
  return alias ? refusal(400, 'DomainRecordConflict', 'The domain record conflicts with other records.') : undefined
}

function mxFields(value: string) {
  const { preference, host } = mxParts(value)
  return { Value: host, Priority: preference }
}

function rrOf({ name }: FakeRecord, zone: FakeZone): string {
  return name === zone.name ? '@' : name.slice(0, -zone.name.length - 1)
}

function paged<T>(all: readonly T[], query: URLSearchParams, cap: number): { rows: T[]; number: number; size: number } {
  const number = Number(query.get('PageNumber') ?? 1)
  const size = Math.min(cap, Number(query.get('PageSize') ?? 20))
  return { rows: all.slice((number - 1) * size, number * size), number, size }
}

function success(json: object): FakeReply {
  return { status: 200, json: { RequestId: 'A-1', ...json } }
}

function refusal(status: number, Code: string, Message: string): FakeReply {
  return { status, json: { Code, Message, RequestId: 'A-1', HostId: 'alidns.aliyuncs.com', Recommend: '' } }
}
