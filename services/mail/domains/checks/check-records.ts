/** Looks up all records of a domain in public DNS and evaluates each. Stores nothing. */

import { type DnsDeps, sendingHost } from '../../dns/dns-context.ts'
import type { DnsSession } from '../../dns/dns-session.ts'
import { type DmarcDiscovery, discoverDmarc, isDmarc } from '../../dns/records/dmarc.ts'
import { evaluateRow, type RecordCheck, type Views } from '../../dns/records/evaluate-record.ts'
import { type GuidanceRow, guidance, isReturnPathRow, spfTerms } from '../../dns/records/guidance.ts'
import type { CheckOutcome } from '../rules/check-schedule.ts'
import type { CheckSummaryDoc, DomainDoc } from '../store/domain-model.ts'
import { checkReturnPath } from './check-return-path.ts'
import { withProbedTracking } from './probe-tracking-host.ts'
import { evaluateSpfIn, valuesIn } from './views.ts'

/** The findings of one check. */
export interface Observation {
  rows: GuidanceRow[]
  records: RecordCheck[]
  outcome: CheckOutcome
  /** Selectors that every authoritative server shows, and no resolver with another key. */
  visibleSelectors: Set<string>
  /** The answers at the name of the ownership record, where other accounts' tokens may be as well. */
  ownership: Views
  /** Zones that hold the names of the rows; those of the last check where DNS gave none. */
  zones: string[]
  /** Name servers of the domain, as public DNS delegates it; those of the last check where DNS gave none. */
  nameServers: string[]
  /** The DMARC policy that receivers apply; that of the last check while it cannot be read. */
  dmarc: CheckSummaryDoc['dmarc']
  /** BOUNCE_DOMAIN, if the records of the return path lead there as a whole. */
  returnPath?: string
  session: DnsSession
}

/** Name servers of a domain that are kept. */
const NAME_SERVERS = 13

/** Never rejects because of DNS: records without an answer have the status `temporary_failure`. */
export async function observeDomain(deps: DnsDeps, domain: DomainDoc): Promise<Observation> {
  const host = sendingHost(deps.config)
  const rows = guidance(domain, host)
  const session = deps.resolver.session()
  const seen = new Map<string, Views>()
  await Promise.all(
    rows.map(async row => {
      if (!isReturnPathRow(row.id)) seen.set(row.id, await session.views(row.name, row.type))
    }),
  )
  const viewsOf = (id: string): Views => seen.get(id) ?? { authoritative: [], recursive: [] }
  const spf = await evaluateSpfIn(domain.name, viewsOf('spf'), host.addresses, session.lookup)
  const dmarc = await policyOf(domain.name, viewsOf('dmarc'), session)
  const hostAddresses = rows.filter(({ purpose }) => purpose === 'a').flatMap(({ id }) => valuesIn(viewsOf(id)))
  const context = {
    spfTerms: spfTerms(domain, host),
    dmarc,
    established: domain.status === 'verified' || domain.verified_at !== undefined,
    ...(spf ? { spf } : {}),
    ...(hostAddresses.length > 0 ? { hostAddresses } : {}),
  }
  const zones = await zonesOf(rows, session)
  const nameServers = (await session.nameServers(domain.name)).toSorted().slice(0, NAME_SERVERS)
  const returnPath = await checkReturnPath(domain, host, session, context)
  const evaluated = rows.map(
    row => returnPath?.records.find(record => record.row === row.id) ?? evaluateRow(row, viewsOf(row.id), context),
  )
  const records = await withProbedTracking(deps, domain.name, evaluated, session.lookup)
  return {
    rows,
    records,
    outcome: outcomeOf(domain, records),
    visibleSelectors: new Set(
      domain.dkim
        .map(({ selector }) => selector)
        .filter(selector => statusOf(records, `dkim:${selector}`) === 'verified'),
    ),
    ownership: viewsOf('ownership'),
    zones: zones.length > 0 ? zones : (domain.check?.zones ?? []),
    nameServers: nameServers.length > 0 ? nameServers : (domain.check?.name_servers ?? []),
    dmarc: dmarc.kind === 'temporary' ? domain.check?.dmarc : appliedPolicy(dmarc),
    ...(returnPath?.whole && host.bounceDomain !== undefined ? { returnPath: host.bounceDomain } : {}),
    session,
  }
}

/** Verified: ownership and a signing key. A definite violation of either is a failure; a temporary one is not. */
function outcomeOf({ dkim, status }: DomainDoc, records: readonly RecordCheck[]): CheckOutcome {
  const signing = dkim.filter(({ state }) => state === 'active')
  const candidates = signing.length > 0 ? signing : dkim.filter(({ state }) => state === 'pending')
  const keys = candidates.map(({ selector }) => statusOf(records, `dkim:${selector}`))
  const key = keys.includes('verified') ? 'verified' : keys[0]
  const proof = [statusOf(records, 'ownership'), key]
  if (proof.every(verdict => verdict === 'verified')) return 'verified'
  if (proof.some(verdict => verdict === 'temporary_failure')) return 'temporary'
  if (status === 'verified' && proof.some(verdict => verdict === 'failed' || verdict === 'conflict')) return 'failed'
  return 'pending'
}

function statusOf(records: readonly RecordCheck[], row: string): RecordCheck['status'] | undefined {
  return records.find(record => record.row === row)?.status
}

/** Reverse names are left out: their zones belong to whoever gives the addresses. */
async function zonesOf(rows: readonly GuidanceRow[], session: DnsSession): Promise<string[]> {
  const names = new Set(rows.filter(({ purpose }) => purpose !== 'ptr').map(({ name }) => name))
  const zones = await Promise.all([...names].map(name => session.zoneOf(name)))
  return [...new Set(zones.filter(zone => zone !== undefined))]
}

function appliedPolicy(found: DmarcDiscovery): CheckSummaryDoc['dmarc'] {
  if (found.kind === 'own') return { policy: found.record.p, at: found.at }
  return found.kind === 'inherited' ? { policy: found.effective, at: found.at } : undefined
}

function policyOf(name: string, views: Views, { lookup }: DnsSession): Promise<DmarcDiscovery> {
  const own = [...new Set(valuesIn(views).filter(isDmarc))]
  return discoverDmarc(name, async (owner, type) => {
    if (owner !== `_dmarc.${name}`) return lookup(owner, type)
    return own.length > 0 ? { kind: 'found', values: own, ttl: 0 } : { kind: 'missing', reason: 'nodata' }
  })
}
