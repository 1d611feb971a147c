/** The status fields of a MailDomain, from its record: pure. */
import type { GuidanceRow } from '../../../services/mail/dns/records/guidance.ts'
import type { DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import { inEnglish } from '../../../services/platform/sentences/sentence.ts'
import { cut, toSeconds } from '../shared/conditions.ts'
import { describeCheck } from './verification-conditions.ts'

type State = 'Synced' | 'Missing' | 'Mismatch' | 'Conflict' | 'Guidance' | 'Unknown'

/** Limits of the CRD's schema: the API server refuses a status that exceeds one. */
const MAX_RECORDS = 64
const MAX_NAME = 253
/** Holds a DKIM value of a 4096-bit key with the instruction around it. */
const MAX_MESSAGE = 2048

/** Fields of the status beside conditions. */
export function statusFields(domain: DomainDoc, owner: string, rows: readonly GuidanceRow[]) {
  const active = domain.dkim.find(({ state }) => state === 'active')
  const repaired = domain.check?.repaired?.rows ?? []
  const checks = new Map(domain.check?.records.map(check => [check.row, check]))
  return {
    domainId: domain._id,
    owner,
    ...(active ? { activeSelector: active.selector } : {}),
    records: uniqueByKey(rows.map(row => recordStatus(row, checks.get(row.id), repaired))).slice(0, MAX_RECORDS),
    ...(domain.check ? { lastCheckTime: toSeconds(lastCheckTime(domain, domain.check.at)) } : {}),
    ...(domain.next_check_at ? { nextCheckTime: toSeconds(domain.next_check_at) } : {}),
  }
}

/** A repair reads DNS again after the check that requested it. */
function lastCheckTime({ dns }: DomainDoc, check: Date): Date {
  return (dns?.repairs ?? []).reduce((last, at) => (at > last ? at : last), check)
}

/** What was written again after the check is as expected, and what the check found wrong is past. */
function recordStatus(
  { id, purpose, name, type, value, need, note }: GuidanceRow,
  check: RecordCheckDoc | undefined,
  repaired: readonly string[],
) {
  const isRepaired = repaired.includes(id)
  const message = check && !isRepaired ? describeCheck(check) : note
  return {
    purpose,
    name: name.slice(0, MAX_NAME),
    type,
    state: isRepaired ? 'Synced' : stateOf(check, need),
    expected: cut(value, 1024),
    ...(message ? { message: cut(inEnglish(message), MAX_MESSAGE) } : {}),
  }
}

function stateOf(check: RecordCheckDoc | undefined, need: GuidanceRow['need']): State {
  if (!check || check.status === 'not_started') return need === 'optional' ? 'Guidance' : 'Unknown'
  if (check.status === 'verified') return 'Synced'
  if (check.status === 'conflict') return 'Conflict'
  if (check.status === 'temporary_failure') return 'Unknown'
  return check.observed.length > 0 ? 'Mismatch' : 'Missing'
}

/**
 * The API server treats the list as a map by purpose, name and type: the first of several addresses of a host is kept.
 */
function uniqueByKey<T extends { purpose: string; name: string; type: string }>(records: readonly T[]): T[] {
  const seen = new Map(records.toReversed().map(record => [`${record.purpose} ${record.name} ${record.type}`, record]))
  return records.filter(record => seen.get(`${record.purpose} ${record.name} ${record.type}`) === record)
}
