/**
 * Desired records + current records at the provider → what to do, with a reason for each. Foreign records are only ever
 * changed in two ways: our terms go into an SPF record, and what the owner accepted by name is replaced.
 */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type GuidanceRow, isReturnPathRow } from '../records/guidance.ts'
import { canonicalValue, type RecordType, sameRecord } from '../records/record.ts'
import { planAlias } from './plan-alias.ts'
import { planDkim } from './plan-dkim.ts'
import { planDmarc } from './plan-dmarc.ts'
import {
  type ConflictCode,
  isOurs,
  item,
  type OwnedRecord,
  type PlanInput,
  type PlanItem,
  type RowContext,
  replaceOrConflict,
} from './plan-item.ts'
import {
  isHeldBack,
  isKeptByOwner,
  makesRoom,
  planBesideAlias,
  planReturnPathAlias,
  planReturnPathMx,
  planReturnPathSpf,
} from './plan-return-path.ts'
import { planSpf } from './plan-spf.ts'

/** The plan for all rows that can be written, then for records of ours that are wanted no longer. */
export function planDns(input: PlanInput): PlanItem[] {
  const items = input.rows.filter(isRecordRow).map(row => settle(planRow(row, input), input))
  return [...items, ...planStale(input, items)]
}

function isRecordRow(row: GuidanceRow): row is GuidanceRow & { type: RecordType } {
  return row.type !== 'PTR' && (row.writable || row.purpose === 'a')
}

function planRow(row: GuidanceRow & { type: RecordType }, input: PlanInput): PlanItem {
  const zone = row.writable ? input.zoneOf(row.name) : undefined
  if (!zone) return outside(row)
  const { name, type, value } = row
  const wanted = { name, type, value, ttl: Math.max(row.ttl, zone.minTtl) }
  const here = input.current(name)
  const context: RowContext = { row, zone, wanted, here, input, accepted: input.accepted.has(row.id) }
  const cname = here.find(record => record.type === 'CNAME')
  if (cname && type !== 'CNAME' && isReturnPathRow(row.purpose)) {
    const planned = planBesideAlias(context, cname)
    if (planned) return planned
  } else if (cname && type !== 'CNAME')
    return item(context, 'conflict', sentence('dns_plan.cname', { name, target: cname.value }), {
      before: cname,
      code: 'cname_in_the_way',
    })
  return PLANNERS[row.purpose](context)
}

type Planner = (context: RowContext) => PlanItem

const PLANNERS: Readonly<Record<GuidanceRow['purpose'], Planner>> = {
  ownership: planValue,
  dkim: planDkim,
  spf: planSpf,
  dmarc: planDmarc,
  return_path: planReturnPathAlias,
  return_path_mx: planReturnPathMx,
  return_path_spf: planReturnPathSpf,
  tracking: planAlias,
  a: planAddress,
  ptr: planValue,
  mta_sts: planValue,
  tls_rpt: planValue,
}

/** A value beside others: the proof of one account among several. */
function planValue(context: RowContext): PlanItem {
  const same = context.here.find(record => sameRecord(record, context.wanted))
  if (same) return item(context, 'keep', sentence('dns_plan.present'), { before: same })
  return item(context, 'create', sentence('dns_plan.missing'))
}

function planAddress(context: RowContext): PlanItem {
  const { here, wanted, input, row } = context
  const same = here.find(record => sameRecord(record, wanted))
  if (same?.proxied)
    return replaceOrConflict(context, same, 'proxied', sentence('dns_plan.proxied', { name: wanted.name }))
  if (same) return item(context, 'keep', sentence('dns_plan.present'), { before: same })
  const planned = new Set(
    input.rows.filter(other => other.purpose === 'a').map(other => canonicalValue(other.type, other.value)),
  )
  const other = here.find(record => record.type === row.type && !planned.has(canonicalValue(record.type, record.value)))
  if (!other) return item(context, 'create', sentence('dns_plan.missing'))
  if (isOurs(input.owned, other))
    return item(context, 'update', sentence('dns_plan.server_address_changed'), { before: other })
  return replaceOrConflict(
    context,
    other,
    'foreign_value',
    sentence('dns_plan.other_address', { name: wanted.name, value: other.value }),
  )
}

/** Limits that hold for every change: locked and disabled records, the provider's TXT length. */
function settle(planned: PlanItem, input: PlanInput): PlanItem {
  const { before, action, value, type, name } = planned
  const zone = input.zoneOf(name)
  const conflict = (code: ConflictCode, reason: Sentence): PlanItem => {
    const { acceptable: _, ...rest } = planned
    return { ...rest, action: 'conflict', code, reason }
  }
  if (before?.disabled && (action === 'keep' || action === 'update'))
    return conflict('disabled', sentence('dns_plan.disabled', { name }))
  if (before?.locked && (action === 'update' || action === 'delete'))
    return conflict('locked', sentence('dns_plan.locked', { name }))
  const bytes = Buffer.byteLength(value)
  if (type === 'TXT' && zone && bytes > zone.maxTxt && (action === 'create' || action === 'update'))
    return conflict('too_long', sentence('dns_plan.too_long', { bytes, limit: zone.maxTxt }))
  return planned
}

function outside(row: GuidanceRow & { type: RecordType }): PlanItem {
  const reason = row.writable ? sentence('dns_plan.no_zone', { name: row.name }) : sentence('dns_plan.set_by_hand')
  const { id, name, type, value, ttl } = row
  return { row: id, action: 'skip', name, type, value, ttl, reason, warnings: [] }
}

/** Our own records that no row asks for: an old token, a removed key, a former address. */
function planStale(input: PlanInput, items: readonly PlanItem[]): PlanItem[] {
  const used = new Set(items.map(({ before }) => before?.id).filter(id => id !== undefined))
  return input.owned.flatMap(entry => {
    if (isKeptByOwner(input.rows, entry) || isHeldBack(entry, items)) return []
    const zone = input.zoneOf(entry.name)
    const stored = input.current(entry.name).find(record => sameRecord(record, entry))
    const wanted = items.some(planned => sameRecord({ ...entry, id: '', ttl: 0 }, planned))
    if (!zone || !stored || wanted || used.has(stored.id) || !isOurs(input.owned, stored)) return []
    const { row, name, type, value } = entry
    const { ttl } = stored
    const reason = sentence('dns_plan.no_longer_needed')
    return [
      settle(
        {
          ...{ row, action: 'delete', name, type, value, ttl, zone: zone.id, before: stored, reason, warnings: [] },
          ...(makesRoom(stored, items) ? { frees: true as const } : {}),
        },
        input,
      ),
    ]
  })
}

/** Where the planner looks, and which types it may write there. */
export function questionsOf(rows: readonly GuidanceRow[]): { name: string; types: RecordType[] }[] {
  const writable = rows.filter(isRecordRow).filter(row => row.writable)
  return [...new Set(writable.map(({ name }) => name))].map(name => ({
    name,
    types: [...new Set(writable.filter(row => row.name === name).map(({ type }) => type))],
  }))
}

/** Rows whose record of ours is no longer what is asked for: a setting, a key or the server's address changed. */
export function outdatedRows(rows: readonly GuidanceRow[], owned: readonly OwnedRecord[]): Set<string> {
  return new Set(outdatedEntries(rows, owned).map(({ row }) => row))
}

/** Outdated entries of the ledger whose record was removed by another party: there is nothing left to do. */
export function vanished({
  rows,
  owned,
  zoneOf,
  current,
}: Pick<PlanInput, 'rows' | 'owned' | 'zoneOf' | 'current'>): OwnedRecord[] {
  const asked = new Set(rows.map(({ id }) => id))
  return outdatedEntries(rows, owned).filter(entry => {
    const here = current(entry.name)
    // A row that is still asked for knows by its entry that a changed record was ours.
    const isPresent = asked.has(entry.row)
      ? here.some(({ type }) => type === entry.type)
      : here.some(record => sameRecord(record, entry))
    return zoneOf(entry.name) !== undefined && !isPresent
  })
}

function outdatedEntries(rows: readonly GuidanceRow[], owned: readonly OwnedRecord[]): OwnedRecord[] {
  const wanted = new Map(rows.map(row => [row.id, row]))
  return owned.filter(entry => {
    const { row, before, value } = entry
    return before === undefined && !isKeptByOwner(rows, entry) && wanted.get(row)?.value !== value
  })
}
