/** The status of a MailDomain, from its record: pure. */

import type { GuidanceRow } from '../../../services/mail/dns/records/guidance.ts'
import type { DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import { bad, type ConditionState, cut, good, toSeconds, unknown } from '../shared/conditions.ts'

type State = 'Synced' | 'Missing' | 'Mismatch' | 'Conflict' | 'Guidance' | 'Unknown'

/** Whether public DNS proves the domain. */
export function verifiedCondition(domain: DomainDoc): ConditionState {
  if (domain.status === 'suspended')
    return bad(
      'Verified',
      'Suspended',
      domain.suspended_by ? 'spec.suspended is true.' : 'An admin suspended this domain.',
    )
  if (domain.status === 'verified') {
    const how = domain.verified_by === 'dns' ? 'Ownership and DKIM records are in public DNS.' : 'Verified by an admin.'
    return good('Verified', 'TokenFound', how)
  }
  const { check } = domain
  if (!check) return unknown('Verified', 'Progressing', 'Public DNS was not looked up yet.')
  const failed = check.records.find(({ row, status }) => isProof(row) && status !== 'verified')
  const fault = check.errors[0] ?? (failed && describeCheck(failed))
  if (failed?.status === 'temporary_failure') return unknown('Verified', 'LookupFailed', fault ?? 'DNS did not answer.')
  return bad('Verified', 'TokenMissing', fault ?? 'The ownership record or the DKIM record is not in public DNS yet.')
}

/** Whether the key that signs is published. */
export function dkimCondition(domain: DomainDoc): ConditionState {
  const active = domain.dkim.find(({ state }) => state === 'active')
  if (!active) return bad('DKIMReady', 'KeyMissing', 'The domain has no active DKIM key.')
  const check = domain.check?.records.find(({ row }) => row === `dkim:${active.selector}`)
  if (check?.status === 'verified') {
    const next = domain.dkim.find(({ state }) => state === 'pending')
    return next
      ? good('DKIMReady', 'Rotating', `${active.selector} signs; ${next.selector} takes over when it is in DNS.`)
      : good('DKIMReady', 'KeyPublished', `${active.selector} signs and is in public DNS.`)
  }
  const message = check ? describeCheck(check) : `${active.selector}._domainkey.${domain.name} was not looked up yet.`
  return check ? bad('DKIMReady', 'KeyMissing', message) : unknown('DKIMReady', 'Progressing', message)
}

/** As many records, and as long names, as the schema takes: one more and the API server refuses the whole status. */
const MAX_RECORDS = 64
const MAX_NAME = 253

/** Fields of the status beside conditions. */
export function statusFields(domain: DomainDoc, owner: string, rows: readonly GuidanceRow[]) {
  const active = domain.dkim.find(({ state }) => state === 'active')
  const checks = new Map(domain.check?.records.map(check => [check.row, check]))
  return {
    domainId: domain._id,
    owner,
    ...(active ? { activeSelector: active.selector } : {}),
    records: uniqueByKey(rows.map(row => recordStatus(row, checks.get(row.id)))).slice(0, MAX_RECORDS),
    ...(domain.check ? { lastCheckTime: toSeconds(lastLook(domain, domain.check.at)) } : {}),
    ...(domain.next_check_at ? { nextCheckTime: toSeconds(domain.next_check_at) } : {}),
  }
}

/** A repair looks once more, after the check that asked for it. */
function lastLook({ dns }: DomainDoc, check: Date): Date {
  return (dns?.repairs ?? []).reduce((last, at) => (at > last ? at : last), check)
}

function recordStatus({ purpose, name, type, value, need, note }: GuidanceRow, check: RecordCheckDoc | undefined) {
  const message = check ? describeCheck(check) : note
  return {
    purpose,
    name: name.slice(0, MAX_NAME),
    type,
    state: stateOf(check, need),
    expected: cut(value, 1024),
    ...(message ? { message: cut(message, 512) } : {}),
  }
}

function stateOf(check: RecordCheckDoc | undefined, need: GuidanceRow['need']): State {
  if (!check || check.status === 'not_started') return need === 'optional' ? 'Guidance' : 'Unknown'
  if (check.status === 'verified') return 'Synced'
  if (check.status === 'conflict') return 'Conflict'
  if (check.status === 'temporary_failure') return 'Unknown'
  return check.observed.length > 0 ? 'Mismatch' : 'Missing'
}

function describeCheck({ errors, warnings, instructions }: RecordCheckDoc): string {
  return [...errors, ...instructions, ...warnings].join(' ')
}

function isProof(row: string): boolean {
  return row === 'ownership' || row.startsWith('dkim:')
}

/** The list is a map by purpose, name and type: of several addresses of one host the first stands for all. */
function uniqueByKey<T extends { purpose: string; name: string; type: string }>(records: readonly T[]): T[] {
  const seen = new Map(records.toReversed().map(record => [`${record.purpose} ${record.name} ${record.type}`, record]))
  return records.filter(record => seen.get(`${record.purpose} ${record.name} ${record.type}`) === record)
}
