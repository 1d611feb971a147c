/** Between two DNS checks of a managed domain: whether its records are still those that the last check saw (ADR 111). */
import { type DnsDeps, sendingHost } from '../../dns/dns-context.ts'
import type { DnsSession } from '../../dns/dns-session.ts'
import { type GuidanceRow, guidance } from '../../dns/records/guidance.ts'
import { isWithin } from '../../dns/records/names.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import type { Observation } from './check-records.ts'

/** Observed values are stored up to this number; of more it is unknown whether they are all. */
const MAX_OBSERVED = 20

/**
 * True when a full check may be put off: every record that we may write was seen as wanted, and no key changes its state. Then
 * other records do not decide about sending.
 */
export function isSettled({ dkim }: Pick<DomainDoc, 'dkim'>, { rows, records }: Observation): boolean {
  const kept = new Set(rows.filter(isKept).map(({ id }) => id))
  return (
    dkim.every(({ state }) => state === 'active' || state === 'revoked') &&
    records.every(({ row, status }) => !kept.has(row) || status === 'verified')
  )
}

/** True when this run is one of those that {@link isSettled} allowed: any other time was set by who wants a full check. */
export function isQuickDue({ status, next_check_at, quick_check_at, check }: DomainDoc): boolean {
  const isQuick = quick_check_at !== undefined && quick_check_at.getTime() === next_check_at?.getTime()
  return isQuick && status === 'verified' && check !== undefined
}

/**
 * Asks every authoritative server for each name, because resolvers may hold a removed record until its TTL ends, and a record may
 * be missing at one server only. A server that does not answer is no news. Never rejects because of DNS.
 */
export async function isUnchanged(deps: DnsDeps, domain: DomainDoc): Promise<boolean> {
  const session = deps.resolver.session()
  const rows = guidance(domain, sendingHost(deps.config)).filter(isKept)
  const asked = new Map<string, Promise<readonly (readonly string[])[]>>()
  const values = ({ name, type }: GuidanceRow) => {
    const key = `${type} ${name}`
    const answer = asked.get(key) ?? read(session, zoneOf(domain, name), { name, type })
    asked.set(key, answer)
    return answer
  }
  const same = await Promise.all(rows.map(async row => isSame(domain, row, await values(row))))
  return same.every(Boolean)
}

/** Records that one click, or the operator, writes: all but addresses, which other domains share, and optional ones. */
function isKept({ writable, need, purpose }: GuidanceRow): boolean {
  return writable && purpose !== 'a' && need !== 'optional'
}

/** The zone as the last check found it; names below a delegation of their own are in the longest one. */
function zoneOf({ name: domain, check }: DomainDoc, name: string): string {
  const zones = check?.zones?.filter(zone => isWithin(name, zone)) ?? []
  return zones.toSorted((one, other) => other.length - one.length)[0] ?? domain
}

/** The values by each server that answers. */
async function read(
  session: DnsSession,
  zone: string,
  { name, type }: Pick<GuidanceRow, 'name' | 'type'>,
): Promise<readonly (readonly string[])[]> {
  const answers = await session.everyAuthoritative(zone, name, type)
  return answers.flatMap(answer => (answer.kind === 'temporary' ? [] : [answer.kind === 'found' ? answer.values : []]))
}

function isSame({ check }: DomainDoc, { id }: GuidanceRow, answers: readonly (readonly string[])[]): boolean {
  const observed = check?.records.find(({ row }) => row === id)?.observed
  // A row that was added since needs a full check.
  if (!observed) return false
  if (observed.length >= MAX_OBSERVED) return true
  const before = new Set(observed)
  return answers.every(values => {
    const now = new Set(values)
    return now.size === before.size && observed.every(value => now.has(value))
  })
}
