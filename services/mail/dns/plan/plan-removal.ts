/** What to take back when a domain leaves: only records of the ledger that still stand as we wrote them. */

import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type StoredRecord, sameRecord } from '../records/record.ts'
import { isSpf } from '../records/spf.ts'
import { isOurs, type OwnedRecord, type PlanItem, type ZoneFacts } from './plan-item.ts'
import { withoutOurs } from './plan-spf.ts'

/** What removal follows from. */
export interface RemovalInput {
  owned: readonly OwnedRecord[]
  zoneOf: (name: string) => ZoneFacts | undefined
  current: (name: string) => readonly StoredRecord[]
}

/**
 * The plan that leaves the zone as if we had never been there. The address of the sending host stays: other domains
 * use it. A record that another party changed since stays.
 */
export function planRemoval(input: RemovalInput): PlanItem[] {
  return input.owned
    .filter(entry => !entry.row.startsWith('address:'))
    .flatMap(entry => {
      const zone = input.zoneOf(entry.name)
      if (!zone) return []
      return entry.before === undefined ? removeOwn(entry, zone, input) : restore(entry, entry.before, zone, input)
    })
}

function removeOwn(entry: OwnedRecord, zone: ZoneFacts, input: RemovalInput): PlanItem[] {
  const stored = input.current(entry.name).find(record => sameRecord(record, entry))
  if (!stored) return isRecordedByAnotherEntry(entry, input) ? [] : takeOut(entry, zone, input)
  if (!isOurs(input.owned, stored)) return []
  if (stored.locked)
    return [step(entry, zone, 'conflict', stored, entry.value, sentence('dns_plan.locked', { name: entry.name }))]
  return [step(entry, zone, 'delete', stored, entry.value, sentence('dns_plan.written_by_us'))]
}

/** A merged record gets its old text back; one that was edited since only loses our terms. */
function restore(entry: OwnedRecord, before: string, zone: ZoneFacts, input: RemovalInput): PlanItem[] {
  const records = input.current(entry.name).filter(record => record.type === entry.type)
  const untouched = records.find(record => sameRecord(record, entry))
  if (!untouched && isRecordedByAnotherEntry(entry, input)) return []
  if (untouched) return [step(entry, zone, 'update', untouched, before, sentence('dns_plan.restored'))]
  return takeOut(entry, zone, input)
}

/** A write that was interrupted leaves two entries; the one whose value is in DNS counts. */
function isRecordedByAnotherEntry(entry: OwnedRecord, { owned, current }: RemovalInput): boolean {
  const sameRowEntries = owned.filter(other => other !== entry && sameRow(other, entry))
  return sameRowEntries.some(other => current(entry.name).some(record => sameRecord(record, other)))
}

/** An SPF record that its owner changed loses the terms of every entry, in one step. */
function takeOut(entry: OwnedRecord, zone: ZoneFacts, input: RemovalInput): PlanItem[] {
  const entries = input.owned.filter(other => sameRow(other, entry))
  const edited = input.current(entry.name).find(record => record.type === 'TXT' && isSpf(record.value))
  if (!edited || entry.row !== 'spf' || entry !== entries.at(-1)) return []
  const value = entries.reduce(withoutOurs, edited.value)
  return value === edited.value ? [] : [step(entry, zone, 'update', edited, value, sentence('dns_plan.spf_withdrawn'))]
}

function sameRow(a: OwnedRecord, b: OwnedRecord): boolean {
  return a.row === b.row && a.name === b.name && a.type === b.type
}

function step(
  { row, name, type }: OwnedRecord,
  zone: ZoneFacts,
  action: 'update' | 'delete' | 'conflict',
  before: StoredRecord,
  value: string,
  reason: Sentence,
): PlanItem {
  return {
    row,
    action,
    name,
    type,
    zone: zone.id,
    value,
    ttl: before.ttl,
    before,
    reason,
    warnings: [],
    ...(action === 'update' ? { restores: true as const } : {}),
    ...(action === 'conflict' ? { code: 'locked' as const } : {}),
  }
}
