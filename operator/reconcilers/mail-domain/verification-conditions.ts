/** Evaluates the conditions Verified and DKIMReady of a MailDomain from its record: pure. */
import type { DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import { bad, type ConditionState, good, unknown } from '../shared/conditions.ts'

/** Verified: public DNS proves that the account controls the domain. */
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
  const reason = check.errors[0] ?? (failed && describeCheck(failed))
  if (failed?.status === 'temporary_failure')
    return unknown('Verified', 'LookupFailed', reason ?? 'DNS did not answer.')
  return bad('Verified', 'TokenMissing', reason ?? 'The ownership record or the DKIM record is not in public DNS yet.')
}

/** DKIMReady: the record of the active key is published. */
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

/** All findings of a check as one text. */
export function describeCheck({ errors, warnings, instructions }: RecordCheckDoc): string {
  return [...errors, ...instructions, ...warnings].join(' ')
}

function isProof(row: string): boolean {
  return row === 'ownership' || row.startsWith('dkim:')
}
