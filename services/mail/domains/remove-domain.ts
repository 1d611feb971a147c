/** Removes a domain together with the records that we wrote for it. */
import { ProblemError } from '../../platform/problems.ts'
import { joined } from '../../platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../dns/dns-context.ts'
import { refuseManaged } from '../managed.ts'
import type { AppliedItem } from './publishing/plan-outcome.ts'
import { unpublishDns } from './publishing/unpublish-records.ts'
import { getDomain, removeDomain } from './register-domain.ts'
import type { DomainDoc } from './store/domain-model.ts'
import { updateDomain } from './store/domains.ts'

/** An interrupted removal blocks new records of the domain for this long, in milliseconds. */
const LEAVING_MS = 5 * 60_000

/**
 * Removes our records, then the domain. 409 or 503 when a record cannot be removed: the domain stays. With `keep` the
 * records stay at the provider.
 */
export async function removeDomainAndRecords(
  deps: DnsDeps,
  userId: string,
  idOrName: string,
  records: 'remove' | 'keep',
): Promise<DomainDoc> {
  const domain = await getDomain(deps, userId, idOrName)
  refuseManaged(domain, {})
  if (records === 'keep') return removeDomain(deps, userId, domain._id)
  const leaving_until = new Date(deps.clock.now().getTime() + LEAVING_MS)
  // A check or a request at this moment would write the records again; one already running removes its own.
  await updateDomain(deps.db, domain._id, { leaving_until })
  try {
    await removeRecords(deps, domain)
    return await removeDomain(deps, userId, domain._id)
  } catch (error) {
    await updateDomain(deps.db, domain._id, {}, ['leaving_until'])
    throw error
  }
}

async function removeRecords(deps: DnsDeps, domain: DomainDoc): Promise<void> {
  const { items, stopped } = await unpublishDns(deps, domain)
  if (stopped) {
    const isTemporary =
      stopped.kind === 'unavailable' || stopped.kind === 'unknown_outcome' || stopped.kind === 'rate_limited'
    throw new ProblemError(isTemporary ? 'unavailable' : 'conflict', recordsKept(stopped.message))
  }
  refuseLeftovers(items)
}

/** The ledger goes with the domain: a record that is left could never be removed. */
function refuseLeftovers(items: readonly AppliedItem[]): void {
  const left = items.filter(({ status }) => status === 'failed' || status === 'conflict' || status === 'not_done')
  const [first, ...rest] = left.map(({ name, type, message, reason }) =>
    sentence('detail.record_kept', { name, type, reason: message ?? reason }),
  )
  if (first) throw new ProblemError('conflict', recordsKept(joined([first, ...rest])))
}

function recordsKept(reason: Sentence): Sentence {
  return sentence('detail.records_kept', { reason })
}
