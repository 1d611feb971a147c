/** Gives a domain up together with the records that we wrote for it. */
import { ProblemError } from '../platform/problems.ts'
import type { DnsDeps } from './dns-deps.ts'
import { refuseManaged } from './managed.ts'
import { unpublishDns } from './publish-dns.ts'
import { getDomain, removeDomain } from './register-domain.ts'
import type { DomainDoc } from './store/documents.ts'

/**
 * Takes our records back, then removes the domain. 409 or 503 when the provider does not let us: the domain stays,
 * and `keep` removes it without its records.
 */
export async function leaveDomain(
  deps: DnsDeps,
  userId: string,
  idOrName: string,
  records: 'remove' | 'keep',
): Promise<DomainDoc> {
  const domain = await getDomain(deps, userId, idOrName)
  refuseManaged(domain, {})
  if (records === 'remove') {
    const { stopped } = await unpublishDns(deps, domain)
    if (stopped) {
      const again =
        stopped.fault === 'unavailable' || stopped.fault === 'unknown_outcome' || stopped.fault === 'rate_limited'
      const hint = 'The DNS records could not be taken back; try again, or keep them with dns=keep.'
      throw new ProblemError(again ? 'unavailable' : 'conflict', `${stopped.message} ${hint}`)
    }
  }
  return removeDomain(deps, userId, domain._id)
}
