/** Writes again what went missing, where the owner chose that we manage the records; stops when somebody fights back. */
import { ProblemError } from '../platform/problems.ts'
import { SecretError } from '../platform/secrets.ts'
import type { Applied } from './apply-plan.ts'
import { type DnsDeps, sendingHost } from './dns-deps.ts'
import { publishDns } from './publish-dns.ts'
import { guidance } from './rules/dns-guidance.ts'
import type { RecordCheck } from './rules/dns-judge.ts'
import { isOutdated } from './rules/dns-plan.ts'
import { mayRepair, rememberRepair } from './rules/dns-repair.ts'
import type { DomainDoc } from './store/documents.ts'
import { findDomainById, updateSettings } from './store/domains.ts'

const CREDENTIALS_LOST = 'The credentials of the DNS account cannot be opened; store them again.'

/** What a repair came to. `paused`: another program changes the records back all the time. */
export interface Repair {
  kind: 'none' | 'repaired' | 'paused' | 'failed'
  message?: string
}

/**
 * Publishes when a record is wrong, or when `always` (keys moved on, a resource changed). The second look is the plan:
 * records that are right at the provider and only late in caches cost no write.
 */
export async function repairDns(
  deps: DnsDeps,
  id: string,
  records: readonly RecordCheck[],
  always: boolean,
): Promise<Repair> {
  const domain = await findDomainById(deps.db, id)
  if (!domain?.dns?.manage || !domain.dns_account_id || domain.status === 'suspended') return { kind: 'none' }
  const rows = guidance(domain, sendingHost(deps.config))
  // What is not ours to write, such as the PTR record, may stay wrong for ever: it is no reason to ask the provider.
  const ours = new Set(rows.filter(({ writable }) => writable).map(({ id: row }) => row))
  const wrong = records.some(({ row, status }) => ours.has(row) && (status === 'failed' || status === 'pending'))
  const outdated = isOutdated(rows, domain.dns_owned ?? [])
  if (!wrong && !outdated && !always) return { kind: 'none' }
  const now = deps.clock.now()
  const permission = mayRepair(domain.dns, now)
  if (!permission.allowed)
    return {
      kind: 'paused',
      message: `Repairs are paused until ${permission.until.toISOString()}: another program changes the records back.`,
    }
  const { items, stopped } = await publish(deps, domain)
  if (stopped) return { kind: 'failed', message: stopped.message }
  const changed = items.some(({ status }) => status === 'done')
  if (!changed) return { kind: 'none' }
  // Only what was right before and is wrong now counts as a fight; first writes and own changes do not.
  if (domain.status === 'verified' && !always && !outdated)
    await updateSettings(deps.db, domain._id, rememberRepair(domain.dns, now))
  return { kind: 'repaired' }
}

/** Writes the records; an account that is not there or cannot be opened is the owner's to mend, like any other fault. */
async function publish(deps: DnsDeps, domain: DomainDoc): Promise<Pick<Applied, 'items' | 'stopped'>> {
  try {
    return await publishDns(deps, domain)
  } catch (error) {
    if (error instanceof SecretError) return { items: [], stopped: { fault: 'auth', message: CREDENTIALS_LOST } }
    if (error instanceof ProblemError) return { items: [], stopped: { fault: 'changed', message: error.message } }
    throw error
  }
}
