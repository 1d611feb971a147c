/** The calls of the Route 53 API (2013-04-01) that the provider uses. Lists are in the order of reversed labels. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { isWithin } from '../../records/names.ts'
import { type CloudContext, callProvider, type HttpCall } from '../http-call.ts'
import { DnsProviderError } from '../provider.ts'
import type { RecordSet, SetChange } from '../record-sets/record-set.ts'
import { canonicalQuery } from '../request-signing.ts'
import { awsError } from './aws-errors.ts'
import { type AwsKeys, signAws } from './signature.ts'
import { route53Name } from './values.ts'
import { child, escapeXml, listAt, parseXml, textAt, type XmlElement } from './xml.ts'

/** A hosted zone. */
export interface HostedZone {
  id: string
  name: string
  isPrivate: boolean
}

const API = '/2013-04-01'
const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/'
/** Sets a page; the maximum of the API. */
const PAGE_SIZE = 300
/** Zones of one name: public ones, and private ones of several networks. */
const MAX_SAME_NAME = 20
/** Characters of a batch's comment. */
const MAX_COMMENT = 256

/** The account of some keys. All methods throw {@link DnsProviderError}. */
export class Route53Client {
  readonly #keys: () => Promise<AwsKeys>
  readonly #context: CloudContext

  constructor(keys: () => Promise<AwsKeys>, context: CloudContext) {
    this.#keys = keys
    this.#context = context
  }

  /** The first hundred zones. */
  async zones(): Promise<HostedZone[]> {
    const root = await this.#call('ListHostedZones', 'GET', '/hostedzone', { maxitems: '100' })
    return listAt(root, 'HostedZones').map(toZone)
  }

  /** The zones of exactly this name. */
  async zonesNamed(name: string): Promise<HostedZone[]> {
    const query = { dnsname: `${name}.`, maxitems: String(MAX_SAME_NAME) }
    const root = await this.#call('ListHostedZonesByName', 'GET', '/hostedzonesbyname', query)
    return listAt(root, 'HostedZones')
      .map(toZone)
      .filter(zone => zone.name === name)
  }

  /** A zone, and the name servers that it was delegated to. */
  async zone(id: string): Promise<{ zone: HostedZone; nameServers: string[] }> {
    const root = await this.#call('GetHostedZone', 'GET', `/hostedzone/${encodeURIComponent(id)}`)
    const zone = toZone(child(root, 'HostedZone') ?? unreadable())
    return { zone, nameServers: listAt(child(root, 'DelegationSet'), 'NameServers').map(({ text }) => text) }
  }

  /** The sets at a name, or with `below` those of the names below it as well; undefined for more than `maxPages`. */
  async sets(
    zoneId: string,
    name: string,
    below: boolean,
    maxPages = Number.POSITIVE_INFINITY,
  ): Promise<RecordSet[] | undefined> {
    const sets: RecordSet[] = []
    let next: Record<string, string> | undefined = { name: `${name}.` }
    for (let page = 1; next; page++) {
      if (page > maxPages) return undefined
      const query = { ...next, maxitems: String(PAGE_SIZE) }
      const root: XmlElement = await this.#call('ListResourceRecordSets', 'GET', `/hostedzone/${zoneId}/rrset`, query)
      const found = listAt(root, 'ResourceRecordSets').map(toSet)
      const wanted = found.filter(set => (below ? isWithin(set.name, name) : set.name === name))
      sets.push(...wanted)
      // All sets of a name and of those below it are next to each other.
      next = wanted.length === found.length && textAt(root, 'IsTruncated') === 'true' ? nextPage(root) : undefined
    }
    return sets
  }

  /** One transaction. Fails unless the sets are as `before` says, values and TTL. */
  async change(zoneId: string, changes: readonly SetChange[], comment: string): Promise<void> {
    const batch = [
      ...changes.flatMap(({ before }) => (before ? [changeXml('DELETE', before)] : [])),
      ...changes.flatMap(({ after }) => (after ? [changeXml('CREATE', after)] : [])),
    ]
    const note = comment ? `<Comment>${escapeXml(comment.slice(0, MAX_COMMENT))}</Comment>` : ''
    const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}"><ChangeBatch>${note}<Changes>${batch.join('')}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`
    await this.#call('ChangeResourceRecordSets', 'POST', `/hostedzone/${zoneId}/rrset/`, {}, body)
  }

  async #call(
    action: string,
    method: string,
    path: string,
    parameters: Record<string, string> = {},
    body = '',
  ): Promise<XmlElement> {
    const { host, origin } = new URL(this.#context.endpoint)
    const query = canonicalQuery(parameters)
    const signed = {
      ...{ method, host, path: `${API}${path}`, query, body, region: regionOf(host), service: 'route53' },
      headers: body ? { 'content-type': 'application/xml' } : {},
    }
    const call: HttpCall = {
      ...{ operation: action, write: method !== 'GET', method },
      url: `${origin}${signed.path}${query && `?${query}`}`,
      headers: signAws(signed, await this.#keys(), this.#context.now()),
      ...(body ? { body } : {}),
    }
    const { root } = await callProvider(
      'route53',
      this.#context,
      call,
      answer => ({ answer, root: parseXml(answer.body) }),
      ({ answer, root: element }) => awsError(answer, element, `route53:${action}`, this.#context.now()),
    )
    return root ?? unreadable()
  }
}

/** Route 53 is global: its region is the first one of the partition. */
function regionOf(host: string): string {
  return /\.cn(?::\d+)?$/.test(host) ? 'cn-northwest-1' : 'us-east-1'
}

function toZone(element: XmlElement): HostedZone {
  return {
    id: (textAt(element, 'Id') ?? '').replace(/^\/hostedzone\//, ''),
    name: route53Name(textAt(element, 'Name') ?? ''),
    isPrivate: textAt(element, 'Config', 'PrivateZone') === 'true',
  }
}

/** Sets with a routing policy have an identifier; aliases of AWS have a target instead of values. */
function toSet(element: XmlElement): RecordSet {
  const alias = textAt(element, 'AliasTarget', 'DNSName')
  const isForeign = alias !== undefined || textAt(element, 'SetIdentifier') !== undefined
  const values = listAt(element, 'ResourceRecords').map(record => textAt(record, 'Value') ?? '')
  return {
    name: route53Name(textAt(element, 'Name') ?? ''),
    type: textAt(element, 'Type') ?? '',
    ttl: Number(textAt(element, 'TTL') ?? 0),
    values: alias === undefined ? values : [alias],
    ...(isForeign ? { foreign: true as const } : {}),
  }
}

function nextPage(root: XmlElement): Record<string, string> | undefined {
  const [name, type, identifier] = ['NextRecordName', 'NextRecordType', 'NextRecordIdentifier'].map(key =>
    textAt(root, key),
  )
  if (!name) return undefined
  return { name, ...(type ? { type } : {}), ...(identifier ? { identifier } : {}) }
}

function changeXml(action: 'CREATE' | 'DELETE', { name, type, ttl, values }: RecordSet): string {
  const records = values.map(value => `<ResourceRecord><Value>${escapeXml(value)}</Value></ResourceRecord>`).join('')
  return `<Change><Action>${action}</Action><ResourceRecordSet><Name>${escapeXml(name)}.</Name><Type>${type}</Type><TTL>${ttl}</TTL><ResourceRecords>${records}</ResourceRecords></ResourceRecordSet></Change>`
}

function unreadable(): never {
  throw new DnsProviderError('route53', 'unavailable', sentence('dns_provider.unknown_form'))
}
