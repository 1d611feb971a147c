/** The words of planning: what a plan follows from, what it consists of, and whose a record is. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { DmarcDiscovery } from '../records/dmarc.ts'
import type { GuidanceRow } from '../records/guidance.ts'
import { type RecordType, type StoredRecord, sameRecord, type WantedRecord } from '../records/record.ts'

/** A record that we wrote, from the ledger. `before`: the foreign value that we merged into. */
export interface OwnedRecord {
  row: string
  name: string
  type: RecordType
  value: string
  record_id?: string
  before?: string
}

/** What planning needs to know of a zone. `maxTxt` in bytes of the joined value. */
export interface ZoneFacts {
  id: string
  name: string
  minTtl: number
  maxTxt: number
}

/** Everything that a plan follows from. */
export interface PlanInput {
  rows: readonly GuidanceRow[]
  /** The zone of the account that holds a name; undefined: none does. */
  zoneOf: (name: string) => ZoneFacts | undefined
  /** Every record at the name, whatever its type. */
  current: (name: string) => readonly StoredRecord[]
  owned: readonly OwnedRecord[]
  /** Rows whose conflict the owner resolved in our favour. */
  accepted: ReadonlySet<string>
  spfTerms: readonly string[]
  /** Hosts that take reports for this installation, and the SPF mechanism of return paths; absent: no row needs them. */
  returnPath?: { hosts: readonly string[]; term: string }
  /** The policy that applies to the domain as long as it has no DMARC record of its own. */
  inheritedDmarc: DmarcDiscovery
}

/** Why an item cannot be done, as a stable code. */
export type ConflictCode =
  | 'cname_in_the_way'
  | 'foreign_value'
  | 'several_records'
  | 'broken_record'
  | 'weaker_policy'
  | 'policy_unknown'
  | 'too_long'
  | 'locked'
  | 'disabled'
  | 'proxied'

/** One step of a plan. `skip`: not for this account to write; it blocks nothing. */
export interface PlanItem {
  row: string
  action: 'create' | 'update' | 'keep' | 'delete' | 'conflict' | 'skip'
  name: string
  type: RecordType
  zone?: string
  /** The record after create or update; for a conflict, what would be written. */
  value: string
  ttl: number
  /** The stored record that is kept, changed or deleted. */
  before?: StoredRecord
  reason: Sentence
  code?: ConflictCode
  /** The owner may accept this conflict, and the record is then replaced. */
  acceptable?: true
  /** Gives a foreign record back to its owner as it was. */
  restores?: true
  /** Makes room: what the row needs shows when this is done. */
  frees?: true
  warnings: Sentence[]
}

/** A row on its way through planning. */
export interface RowContext {
  row: GuidanceRow & { type: RecordType }
  zone: ZoneFacts
  wanted: WantedRecord
  /** Records at the name. */
  here: readonly StoredRecord[]
  input: PlanInput
  accepted: boolean
}

/** An item of a row; the fields that are the same for every outcome are filled in. */
export function item(
  { row, zone, wanted }: Pick<RowContext, 'row' | 'zone' | 'wanted'>,
  action: PlanItem['action'],
  reason: Sentence,
  more: Partial<PlanItem> = {},
): PlanItem {
  const { name, type, value, ttl } = wanted
  return { row: row.id, action, name, type, zone: zone.id, value, ttl, reason, warnings: [], ...more }
}

/** What DNS gives of some records that speak of one thing; paused ones count only where there are no others. */
export function servedOf(records: readonly StoredRecord[]): readonly StoredRecord[] {
  const served = records.filter(({ disabled }) => !disabled)
  return served.length > 0 ? served : records
}

/** A foreign record in the place of ours: replaced when accepted, else a conflict that may be. */
export function replaceOrConflict(
  context: RowContext,
  before: StoredRecord,
  code: ConflictCode,
  reason: Sentence,
): PlanItem {
  if (context.accepted) return item(context, 'update', sentence('dns_plan.replace_chosen', { reason }), { before })
  return item(context, 'conflict', reason, { before, code, acceptable: true })
}

/** True when the ledger has this very record: we made it, and it is unchanged since. */
export function isOurs(owned: readonly OwnedRecord[], stored: StoredRecord): boolean {
  return owned.some(
    entry =>
      entry.before === undefined &&
      sameRecord(stored, entry) &&
      (entry.record_id === undefined || entry.record_id === stored.id),
  )
}

/**
 * True when we wrote the record of this row, whatever became of its value. An SPF record that we only merged into
 * stays its owner's.
 */
export function wasOurs(owned: readonly OwnedRecord[], row: string, stored: StoredRecord): boolean {
  return owned.some(
    entry =>
      entry.row === row &&
      (entry.before === undefined || row !== 'spf') &&
      entry.name === stored.name &&
      entry.type === stored.type,
  )
}
