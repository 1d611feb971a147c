/** Writes again what went missing, where the owner chose that we manage the records; stops when somebody fights back. */
import { ProblemError } from '../../platform/problems.ts'
import { type DnsDeps, sendingHost } from '../dns/dns-context.ts'
import { outdatedRows } from '../dns/plan/dns-plan.ts'
import type { RecordCheck } from '../dns/records/evaluate-record.ts'
import { guidance } from '../dns/records/guidance.ts'
import type { DomainDoc } from '../store/documents.ts'
import type { Applied } from './apply-dns-plan.ts'
import { publishDns } from './publish-records.ts'
import { mayRepair, rememberRepair } from './rules/repair-loop.ts'
import { findDomainById, updateSettings } from './store/domains.ts'

/** What a repair came to. `paused`: another program changes the records back all the time. */
export interface Repair {
  kind: 'none' | 'repaired' | 'paused' | 'failed'
  message?: string
}

/**
 * Publishes when a record is wrong, or when `always` (keys moved on, a resource changed). The second look is the plan:
 * records that are right at the provider and only late in caches cost no write. `check`: the one before this.
 */
export async function repairDns(
  deps: DnsDeps,
  { _id, check }: Pick<DomainDoc, '_id' | 'check'>,
  records: readonly RecordCheck[],
  always: boolean,
): Promise<Repair> {
  const domain = await findDomainById(deps.db, _id)
  if (!domain?.dns?.manage || !domain.dns_account_id || domain.status === 'suspended') return { kind: 'none' }
  const rows = guidance(domain, sendingHost(deps.config))
  // What is not ours to write, such as the PTR record, may stay wrong for ever: it is no reason to ask the provider.
  const ours = new Set(rows.filter(({ writable }) => writable).map(({ id: row }) => row))
  const wrong = records.some(({ row, status }) => ours.has(row) && isWrong(domain, row, status))
  const outdated = outdatedRows(rows, domain.dns_owned ?? [])
  if (!wrong && outdated.size === 0 && !always) return { kind: 'none' }
  const now = deps.clock.now()
  const permission = mayRepair(domain.dns, now)
  if (!permission.allowed)
    return {
      kind: 'paused',
      message: `Repairs are paused until ${permission.until.toISOString()}: another program changes the records back.`,
    }
  const { items, stopped } = await publish(deps, domain)
  if (stopped) return { kind: 'failed', message: stopped.message }
  const changed = items.filter(({ status }) => status === 'done')
  if (changed.length === 0) return { kind: 'none' }
  // Only what was looked at before and is wrong now counts as a fight; first writes and own changes do not.
  const known = new Set(check?.records.map(({ row }) => row))
  const fought = changed.some(({ row }) => known.has(row) && !outdated.has(row))
  if (domain.status === 'verified' && !always && fought)
    await updateSettings(deps.db, domain._id, rememberRepair(domain.dns, now))
  return { kind: 'repaired' }
}

/** A conflict is the owner's to settle, unless one of the records is ours and gives way. */
function isWrong({ dns_owned }: DomainDoc, row: string, status: RecordCheck['status']): boolean {
  if (status === 'conflict') return dns_owned?.some(entry => entry.row === row && entry.before === undefined) ?? false
  return status === 'failed' || status === 'pending'
}

/** Writes the records; an account that is not there is the owner's to mend, like any other fault. */
async function publish(deps: DnsDeps, domain: DomainDoc): Promise<Pick<Applied, 'items' | 'stopped'>> {
  try {
    return await publishDns(deps, domain)
  } catch (error) {
    if (error instanceof ProblemError) return { items: [], stopped: { fault: 'changed', message: error.message } }
    throw error
  }
}
