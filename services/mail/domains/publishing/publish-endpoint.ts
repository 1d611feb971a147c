/** Publishes the records of a domain through a DNSEndpoint object: the same plan and ledger as with a DNS account. */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import type { DnsSession } from '../../dns/dns-session.ts'
import {
  createDnsEndpointProvider,
  type Endpoint,
  type EndpointStore,
  endpointsByLedger,
  type StoredEndpoints,
  type TxtFormat,
} from '../../dns/providers/dns-endpoint/dns-endpoint.ts'
import { DnsProviderError } from '../../dns/providers/provider.ts'
import type { RecordSet } from '../../dns/providers/record-sets/record-set.ts'
import { quoteTxt } from '../../dns/records/record.ts'
import { forgetOwned, readOwned } from '../store/dns-ledger.ts'
import type { DomainDoc, RecordCheckDoc } from '../store/domain-model.ts'
import { type AppliedItem, stoppedBy } from './plan-outcome.ts'
import { type Published, publishDns } from './publish-records.ts'

export type { Endpoint, EndpointStore, StoredEndpoints, TxtFormat }

/** Account of the ledger's entries for records that external-dns writes. */
const ENDPOINT_ACCOUNT = 'dnsendpoint'

/**
 * Writes what the domain needs into the object. A set that public DNS has with values of others is a conflict: external-dns
 * would not change it, or replace all of it.
 */
export async function publishEndpoint(
  deps: DnsDeps,
  domain: DomainDoc,
  store: EndpointStore,
  txtFormat: TxtFormat,
): Promise<Published> {
  const session = deps.resolver.session()
  const provider = createDnsEndpointProvider({
    domain: domain.name,
    store,
    txtFormat,
    owned: () => readOwned(deps.db, domain._id),
    published: name => publicSets(session, domain.name, name),
  })
  const published = await publishDns(deps, domain, { through: { account: { _id: ENDPOINT_ACCOUNT }, provider } })
  const items = published.items.map(item => (isForeign(item) ? foreignItem(item) : item))
  if (published.stopped) return { ...published, items }
  try {
    await settle(deps, domain, store, txtFormat)
    return { ...published, items }
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { ...published, items, stopped: stoppedBy(error) }
  }
}

function isForeign({ code, status, message }: AppliedItem): boolean {
  return code === 'locked' || (status === 'failed' && message?.code === 'dns_provider.foreign_set')
}

function foreignItem(item: AppliedItem): AppliedItem {
  const { name, type } = item
  return { ...item, status: 'conflict', message: sentence('dns_plan.endpoint_foreign', { name, type }) }
}

/** Takes out what others put into the object, and rewrites values after a change of their format. */
async function settle({ db }: DnsDeps, { _id }: DomainDoc, store: EndpointStore, txtFormat: TxtFormat): Promise<void> {
  const known = await store.read()
  if (!known) return
  const wanted = endpointsByLedger(known, await readOwned(db, _id), txtFormat)
  if (known.isOutdated || !isDeepStrictEqual(known.endpoints, wanted)) await store.write(wanted, known)
}

/** Forgets the records that external-dns wrote; call it when the object is gone, or left to its owner. */
export async function forgetEndpoint({ db }: Pick<DnsDeps, 'db'>, domainId: string): Promise<void> {
  const owned = await readOwned(db, domainId)
  await forgetOwned(
    db,
    domainId,
    owned.filter(({ account_id }) => account_id === ENDPOINT_ACCOUNT),
  )
}

/** True when records of the domain were written through a DNSEndpoint. */
export function usesEndpoint({ dns_owned }: Pick<DomainDoc, 'dns_owned'>): boolean {
  return dns_owned?.some(({ account_id }) => account_id === ENDPOINT_ACCOUNT) ?? false
}

/** Records of the object that the last check of public DNS did not find as wanted. */
export function unpublishedRecords({ dns_owned, check }: Pick<DomainDoc, 'dns_owned' | 'check'>): RecordName[] {
  const checks = new Map<string, RecordCheckDoc>(check?.records.map(record => [record.row, record]))
  const waiting = (dns_owned ?? []).filter(
    ({ row, account_id }) => account_id === ENDPOINT_ACCOUNT && checks.get(row)?.status !== 'verified',
  )
  return waiting.map(({ name, type }) => ({ name, type }))
}

/** What a person looks for in DNS. */
export interface RecordName {
  name: string
  type: string
}

const TYPES = ['CNAME', 'TXT', 'MX', 'A', 'AAAA'] as const
/** Below a label such as `_dmarc` there are no hosts. */
const TYPES_OF_SERVICES = ['CNAME', 'TXT'] as const

/**
 * The sets at a name by an authoritative server: a resolver would remember that the name does not exist. What a wildcard gives
 * is no set of the name. Throws DnsProviderError `unavailable` when no server answers.
 */
async function publicSets(session: DnsSession, domain: string, name: string): Promise<RecordSet[]> {
  const isService = name.split('.').some(label => label.startsWith('_'))
  const types = isService ? TYPES_OF_SERVICES : TYPES
  const found = await Promise.all(types.map(type => setAt(session, domain, name, type)))
  const sets = found.filter(set => set !== undefined)
  // The other types of an alias are those of its target.
  const alias = sets.find(({ type }) => type === 'CNAME')
  return alias ? [alias] : sets
}

async function setAt(
  session: DnsSession,
  domain: string,
  name: string,
  type: (typeof TYPES)[number],
): Promise<RecordSet | undefined> {
  const values = await valuesAt(session, domain, name, type)
  if (values.length === 0) return undefined
  const parent = name.slice(name.indexOf('.') + 1)
  const sibling = `pw-${randomBytes(6).toString('hex')}.${parent}`
  const wildcard = name === domain ? [] : await valuesAt(session, domain, sibling, type)
  if (isDeepStrictEqual([...values].toSorted(), [...wildcard].toSorted())) return undefined
  return { name, type, ttl: 0, values: values.map(value => (type === 'TXT' ? quoteTxt(value) : value)) }
}

async function valuesAt(
  session: DnsSession,
  domain: string,
  name: string,
  type: (typeof TYPES)[number],
): Promise<readonly string[]> {
  const answer = await session.authoritative(domain, name, type)
  if (answer.kind === 'temporary')
    throw new DnsProviderError(
      'dnsendpoint',
      'unavailable',
      sentence('dns_plan.endpoint_unknown', { name, reason: answer.reason }),
    )
  return answer.kind === 'found' ? answer.values : []
}
