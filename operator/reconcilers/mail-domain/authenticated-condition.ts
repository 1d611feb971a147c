/** Evaluates the condition Authenticated of a MailDomain from its record: pure. */
import type { DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import { authenticationAdvice } from '../../../services/mail/domains/rules/authentication-advice.ts'
import {
  type AuthenticationRefusal,
  currentRefusals,
} from '../../../services/mail/domains/rules/authentication-refusals.ts'
import { joined } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { bad, type ConditionState, good, unknown } from '../shared/conditions.ts'

/** Sites that the message names. */
const MAX_NAMED = 3

/**
 * Authenticated: receivers could verify who sent the mail of the last week. Without counts and replies, which change with
 * each refusal, so that the status is written when another site refuses or another remedy is needed.
 */
export function authenticatedCondition(domain: DomainDoc, now: Date): ConditionState {
  if (domain.status !== 'verified')
    return unknown('Authenticated', 'NotVerified', sentence('authentication.not_verified'))
  const refusals = currentRefusals(domain.authentication?.refusals ?? [], now).toSorted((a, b) =>
    a.site < b.site ? -1 : 1,
  )
  const [first, ...rest] = refusals.slice(0, MAX_NAMED).map(refusal => describe(refusal, domain.name))
  if (!first) return good('Authenticated', 'NoRefusals', sentence('authentication.none'))
  const more = refusals.length - MAX_NAMED
  const last = more > 0 ? [sentence('authentication.more', { count: more })] : []
  return bad('Authenticated', 'Refused', joined([first, ...rest, ...last]))
}

function describe(refusal: AuthenticationRefusal, domain: string): Sentence {
  const { site, code, enhanced } = refusal
  const status = [code, enhanced].filter(part => part !== undefined).join(' ')
  return sentence('authentication.refused', { site, domain, status, hint: authenticationAdvice(refusal) })
}
