/** A strict fake of Tencent DNSPod (2021-03-23): verifies each TC3 signature independently; its lists are delayed. */
import { createHash, createHmac } from 'node:crypto'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, mxParts } from './fake-provider-zones.ts'

/** Secrets by id, with denied actions. */
const DNSPOD_KEYS: Readonly<Record<string, { secret: string; denied: readonly string[] }>> = {
  'good-id': { secret: 'good-secret', denied: [] },
  'no-write-id': { secret: 'good-secret', denied: ['CreateRecord', 'ModifyRecord', 'DeleteRecord'] },
  'no-list-id': { secret: 'good-secret', denied: ['DescribeDomainList'] },
}

const SKEW_SECONDS = 300
const LIST_CAP = 2
/** Parameters of each action with their JSON types; `!` marks required ones. Case matters: `Subdomain` and `SubDomain` differ. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DescribeDomainList: { Type: 'string', Offset: 'number', Limit: 'number', Keyword: 'string' },
  DescribePackageDetail: {},
  DescribeRecordList: {
    Domain: 'string!',
    DomainId: 'number',
    Subdomain: 'string',
    RecordType: 'string',
    RecordLine: 'string',
    RecordLineId: 'string',
    Keyword: 'string',
    Offset: 'number',
    Limit: 'number',
    ErrorOnEmpty: 'string',
  },
  CreateRecord: {
    Domain: 'string!',
    DomainId: 'number',
    SubDomain: 'string',
    RecordType: 'string!',
    RecordLine: 'string!',
    RecordLineId: 'string',
    Value: 'string!',
    TTL: 'number',
    MX: 'number',
    Status: 'string',
    Remark: 'string',
  },
  ModifyRecord: {
    Domain: 'string!',
    DomainId: 'number',
    RecordId: 'number!',
    SubDomain: 'string',
    RecordType: 'string!',
    RecordLine: 'string!',
    RecordLineId: 'string',
    Value: 'string!',
    TTL: 'number',
    MX: 'number',
    Status: 'string',
    Remark: 'string',
  },
  DeleteRecord: { Domain: 'string!', DomainId: 'number', RecordId: 'number!' },
}

/** `lagMs`: how long lists do not contain new records (milliseconds). `strictTxt`: rejects TXT over 255 octets. */
export interface DnspodOptions {
  now?: () => Date
  lagMs?: number
  strictTxt?: boolean
}

type Input = Record<string, unknown>

/** Starts the fake. */
export function startDnspod(store: FakeStore, options: DnspodOptions = {}): Promise<FakeCloud> {
  const now = options.now ?? (() => new Date())
  return startFake(store, {
    operation: ({ headers }) => headers['x-tc-action'] ?? '?',
    handle: (request, action) =>
      guard(request, action, now()) ?? act(store, action, JSON.parse(request.body) as Input, options, now()),
    throttle: () => refusal('RequestLimitExceeded', 'Your current request times exceeds the limit.'),
    failure: () => refusal('InternalError', 'An internal error has occurred.'),
  })
}

function guard(request: FakeRequest, action: string, now: Date): FakeReply | undefined {
  const { headers } = request
  const match =
    /^TC3-HMAC-SHA256 Credential=([^/]+)\/(\d{4}-\d\d-\d\d)\/(\w+)\/tc3_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!match) return refusal('AuthFailure.SignatureFailure', 'The Authorization header is malformed.')
  const [, id = '', date = '', service = '', signed = '', signature = ''] = match
  const key = DNSPOD_KEYS[id]
  if (!key) return refusal('AuthFailure.SecretIdNotFound', 'The SecretId is not found.')
  const timestamp = Number(headers['x-tc-timestamp'])
  const dated = new Date(timestamp * 1000).toISOString().slice(0, 10)
  const withPort = headers.host ?? ''
  const hosts = [withPort, withPort.replace(/:\d+$/, '')]
  const good = hosts.some(
    host => signature === expected(request, { host, date, service, signed, timestamp, secret: key.secret }),
  )
  if (!good || service !== 'dnspod' || date !== dated)
    return refusal('AuthFailure.SignatureFailure', 'The provided credentials could not be validated.')
  if (Math.abs(now.getTime() / 1000 - timestamp) > SKEW_SECONDS)
    return refusal('AuthFailure.SignatureExpire', 'The signature is expired.')
  if (headers['x-tc-version'] !== '2021-03-23') return refusal('NoSuchVersion', 'The version is wrong.')
  if (key.denied.includes(action))
    return refusal('UnauthorizedOperation', `You are not authorized to perform ${action}.`)
  return undefined
}

function expected(
  { method, headers, body }: FakeRequest,
  {
    host,
    date,
    service,
    signed,
    timestamp,
    secret,
  }: { host: string; date: string; service: string; signed: string; timestamp: number; secret: string },
): string {
  const hash = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')
  const mac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text, 'utf8').digest()
  const lines = signed.split(';').map(name => `${name}:${name === 'host' ? host : headers[name]?.toLowerCase()}`)
  const canonical = `${method}\n/\n\n${lines.join('\n')}\n\n${signed}\n${hash(body)}`
  const scope = `${date}/${service}/tc3_request`
  const secretSigning = mac(mac(mac(`TC3${secret}`, date), service), 'tc3_request')
  return mac(secretSigning, `TC3-HMAC-SHA256\n${timestamp}\n${scope}\n${hash(canonical)}`).toString('hex')
}

function act(store: FakeStore, action: string, input: Input, options: DnspodOptions, now: Date): FakeReply {
  const known = ACTIONS[action]
  if (!known) return refusal('InvalidAction', 'The request action is not found.')
  for (const [name, value] of Object.entries(input)) {
    const type = known[name]?.replace('!', '')
    if (type === undefined) return refusal('UnknownParameter', `The parameter \`${name}\` is not recognized.`)
    if (typeof value !== type)
      return refusal('InvalidParameter', `The value type of parameter \`${name}\` is not valid.`)
  }
  const missing = Object.entries(known).find(([name, type]) => type.endsWith('!') && input[name] === undefined)
  if (missing) return refusal('MissingParameter', `The request is missing a required parameter \`${missing[0]}\`.`)
  if (action === 'DescribeDomainList') return listDomains(store, input)
  if (action === 'DescribePackageDetail') return success({ Info: [{ DomainGrade: 'DP_Free', MinTtl: 600 }] })
  const zone = store.zones.find(({ id, name }) =>
    input.DomainId === undefined ? name === input.Domain : id === input.DomainId,
  )
  if (!zone) return refusal('InvalidParameterValue.DomainNotExists', 'The domain does not exist.')
  if (action === 'DescribeRecordList') return listRecords(zone, input, now)
  if (zone.status === 'spam') return refusal('FailedOperation.DomainIsSpam', 'The domain is banned.')
  if (zone.status === 'locked') return refusal('FailedOperation.DomainIsLocked', 'The domain is locked.')
  return change(store, zone, action, input, options, now)
}

function listDomains(store: FakeStore, { Offset, Limit }: Input): FakeReply {
  const all = store.zones.map(({ id, name, status }) => ({
    DomainId: id,
    Name: name,
    Punycode: name,
    Status: status === 'spam' ? 'SPAM' : 'ENABLE',
    DNSStatus: '',
    Grade: 'DP_Free',
    EffectiveDNS: ['a.dnspod.test', 'b.dnspod.test'],
  }))
  const page = slice(all, Offset, Limit)
  // AllTotal is larger than the filtered total: paging by it never ends.
  return success({ DomainCountInfo: { DomainTotal: all.length, AllTotal: all.length + 7 }, DomainList: page })
}

function listRecords(
  zone: FakeZone,
  { Subdomain, RecordLineId, Offset, Limit, ErrorOnEmpty }: Input,
  now: Date,
): FakeReply {
  const visible = zone.records.filter(({ visibleFrom }) => (visibleFrom ?? 0) <= now.getTime())
  const found = visible.filter(
    record =>
      (Subdomain === undefined || hostOf(record, zone) === Subdomain) &&
      (RecordLineId === undefined || lineId(record) === RecordLineId),
  )
  if (found.length === 0 && ErrorOnEmpty !== 'no')
    return refusal('ResourceNotFound.NoDataOfRecord', 'The record list is empty.')
  const RecordList = slice(found, Offset, Limit).map(record => ({
    RecordId: record.id,
    Name: hostOf(record, zone),
    Type: record.type,
    ...(record.type === 'MX'
      ? mxFields(record.value)
      : { MX: 0, Value: record.type === 'CNAME' ? `${record.value}.` : record.value }),
    TTL: record.ttl,
    Line: record.line === 'default' ? '默认' : record.line,
    LineId: lineId(record),
    Status: record.disabled ? 'DISABLE' : 'ENABLE',
    Remark: record.comment ?? '',
    DefaultNS: false,
  }))
  return success({
    RecordCountInfo: { SubdomainCount: 1, ListCount: RecordList.length, TotalCount: found.length },
    RecordList,
  })
}

function change(
  store: FakeStore,
  zone: FakeZone,
  action: string,
  input: Input,
  options: DnspodOptions,
  now: Date,
): FakeReply {
  const record = zone.records.find(({ id }) => id === input.RecordId)
  if (action !== 'CreateRecord' && !record)
    return refusal('InvalidParameter.RecordIdInvalid', 'The record ID is invalid.')
  if (action === 'DeleteRecord') {
    zone.records.splice(
      zone.records.findIndex(({ id }) => id === input.RecordId),
      1,
    )
    return success({})
  }
  const wanted = recordFrom(zone, input)
  const refused = refuse(zone, wanted, record, options)
  if (refused) return refused
  if (record) {
    Object.assign(record, wanted, { id: record.id })
    return success({ RecordId: record.id })
  }
  const made = { ...wanted, id: store.nextId(), visibleFrom: now.getTime() + (options.lagMs ?? 0) }
  zone.records.push(made)
  return success({ RecordId: made.id })
}

function recordFrom(
  zone: FakeZone,
  { SubDomain = '@', RecordType, Value, MX, TTL = 600, RecordLineId = '0', Remark }: Input,
): FakeRecord {
  const host = String(SubDomain)
  return {
    id: 0,
    name: host === '@' ? zone.name : `${host}.${zone.name}`,
    type: String(RecordType),
    value: RecordType === 'MX' ? `${MX} ${Value}` : String(Value).replace(RecordType === 'CNAME' ? /\.$/ : /$^/, ''),
    ttl: Number(TTL),
    line: RecordLineId === '0' ? 'default' : String(RecordLineId),
    comment: String(Remark ?? ''),
  }
}

function refuse(
  zone: FakeZone,
  wanted: FakeRecord,
  self: FakeRecord | undefined,
  { strictTxt }: DnspodOptions,
): FakeReply | undefined {
  if (wanted.ttl < zone.minTtl)
    return refusal('LimitExceeded.RecordTtlLimit', 'The TTL is lower than your plan allows.')
  if (wanted.type === 'TXT' && (wanted.value === '' || (strictTxt && wanted.value.length > 255)))
    return refusal('InvalidParameter.RecordValueLengthInvalid', 'The length of the record value is invalid.')
  if (wanted.type === 'MX' && !/^\d+ [^ .]\S*[^ .]$/.test(wanted.value))
    return refusal('InvalidParameter.MxInvalid', 'The MX priority is invalid.')
  const here = zone.records.filter(each => each.name === wanted.name && each.line === wanted.line && each !== self)
  if (here.some(each => each.type === wanted.type && each.value === wanted.value))
    return refusal('InvalidParameter.DomainRecordExist', 'The record already exists.')
  const alias = here.some(each => each.type === 'CNAME') || (wanted.type === 'CNAME' && here.length > 0)
  return alias ? refusal('InvalidParameter.RecordConflict', 'The record conflicts with a CNAME.') : undefined
}

function mxFields(value: string) {
  const { preference, host } = mxParts(value)
  return { MX: preference, Value: `${host}.` }
}

function hostOf({ name }: FakeRecord, zone: FakeZone): string {
  return name === zone.name ? '@' : name.slice(0, -zone.name.length - 1)
}

function lineId({ line }: FakeRecord): string {
  return line === 'default' ? '0' : line
}

function slice<T>(all: readonly T[], offset: unknown, limit: unknown): T[] {
  const from = Number(offset ?? 0)
  return all.slice(from, from + Math.min(LIST_CAP, Number(limit ?? 100)))
}

function success(json: object): FakeReply {
  return { status: 200, json: { Response: { ...json, RequestId: 'T-1' } } }
}

function refusal(Code: string, Message: string): FakeReply {
  return { status: 200, json: { Response: { Error: { Code, Message }, RequestId: 'T-1' } } }
}
