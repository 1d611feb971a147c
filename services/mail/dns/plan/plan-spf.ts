/** Planning of the SPF record: created, or our terms merged into the one that is there; never a second record. */

import { sentence } from '../../../platform/sentences/sentence.ts'
import { mergeSeveralSpf, mergeSpf, newSpf, type SpfMerge, withoutSpfTerms } from '../records/merge-spf.ts'
import { type StoredRecord, sameRecord } from '../records/record.ts'
import { isSpf, parseSpf } from '../records/spf.ts'
import { SpfSyntaxError } from '../records/spf-term.ts'
import { isOurs, item, type OwnedRecord, type PlanItem, type RowContext, servedOf } from './plan-item.ts'

/** Beyond this length answers tend to leave a UDP packet (RFC 7208 3.4). Bytes. */
const COMFORTABLE_LENGTH = 450

/** Plans the record at the domain itself. */
export function planSpf(context: RowContext): PlanItem {
  const { here, input, wanted } = context
  const records = servedOf(here.filter(record => record.type === 'TXT' && isSpf(record.value)))
  const [first] = records
  if (!first) return item(context, 'create', sentence('dns_plan.spf_missing'))
  if (records.length > 1) return planSeveral(context, records)
  if (isOurs(input.owned, first) && first.value !== wanted.value)
    return item(context, 'update', sentence('dns_plan.spf_servers_changed'), { before: first })
  return planMerge(context, first)
}

function planMerge(context: RowContext, record: StoredRecord): PlanItem {
  const { input, wanted, row } = context
  let merge: SpfMerge
  try {
    merge = mergeSpf(withoutStale(record.value, input), input.spfTerms)
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return item(context, 'conflict', sentence('dns_plan.spf_invalid', { reason: error.sentence }), {
      before: record,
      code: 'broken_record',
    })
  }
  const warnings = [...merge.warnings]
  if (Buffer.byteLength(merge.value) > COMFORTABLE_LENGTH)
    warnings.push(sentence('dns_plan.spf_long', { bytes: Buffer.byteLength(merge.value), limit: COMFORTABLE_LENGTH }))
  if (merge.value === record.value)
    return item(context, 'keep', sentence('dns_plan.spf_present'), { before: record, warnings })
  const reason =
    merge.added.length > 0
      ? sentence('dns_plan.spf_added', { terms: merge.added.join(' ') })
      : sentence('dns_plan.spf_stale')
  return item({ row, zone: context.zone, wanted: { ...wanted, value: merge.value } }, 'update', reason, {
    before: record,
    warnings,
  })
}

/** Takes out what we once merged in and what is not wanted any more; terms of the owner stay. */
function withoutStale(value: string, input: RowContext['input']): string {
  const stale = input.owned
    .filter(entry => entry.row === 'spf')
    .flatMap(addedTerms)
    .filter(term => !input.spfTerms.includes(term))
  return stale.length > 0 ? withoutSpfTerms(value, stale) : value
}

/** The terms that a merge of ours added, from the values before and after it. */
function addedTerms({ before, value }: Pick<OwnedRecord, 'before' | 'value'>): string[] {
  if (before === undefined || !isSpf(before) || !isSpf(value)) return []
  const old = parseSpf(before).terms.map(term => term.text)
  return parseSpf(value)
    .terms.map(term => term.text)
    .filter(text => !old.includes(text))
}

/**
 * The owner's part of a record that we are about to change: undefined when all of it is ours. What its owner changed
 * since our last write stays theirs, without the terms that we put in.
 */
export function ownersPart(stored: StoredRecord, entries: readonly OwnedRecord[]): string | undefined {
  const untouched = entries.find(entry => sameRecord(stored, entry))
  if (untouched) return untouched.before
  const [last] = entries.slice(-1)
  return last ? withoutOurs(stored.value, last) : stored.value
}

/** A record without the terms that an entry of the ledger speaks of; one that cannot be read stays as it is. */
export function withoutOurs(value: string, entry: OwnedRecord): string {
  try {
    return withoutSpfTerms(value, entry.before === undefined ? mechanismsOf(entry.value) : addedTerms(entry))
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return value
  }
}

function mechanismsOf(value: string): string[] {
  const { terms } = parseSpf(value)
  return terms.filter(({ kind, name }) => kind === 'mechanism' && name !== 'all').map(({ text }) => text)
}

/**
 * Two records are a permanent error already. When one of them is the one that we created (another party added theirs in
 * the same moment), ours gives way; anything else is for the owner to decide, with a merged proposal.
 */
function planSeveral(context: RowContext, records: readonly StoredRecord[]): PlanItem {
  const { input, wanted } = context
  const ours = records.filter(record => isOurs(input.owned, record))
  const [foreign, ...more] = records.filter(record => !ours.includes(record))
  const [own] = ours
  if (own && foreign && more.length === 0)
    return item({ ...context, wanted: { ...wanted, value: own.value } }, 'delete', sentence('dns_plan.spf_merged'), {
      before: own,
      frees: true,
    })
  return item(
    { ...context, wanted: { ...wanted, value: proposal(records, input.spfTerms) } },
    'conflict',
    sentence('dns_plan.spf_several', { count: records.length }),
    {
      ...(records[0] ? { before: records[0] } : {}),
      code: 'several_records',
    },
  )
}

function proposal(records: readonly StoredRecord[], ours: readonly string[]): string {
  try {
    return mergeSeveralSpf(
      records.map(({ value }) => value),
      ours,
    )
  } catch {
    return newSpf(ours)
  }
}
