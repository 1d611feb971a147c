/** Evaluates the conditions Verified and DKIMReady of a MailDomain from its record: pure. */
import type { GuidanceRow } from '../../../services/mail/dns/records/guidance.ts'
import type { DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import { joined } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, type StoredSentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { bad, type ConditionState, good, unknown } from '../shared/conditions.ts'

/** Verified: public DNS proves that the account controls the domain. */
export function verifiedCondition(domain: DomainDoc): ConditionState {
  if (domain.status === 'suspended')
    return bad(
      'Verified',
      'Suspended',
      sentence(domain.suspended_by ? 'resource.domain_suspended' : 'resource.domain_suspended_by_admin'),
    )
  if (domain.status === 'verified') {
    const how = domain.verified_by === 'dns' ? 'resource.domain_proven' : 'resource.domain_verified_by_admin'
    return good('Verified', 'TokenFound', sentence(how))
  }
  // Of a domain that was verified once, checks go on.
  if (domain.status === 'failed' && !domain.verified_at)
    return bad('Verified', 'VerificationExpired', sentence('resource.verification_expired'))
  const { check } = domain
  if (!check) return unknown('Verified', 'Progressing', sentence('resource.not_checked'))
  const failed = check.records.find(({ row, status }) => isProof(row) && status !== 'verified')
  const reason = joinedOrNone(check.errors.slice(0, 1)) ?? (failed && describeCheck(failed))
  if (failed?.status === 'temporary_failure')
    return unknown('Verified', 'LookupFailed', reason ?? sentence('resource.dns_no_answer'))
  return bad('Verified', 'TokenMissing', reason ?? sentence('resource.proof_missing'))
}

/** DKIMReady: the record of the active key is published. */
export function dkimCondition(domain: DomainDoc): ConditionState {
  const active = domain.dkim.find(({ state }) => state === 'active')
  if (!active) return bad('DKIMReady', 'KeyMissing', sentence('resource.dkim_no_key'))
  const check = domain.check?.records.find(({ row }) => row === `dkim:${active.selector}`)
  if (check && isPublished(domain, check)) {
    const next = domain.dkim.find(({ state }) => state === 'pending')
    return next
      ? good(
          'DKIMReady',
          'Rotating',
          sentence('resource.dkim_rotating', { selector: active.selector, next: next.selector }),
        )
      : good('DKIMReady', 'KeyPublished', sentence('resource.dkim_published', { selector: active.selector }))
  }
  const name = `${active.selector}._domainkey.${domain.name}`
  const message = (check && describeCheck(check)) ?? sentence('resource.dkim_not_checked', { name })
  return check ? bad('DKIMReady', 'KeyMissing', message) : unknown('DKIMReady', 'Progressing', message)
}

/**
 * Whether a name server gives the record, or did when it was written again after the check. Resolvers may hold the old answer
 * until it ends, which makes the record of a domain that was verified before pending.
 */
function isPublished({ verified_at, check }: DomainDoc, { row, status }: RecordCheckDoc): boolean {
  if (status === 'verified' || (status === 'pending' && verified_at !== undefined)) return true
  return check?.repaired?.rows.includes(row) ?? false
}

/** Statuses of a check for a record that is missing or another one; a missing optional record is not started. */
const GONE: ReadonlySet<RecordCheckDoc['status']> = new Set(['failed', 'conflict', 'not_started'])

/**
 * Records of a verified domain that the last check saw missing or changed and that no repair has restored yet: the proof of
 * the domain, and every record that was written and is still ours to write (`rows`).
 */
export function lostRecords(
  domain: DomainDoc,
  rows: readonly Pick<GuidanceRow, 'id' | 'writable'>[],
): RecordCheckDoc[] {
  if (domain.status !== 'verified') return []
  const ours = new Set(rows.filter(({ writable }) => writable).map(({ id }) => id))
  const isLost = (record: RecordCheckDoc) =>
    isProof(record.row) ? record.status !== 'not_started' : ours.has(record.row) && isWrittenGone(domain, record)
  const gone = domain.check?.records.filter(({ status }) => GONE.has(status)) ?? []
  return gone.filter(record => isLost(record) && !isPublished(domain, record))
}

/**
 * A record may fail although it is as written: an SPF record because of what an `include:` of the owner leads to, an alias
 * because of its target.
 */
function isWrittenGone({ dns_owned }: DomainDoc, { row, observed }: RecordCheckDoc): boolean {
  const plain = (value: string) => value.trim().replace(/\.$/, '').replaceAll(/ +/g, ' ').toLowerCase()
  const written = dns_owned?.filter(owned => owned.row === row).map(({ value }) => plain(value)) ?? []
  return written.length > 0 && !observed.some(value => written.includes(plain(value)))
}

/** All findings of a check as one sentence; undefined without any. */
export function describeCheck({ errors, warnings, instructions }: RecordCheckDoc): Sentence | undefined {
  return joinedOrNone([...errors, ...instructions, ...warnings])
}

function joinedOrNone([first, ...rest]: readonly StoredSentence[]): Sentence | undefined {
  return first === undefined ? undefined : joined([first, ...rest])
}

function isProof(row: string): boolean {
  return row === 'ownership' || row.startsWith('dkim:')
}
