/** A strict fake of Google Cloud DNS (v1) with its token service and the metadata server of GKE. */
import { generateKeyPairSync } from 'node:crypto'
import { importSPKI, jwtVerify } from 'jose'
import { type FakeCloud, type FakeReply, type FakeRequest, startFake } from './fake-provider-http.ts'
import { type FakeRecord, type FakeStore, type FakeZone, replaceSet } from './fake-provider-zones.ts'

const KEY_PAIR = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const OTHER_PAIR = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const PROJECT = 'mail-project'
const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite'
/** So small that every list has several pages. */
const PAGE_CAP = 2

/** `privateZones`: names of private zones beside the public ones of the store. `now`: the clock of the token service. */
export interface GoogleOptions {
  privateZones?: readonly string[]
  now?: () => Date
}

/** The key file of a service account of the fake; `reader` may not write, `stranger` has another private key. */
export function serviceAccountKey(account: 'writer' | 'reader' | 'stranger' = 'writer', more: object = {}): string {
  return JSON.stringify({
    ...{ type: 'service_account', project_id: PROJECT, private_key_id: 'k1' },
    client_email: `${account}@${PROJECT}.iam.gserviceaccount.com`,
    private_key: (account === 'stranger' ? OTHER_PAIR : KEY_PAIR).privateKey,
    // An address that a user could choose; nothing may be sent there.
    token_uri: 'http://127.0.0.1:1/token',
    ...more,
  })
}

/** Starts the fake. The token service is at `/token`, the metadata server at the same address. */
export function startGoogleDns(store: FakeStore, options: GoogleOptions = {}): Promise<FakeCloud> {
  const tokens = new Map([['pod-token', 'writer']])
  return startFake(store, {
    operation: ({ method, url }) =>
      `${method} ${url.pathname.replace(/^\/dns\/v1\/projects\/[^/]+/, '').replace(/managedZones\/[^/]+/, 'managedZones/:zone')}`,
    handle: request => {
      if (request.url.pathname === '/token') return exchange(request, tokens, options.now ?? (() => new Date()))
      if (request.url.pathname.startsWith('/computeMetadata/')) return metadata(request)
      return guard(request, tokens) ?? act(store, request, options)
    },
    throttle: () => failure(429, 'rateLimitExceeded', 'Quota exceeded', { 'retry-after': '9' }),
    failure: () => failure(500, 'internalError', 'Internal error'),
  })
}

async function exchange(
  { headers, body }: FakeRequest,
  tokens: Map<string, string>,
  now: () => Date,
): Promise<FakeReply> {
  const form = new URLSearchParams(body)
  const refused = (description: string) => ({
    status: 400,
    json: { error: 'invalid_grant', error_description: description },
  })
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refused('wrong grant')
  try {
    const audience = `http://${headers.host}/token`
    const key = await importSPKI(KEY_PAIR.publicKey, 'RS256')
    const { payload } = await jwtVerify(form.get('assertion') ?? '', key, { audience, currentDate: now() })
    if (payload.scope !== SCOPE) return refused('Invalid scope')
    const token = `token-${tokens.size}`
    tokens.set(token, String(payload.iss).split('@')[0] ?? '')
    return { status: 200, json: { access_token: token, expires_in: 3600, token_type: 'Bearer' } }
  } catch (error) {
    return refused(`Invalid JWT: ${error instanceof Error ? error.message : ''}`)
  }
}

function metadata({ url, headers }: FakeRequest): FakeReply {
  if (headers['metadata-flavor'] !== 'Google') return { status: 403, json: undefined, text: 'Missing Metadata-Flavor' }
  if (url.pathname === '/computeMetadata/v1/project/project-id') return { status: 200, json: undefined, text: PROJECT }
  return { status: 200, json: { access_token: 'pod-token', expires_in: 3600, token_type: 'Bearer' } }
}

function guard({ method, url, headers }: FakeRequest, tokens: ReadonlyMap<string, string>): FakeReply | undefined {
  const account = tokens.get(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '')
  if (account === undefined) return failure(401, 'authError', 'Invalid Credentials')
  if (!url.pathname.startsWith(`/dns/v1/projects/${PROJECT}/`)) return failure(403, 'forbidden', 'Forbidden')
  return account === 'reader' && method === 'POST' ? failure(403, 'forbidden', 'Forbidden') : undefined
}

function act(store: FakeStore, { method, url, body }: FakeRequest, options: GoogleOptions): FakeReply {
  const [, , , , , , id, list] = url.pathname.split('/')
  const query = Object.fromEntries(url.searchParams)
  if (id === undefined) return zones(store, query, options)
  const zone = store.zones.find(each => zoneId(each) === id)
  if (!zone) return failure(404, 'notFound', `The 'parameters.managedZone' resource named '${id}' does not exist.`)
  if (list === 'rrsets' && method === 'GET') return listSets(zone, query)
  if (list === 'changes' && method === 'POST') return change(store, zone, JSON.parse(body) as Change)
  return failure(404, 'notFound', 'Not Found')
}

const zoneId = ({ id }: FakeZone) => `zone-${id}`

function zones(
  store: FakeStore,
  { pageToken = '0' }: Record<string, string>,
  { privateZones = [] }: GoogleOptions,
): FakeReply {
  const shown = [
    ...privateZones.map((name, index) => ({ name: `private-${index}`, dnsName: `${name}.`, visibility: 'private' })),
    ...store.zones.map(zone => ({
      ...{ name: zoneId(zone), dnsName: `${zone.name}.`, visibility: 'public' },
      nameServers: ['ns-cloud-a1.google.test.', 'ns-cloud-a2.google.test.'],
    })),
  ]
  return page('managedZones', shown, Number(pageToken))
}

interface ResourceRecordSet {
  name: string
  type: string
  ttl: number
  rrdatas: string[]
}
interface Change {
  additions?: ResourceRecordSet[]
  deletions?: ResourceRecordSet[]
}

function listSets(zone: FakeZone, query: Record<string, string>): FakeReply {
  const unknown = Object.keys(query).find(name => !['name', 'type', 'maxResults', 'pageToken'].includes(name))
  if (unknown) return failure(400, 'invalid', `unknown parameter ${unknown}`)
  const sets = setsOf(zone).filter(({ name }) => query.name === undefined || name === query.name)
  return page('rrsets', sets, Number(query.pageToken ?? 0))
}

function page(name: string, all: readonly object[], from: number): FakeReply {
  const next = from + PAGE_CAP < all.length ? { nextPageToken: String(from + PAGE_CAP) } : {}
  return { status: 200, json: { kind: 'dns#list', [name]: all.slice(from, from + PAGE_CAP), ...next } }
}

function setsOf(zone: FakeZone): ResourceRecordSet[] {
  const groups = Map.groupBy(zone.records, ({ name, type, line }) => `${name} ${type} ${line}`)
  return [...groups.values()].flatMap(records => {
    const [first] = records
    if (!first) return []
    const { name, type, ttl, line } = first
    const rrdatas = records.map(shownValue)
    if (line === 'default') return [{ name: `${name}.`, type, ttl, rrdatas }]
    return [{ name: `${name}.`, type, ttl, rrdatas: [], routingPolicy: { wrr: { items: [{ weight: 1, rrdatas }] } } }]
  })
}

/** One transaction with the exact old sets. */
function change(store: FakeStore, zone: FakeZone, { additions = [], deletions = [], ...more }: Change): FakeReply {
  if (Object.keys(more).length > 0) return failure(400, 'invalid', 'unknown field')
  if (additions.length + deletions.length === 0) return failure(400, 'required', 'The change is empty.')
  const isSame = (a: ResourceRecordSet, b: ResourceRecordSet) => a.name === b.name && a.type === b.type
  const text = ({ ttl, rrdatas }: ResourceRecordSet) => JSON.stringify([ttl, rrdatas.toSorted()])
  for (const [index, gone] of deletions.entries()) {
    const stored = setsOf(zone).find(set => isSame(set, gone) && !('routingPolicy' in set))
    if (!stored) return failure(404, 'notFound', `The 'entity.change.deletions[${index}]' resource does not exist.`)
    if (text(stored) !== text(gone))
      return failure(412, 'conditionNotMet', `Precondition not met for 'entity.change.deletions[${index}]'`)
  }
  for (const [index, set] of additions.entries()) {
    const error = checkAddition(zone, set, index, deletions)
    if (error) return error
  }
  const at = ({ name, type, ttl }: ResourceRecordSet) => ({ name: name.replace(/\.$/, ''), type, ttl })
  for (const gone of deletions.filter(old => !additions.some(set => isSame(old, set))))
    replaceSet(store, zone, { ...at(gone), values: [] })
  for (const set of additions)
    replaceSet(store, zone, {
      ...at(set),
      values: set.rrdatas.map(raw => (set.type === 'TXT' ? txtValue(raw) : raw.replace(/\.$/, ''))),
    })
  return { status: 200, json: { kind: 'dns#change', id: '1', status: 'pending' } }
}

function checkAddition(
  zone: FakeZone,
  { name, type, ttl, rrdatas }: ResourceRecordSet,
  index: number,
  deletions: readonly ResourceRecordSet[],
): FakeReply | undefined {
  const at = `entity.change.additions[${index}]`
  if (!name.endsWith('.') || !(name === `${zone.name}.` || name.endsWith(`.${zone.name}.`)) || !Number.isInteger(ttl))
    return failure(400, 'invalid', `Invalid value for '${at}.name': '${name}'`)
  const isDeleted = (record: FakeRecord) =>
    deletions.some(gone => gone.name === `${record.name}.` && gone.type === record.type)
  const here = zone.records.filter(record => `${record.name}.` === name && !isDeleted(record))
  if (here.some(record => record.type === type))
    return failure(409, 'alreadyExists', `The resource '${at}' already exists`)
  if (here.some(record => record.type === 'CNAME') || (type === 'CNAME' && here.length > 0))
    return failure(
      400,
      'cnameResourceRecordSetConflict',
      `The resource record set '${at}' is invalid because a CNAME conflicts.`,
    )
  const isValid = (raw: string) => {
    if (type === 'TXT') return /^"(?:[^"\\]|\\.){0,255}"(?: "(?:[^"\\]|\\.){0,255}")*$/.test(raw)
    if (type === 'MX') return /^\d+ \S+\.$/.test(raw)
    return type !== 'CNAME' || raw.endsWith('.')
  }
  if (rrdatas.length === 0 || !rrdatas.every(isValid))
    return failure(400, 'invalid', `Invalid value for '${at}.rrdata'`)
  return undefined
}

function shownValue({ type, value }: FakeRecord): string {
  if (type === 'MX' || type === 'CNAME' || type === 'NS') return `${value}.`
  if (type !== 'TXT') return value
  return (value.match(/[\s\S]{1,255}/g) ?? ['']).map(part => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ')
}

function txtValue(raw: string): string {
  return [...raw.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')).join('')
}

function failure(code: number, reason: string, message: string, headers: Record<string, string> = {}): FakeReply {
  return { status: code, json: { error: { code, message, errors: [{ domain: 'global', reason, message }] } }, headers }
}
