/**
 * Several accounts may register a name, one may have it verified. The proof is the ownership record in public DNS: the
 * account that has it published now gets the name, and the former one loses its verification and its keys.
 */
import type { DnsDeps } from '../dns/dns-context.ts'
import type { Views } from '../dns/records/evaluate-record.ts'
import { provesOwnership } from '../dns/records/match-record.ts'
import type { DomainDoc } from '../store/documents.ts'
import { revokeVerification, verifiedRivals } from './store/dns-checks.ts'

/** Reserves the name for an account that has just proven it. Returns the reasons why it cannot be verified now; none: it may. */
export async function reserveName(deps: DnsDeps, domain: DomainDoc, ownership: Views): Promise<string[]> {
  const rivals = await verifiedRivals(deps.db, domain)
  const errors = rivals.flatMap(({ name }) => (name === domain.name ? [] : [related(domain.name, name)]))
  // The current account keeps the name while the new one fails for another reason: else no account would have it.
  const holder = rivals.find(({ name }) => name === domain.name)
  if (!holder || errors.length > 0) return errors
  const error = await takeOver(deps, holder, ownership)
  return error === undefined ? [] : [error]
}

/** Verified parents and children of another account exclude the name: they are parts of one tree. */
function related(name: string, rival: string): string {
  const relation = name.endsWith(`.${rival}`) ? `the domain ${rival} above it` : `the sub-domain ${rival}`
  return `Another account has verified ${relation}; that account has to give it up first.`
}

async function takeOver(
  deps: DnsDeps,
  rival: DomainDoc,
  { authoritative, recursive }: Views,
): Promise<string | undefined> {
  if (rival.verified_by !== 'dns') return 'This name was given to another account by the administrator.'
  const answers = [...authoritative, ...recursive].map(({ answer }) => answer)
  const published = answers.some(
    answer => answer.kind === 'found' && provesOwnership(answer.values, rival.verification_token),
  )
  if (published)
    return 'Another account has verified this name, and its ownership record is still published; remove that record first.'
  if (authoritative.some(({ answer }) => answer.kind === 'temporary'))
    return 'Another account has verified this name, and not every name server answers now; the check is repeated.'
  const taken = await revokeVerification(deps.db, rival, deps.clock.now())
  if (taken) deps.log.info({ domain: rival._id, by: 'takeover' }, 'domain lost to another account')
  return taken ? undefined : 'The name changed hands in this moment; the check is repeated.'
}
