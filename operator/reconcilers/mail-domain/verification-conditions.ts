/** Evaluates the conditions Verified and DKIMReady of a MailDomain from its record: pure. */
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
  if (check?.status === 'verified') {
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
