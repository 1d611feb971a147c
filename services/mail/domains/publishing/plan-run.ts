/** The state of one application, and the updates of the ledger that belong to it. */
import type { OwnedRecord, PlanItem } from '../../dns/plan/plan-item.ts'
import type { DnsProvider, Zone } from '../../dns/providers/provider.ts'
import { type StoredRecord, sameRecord } from '../../dns/records/record.ts'
import { attemptKey, type Progress } from './plan-outcome.ts'
import { isObsoleteAfter, type Ledger, leavesEntry, type ReplacedRecords, sameEntry } from './record-ledger.ts'

/** One application of a DNS plan, over all its rounds. */
export interface Run extends Progress {
  readonly provider: DnsProvider
  readonly ledger: Ledger
  /** Comment of created records, for people at the provider. */
  readonly note: string
  readonly replaced: ReplacedRecords
  /** The entries of the ledger after the last update. */
  owned: readonly OwnedRecord[]
  zones: readonly Zone[]
}

/** A write whose effect is at the provider. `stored` is unknown when the answer was lost. */
export interface FinishedWrite {
  item: PlanItem
  entry: OwnedRecord
  stored: StoredRecord | undefined
}

/** A run before its first round. */
export async function startRun(
  provider: DnsProvider,
  ledger: Ledger,
  options: Pick<Run, 'note' | 'replaced'>,
): Promise<Run> {
  const { note, replaced } = options
  return {
    provider,
    ledger,
    note,
    replaced,
    owned: await ledger.read(),
    written: new Map(),
    results: new Map(),
    items: new Map(),
    wanted: new Set(),
    zones: [],
  }
}

/** Records finished writes in the ledger and for the rest of the run. */
export async function finishWrites(run: Run, writes: readonly FinishedWrite[]): Promise<void> {
  for (const { item, stored } of writes) {
    run.results.set(attemptKey(item), { status: 'done' })
    if (stored) run.written.set(stored.id, { record: stored, ...(item.before ? { before: item.before.value } : {}) })
    if (item.action === 'delete' && item.before) run.written.delete(item.before.id)
  }
  const obsolete = run.owned.filter(entry => writes.some(({ item }) => isObsoleteAfter(item, entry)))
  await saveEntries(
    run,
    writes.flatMap(({ item, entry, stored }) =>
      leavesEntry(item) && stored ? [{ ...entry, record_id: stored.id }] : [],
    ),
  )
  await forgetEntries(run, obsolete)
}

/** Removes entries from the ledger and from the run's copy of it. */
export async function forgetEntries(run: Run, entries: readonly OwnedRecord[]): Promise<void> {
  if (entries.length === 0) return
  await run.ledger.forget(entries)
  run.owned = run.owned.filter(entry => !entries.some(other => sameEntry(entry, other)))
}

/** Writes entries to the ledger and to the run's copy of it. */
export async function saveEntries(run: Run, entries: readonly OwnedRecord[]): Promise<void> {
  if (entries.length === 0) return
  await run.ledger.write(entries)
  run.owned = [...run.owned.filter(entry => !entries.some(other => sameEntry(entry, other))), ...entries]
}

/** Completes entries whose write was interrupted before the provider's record id was known. */
export async function adoptRecordIds(run: Run, plan: readonly PlanItem[]): Promise<void> {
  await saveEntries(
    run,
    plan.flatMap(({ before, action }) => {
      const entry =
        action === 'keep' && before
          ? run.owned.find(candidate => candidate.record_id === undefined && sameRecord(before, candidate))
          : undefined
      return before && entry ? [{ ...entry, record_id: before.id }] : []
    }),
  )
}
