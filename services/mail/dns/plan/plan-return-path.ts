/** Planning of the return path as an MX and an SPF record, and of the change between this form and the alias (ADR 102). */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type GuidanceRow, isReturnPathRow } from '../records/guidance.ts'
import { namesServers } from '../records/merge-spf.ts'
import { canonicalName } from '../records/names.ts'
import { parseMx, type StoredRecord, sameRecord } from '../records/record.ts'
import { isSpf } from '../records/spf.ts'
import { planAlias } from './plan-alias.ts'
import {
  isOurs,
  item,
  type OwnedRecord,
  type PlanInput,
  type PlanItem,
  type RowContext,
  replaceOrConflict,
  servedOf,
} from './plan-item.ts'

/** The alias. Records of ours in the other form make room for it; records of the owner that work are kept. */
export function planReturnPathAlias(context: RowContext): PlanItem {
  const { here, input, wanted } = context
  const others = here.filter(record => !isLeaving(record, input))
  const [first] = others
  if (!first || others.some(({ type }) => type === 'CNAME')) return planAlias({ ...context, here: others })
  if (leadsHere(others, input))
    return item(context, 'keep', sentence('dns_plan.return_path_other_form'), { before: first })
  const types = [...new Set(others.map(({ type }) => type))].toSorted()
  return item(context, 'conflict', sentence('dns_plan.return_path_in_use', { name: wanted.name, types }), {
    before: first,
    code: 'foreign_value',
  })
}

/** A record beside an alias: undefined when the alias is ours and leaves, so that the record itself can be planned. */
export function planBesideAlias(context: RowContext, alias: StoredRecord): PlanItem | undefined {
  const { input, wanted } = context
  if (isLeaving(alias, input)) return undefined
  if (isInboundHost(alias.value, input) && !alias.disabled && !alias.proxied)
    return item(context, 'keep', sentence('dns_plan.return_path_other_form'), { before: alias })
  return item(context, 'conflict', sentence('dns_plan.cname', { name: wanted.name, target: alias.value }), {
    before: alias,
    code: 'cname_in_the_way',
  })
}

/** The MX record. An MX of another host would take a part of the bounces. */
export function planReturnPathMx(context: RowContext): PlanItem {
  const { here, input, wanted } = context
  const records = servedOf(here.filter(({ type }) => type === 'MX'))
  const mine = records.find(record => sameRecord(record, wanted))
  const foreign = records.filter(({ value }) => !isInboundHost(parseMx(value).host, input))
  const ours = records.find(record => record !== mine && isOurs(input.owned, record))
  if (!mine && ours) return item(context, 'update', sentence('dns_plan.return_path_host_changed'), { before: ours })
  const [first, ...more] = foreign.filter(record => record !== ours)
  if (!first)
    return records[0]
      ? item(context, 'keep', sentence('dns_plan.present'), { before: mine ?? records[0] })
      : item(context, 'create', sentence('dns_plan.missing'))
  const reason = sentence('dns_plan.return_path_mx_foreign', {
    name: wanted.name,
    hosts: [first, ...more].map(({ value }) => parseMx(value).host || '.'),
  })
  // With several records, no single one can be replaced.
  if (records.length > 1) return item(context, 'conflict', reason, { before: first, code: 'several_records' })
  return replaceOrConflict(context, first, 'foreign_value', reason)
}

/** The SPF record: the name is for bounces only, so that a record for other servers is replaced and not extended. */
export function planReturnPathSpf(context: RowContext): PlanItem {
  const { here, input, wanted } = context
  const [first, ...more] = servedOf(here.filter(({ type, value }) => type === 'TXT' && isSpf(value)))
  if (!first) return item(context, 'create', sentence('dns_plan.missing'))
  if (more.length > 0)
    return item(context, 'conflict', sentence('dns.spf_several', { name: wanted.name, count: more.length + 1 }), {
      before: first,
      code: 'several_records',
    })
  if (first.value === wanted.value) return item(context, 'keep', sentence('dns_plan.present'), { before: first })
  if (isOurs(input.owned, first))
    return item(context, 'update', sentence('dns_plan.spf_servers_changed'), { before: first })
  if (spfLeadsHere(first.value, input))
    return item(context, 'keep', sentence('dns_plan.spf_present'), { before: first })
  const reason = sentence('dns_plan.return_path_spf_other', { name: wanted.name, value: first.value })
  return replaceOrConflict(context, first, 'foreign_value', reason)
}

/** True where the owner keeps the record: what the owner took over is theirs, in either form of a return path. */
export function isKeptByOwner(rows: readonly GuidanceRow[], { row }: OwnedRecord): boolean {
  return rows.some(({ id, writable }) => !writable && (id === row || (isReturnPathRow(id) && isReturnPathRow(row))))
}

/** True for a record of ours that has to stay while the other form cannot be written. */
export function isHeldBack({ row }: OwnedRecord, items: readonly PlanItem[]): boolean {
  return isReturnPathRow(row) && items.some(({ row: id, action }) => isReturnPathRow(id) && action === 'conflict')
}

/** An alias and other records exclude each other: true when the deletion of `record` makes room for a planned one. */
export function makesRoom(record: StoredRecord, items: readonly PlanItem[]): boolean {
  return items.some(
    ({ action, name, type }) =>
      action === 'create' && name === record.name && (type === 'CNAME') !== (record.type === 'CNAME'),
  )
}

/** True for a record of ours in the form that is no longer chosen. */
function isLeaving(record: StoredRecord, { rows, owned }: PlanInput): boolean {
  const wanted = new Set(rows.map(({ id }) => id))
  const entries = owned.filter(entry => isReturnPathRow(entry.row) && !wanted.has(entry.row))
  return isOurs(entries, record)
}

/** The records of the owner are a whole return path: every MX is ours, and SPF names our servers. */
function leadsHere(records: readonly StoredRecord[], input: PlanInput): boolean {
  const served = records.filter(({ disabled }) => !disabled)
  const hosts = served.filter(({ type }) => type === 'MX').map(({ value }) => parseMx(value).host)
  const spf = served.filter(({ type, value }) => type === 'TXT' && isSpf(value))
  const [txt] = spf
  return (
    hosts.length > 0 &&
    hosts.every(host => isInboundHost(host, input)) &&
    txt !== undefined &&
    spf.length === 1 &&
    spfLeadsHere(txt.value, input)
  )
}

function isInboundHost(host: string, { returnPath }: PlanInput): boolean {
  return returnPath?.hosts.includes(canonicalName(host)) ?? false
}

function spfLeadsHere(txt: string, { spfTerms, returnPath }: PlanInput): boolean {
  return namesServers(txt, spfTerms) || (returnPath !== undefined && namesServers(txt, [returnPath.term]))
}
