/** Rewrites missing records where the owner lets us manage them; pauses when another program keeps changing them. */
import { ProblemError } from '../../../platform/problems.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type DnsDeps, sendingHost } from '../../dns/dns-context.ts'
import { outdatedRows } from '../../dns/plan/dns-plan.ts'
import type { RecordCheck } from '../../dns/records/evaluate-record.ts'
import { guidance } from '../../dns/records/guidance.ts'
import { isPolicyChanged } from '../rules/changed-policy.ts'
import { mayRepair, rememberRepair } from '../rules/repair-loop.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import { findDomainById, updateSettings } from '../store/domains.ts'
import type { Applied } from './plan-outcome.ts'
import { publishDns } from './publish-records.ts'

/** The result of a repair. `paused`: another program keeps changing the records back. */
export interface Repair {
  kind: 'none' | 'repaired' | 'paused' | 'failed'
  /** Rows that were written. */
  rows?: string[]
  message?: Sentence
}

/**
 * Publishes when a record is wrong, or `always` (a key changed its state, a resource changed). The DNS plan reads the
 * provider again: records that are correct there and only outdated in caches cost no write. `check` is the previous one.
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
  // Records that we cannot write, such as PTR, may stay wrong for ever: no reason to call the provider.
  const ours = new Set(rows.filter(({ writable }) => writable).map(({ id: row }) => row))
  const changed = ours.has('dmarc') && isPolicyChanged(domain.dns_owned, records)
  const wrong = changed || records.some(({ row, status }) => ours.has(row) && isWrong(domain, row, status))
  const outdated = outdatedRows(rows, domain.dns_owned ?? [])
  if (!wrong && outdated.size === 0 && !always) return { kind: 'none' }
  const now = deps.clock.now()
  const permission = mayRepair(domain.dns, now)
  if (!permission.allowed)
    return {
      kind: 'paused',
      message: sentence('dns.repairs_paused', { until: permission.until.toISOString() }),
    }
  const { items, stopped } = await publish(deps, domain)
  if (stopped) return { kind: 'failed', message: stopped.message }
  const written = items.filter(({ status }) => status === 'done')
  if (written.length === 0) return { kind: 'none' }
  // Only records that an earlier check saw can have been reverted; first writes and own changes do not count.
  const checkedBefore = new Set(check?.records.map(({ row }) => row))
  const wasReverted = written.some(({ row }) => checkedBefore.has(row) && !outdated.has(row))
  if (domain.status === 'verified' && !always && wasReverted)
    await updateSettings(deps.db, domain._id, rememberRepair(domain.dns, now))
  return { kind: 'repaired', rows: written.map(({ row }) => row) }
}

/**
 * A conflict waits for the owner's decision, unless one of the records is ours and can be replaced. An optional record is
 * missing only if it was written before.
 */
function isWrong({ dns_owned }: DomainDoc, row: string, status: RecordCheck['status']): boolean {
  if (status === 'not_started') return dns_owned?.some(entry => entry.row === row) ?? false
  if (status === 'conflict') return dns_owned?.some(entry => entry.row === row && entry.before === undefined) ?? false
  return status === 'failed' || status === 'pending'
}

/** Writes the records; a missing account is an error that its owner has to correct, like the provider's errors. */
async function publish(deps: DnsDeps, domain: DomainDoc): Promise<Pick<Applied, 'items' | 'stopped'>> {
  try {
    return await publishDns(deps, domain)
  } catch (error) {
    if (error instanceof ProblemError) return { items: [], stopped: { kind: 'changed', message: error.sentence } }
    throw error
  }
}
