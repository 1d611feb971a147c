/**
 * Several accounts may register a name, one may have it verified. The proof is the ownership record in public DNS: the
 * account that has it published now gets the name, and the former one loses its verification and its keys.
 */
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../dns/dns-context.ts'
import type { Views } from '../dns/records/evaluate-record.ts'
import { provesOwnership } from '../dns/records/match-record.ts'
import { revokeVerification, verifiedRivals } from './store/dns-checks.ts'
import type { DomainDoc } from './store/domain-model.ts'

/** Reserves the name for an account that has just proven it. Returns the reasons why it cannot be verified now; none: it may. */
export async function reserveName(deps: DnsDeps, domain: DomainDoc, ownership: Views): Promise<Sentence[]> {
  const rivals = await verifiedRivals(deps.db, domain)
  const errors = rivals.flatMap(({ name }) => (name === domain.name ? [] : [related(domain.name, name)]))
  // The current account keeps the name while the new one fails for another reason: else no account would have it.
  const holder = rivals.find(({ name }) => name === domain.name)
  if (!holder || errors.length > 0) return errors
  const error = await takeOver(deps, holder, ownership)
  return error === undefined ? [] : [error]
}

/** Verified parents and children of another account exclude the name: they are parts of one tree. */
function related(name: string, rival: string): Sentence {
  return sentence(name.endsWith(`.${rival}`) ? 'dns.parent_taken' : 'dns.child_taken', { domain: rival })
}

async function takeOver(
  deps: DnsDeps,
  rival: DomainDoc,
  { authoritative, recursive }: Views,
): Promise<Sentence | undefined> {
  if (rival.verified_by !== 'dns') return sentence('dns.given_by_admin')
  const answers = [...authoritative, ...recursive].map(({ answer }) => answer)
  const published = answers.some(
    answer => answer.kind === 'found' && provesOwnership(answer.values, rival.verification_token),
  )
  if (published) return sentence('dns.taken_and_published')
  if (authoritative.some(({ answer }) => answer.kind === 'temporary')) return sentence('dns.taken_and_unknown')
  const taken = await revokeVerification(deps.db, rival, deps.clock.now())
  if (taken) deps.log.info({ domain: rival._id, by: 'takeover' }, 'domain lost to another account')
  return taken ? undefined : sentence('dns.taken_over_now')
}
