/** Gives a domain up together with the records that we wrote for it. */
import { ProblemError } from '../../platform/problems.ts'
import type { DnsDeps } from '../dns/dns-context.ts'
import { refuseManaged } from '../managed.ts'
import type { DomainDoc } from '../store/documents.ts'
import type { AppliedItem } from './apply-dns-plan.ts'
import { unpublishDns } from './publish-records.ts'
import { getDomain, removeDomain } from './register-domain.ts'
import { updateDomain } from './store/domains.ts'

/** A removal that ends in the middle lets records be written again after so long. Milliseconds. */
const LEAVING_MS = 5 * 60_000
const HINT = 'The DNS records could not be taken back; try again, or keep them with dns=keep.'

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
  if (records === 'keep') return removeDomain(deps, userId, domain._id)
  const leaving_until = new Date(deps.clock.now().getTime() + LEAVING_MS)
  // A check or a click at this moment would write again what is taken back; one under way takes back its own.
  await updateDomain(deps.db, domain._id, { leaving_until })
  try {
    await takeRecordsBack(deps, domain)
    return await removeDomain(deps, userId, domain._id)
  } catch (error) {
    await updateDomain(deps.db, domain._id, {}, ['leaving_until'])
    throw error
  }
}

async function takeRecordsBack(deps: DnsDeps, domain: DomainDoc): Promise<void> {
  const { items, stopped } = await unpublishDns(deps, domain)
  if (stopped) {
    const again =
      stopped.fault === 'unavailable' || stopped.fault === 'unknown_outcome' || stopped.fault === 'rate_limited'
    throw new ProblemError(again ? 'unavailable' : 'conflict', `${stopped.message} ${HINT}`)
  }
  refuseLeftovers(items)
}

/** Nobody remembers a record of ours once the domain is gone. */
function refuseLeftovers(items: readonly AppliedItem[]): void {
  const left = items.filter(({ status }) => status === 'failed' || status === 'conflict' || status === 'not_done')
  if (left.length === 0) return
  const reasons = left.map(({ name, type, message, reason }) => `${name} ${type}: ${message ?? reason}`)
  throw new ProblemError('conflict', `${reasons.join(' ')} ${HINT}`)
}
