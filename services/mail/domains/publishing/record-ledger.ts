/** The ledger of written records: which entry an item of a DNS plan adds, and which entries it makes obsolete. */
import type { OwnedRecord, PlanItem } from '../../dns/plan/plan-item.ts'
import { ownersPart } from '../../dns/plan/plan-spf.ts'
import { sameRecord } from '../../dns/records/record.ts'

/** Remembers what we wrote. Entries are identified by row, name, type and value. */
export interface Ledger {
  read(): Promise<OwnedRecord[]>
  /** Adds or replaces the entries, all at once. */
  write(entries: readonly OwnedRecord[]): Promise<void>
  forget(entries: readonly OwnedRecord[]): Promise<void>
}

/** A foreign record that is replaced: its value is kept to be restored by the removal, or it counts as ours. */
export type ReplacedRecords = 'restore' | 'own'

export function sameEntry(a: OwnedRecord, b: OwnedRecord): boolean {
  return a.row === b.row && a.name === b.name && a.type === b.type && a.value === b.value
}

/** True when the ledger has an entry for the record after the item. */
export function leavesEntry({ action, restores }: PlanItem): boolean {
  return action !== 'delete' && !restores
}

/** The ledger's entry for an item. A foreign value is remembered in `before`, so that it can be restored. */
export function entryOf(
  { row, name, type, value, before, action }: PlanItem,
  owned: readonly OwnedRecord[],
  replaced: ReplacedRecords,
): OwnedRecord {
  const entry: OwnedRecord = { row, name, type, value }
  if (action !== 'update' || !before) return entry
  const known = owned.filter(other => other.row === row && other.name === name && other.type === type)
  const [first] = known
  const replacedValue = replaced === 'restore' ? before.value : undefined
  const remembered = first ? first.before : replacedValue
  const foreign = row === 'spf' ? ownersPart(before, known) : remembered
  return { ...entry, record_id: before.id, ...(foreign === undefined ? {} : { before: foreign }) }
}

/** True for an entry that describes the record as it was before the item. */
export function isObsoleteAfter(
  { row, name, type, before, action, value, restores }: PlanItem,
  entry: OwnedRecord,
): boolean {
  const sameRow = entry.row === row && entry.name === name && entry.type === type
  if (restores) return sameRow
  // A domain has one SPF record, however its owner changed it since an entry was written.
  if (row === 'spf' && action === 'update' && sameRow) return entry.value !== value
  if (!before || !sameRecord(before, entry)) return false
  return action === 'delete' || entry.value !== value
}
