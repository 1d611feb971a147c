/**
 * Evaluates what DNS has at `bounce.<domain>` against both forms of a return path (ADR 102): an alias of BOUNCE_DOMAIN, or
 * an MX and an SPF record. Whichever form the domain chose, a whole return path in the other form is verified too.
 */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { evaluateRow, type RecordCheck, type Views } from './evaluate-record.ts'
import type { GuidanceRow } from './guidance.ts'
import type { EvaluationContext } from './match-record.ts'

/** The rows of both forms for one domain. */
export interface ReturnPathForms {
  alias: GuidanceRow
  mx: GuidanceRow
  spf: GuidanceRow
}

/** Answers at the name, by type. An answer for MX and TXT may come from the target of an alias. */
export interface ReturnPathViews {
  alias: Views
  mx: Views
  txt: Views
}

/** The results for the rows of the form that the domain chose. */
export interface ReturnPathCheck {
  records: RecordCheck[]
  /** Reports come to us and SPF passes: mail may leave with the own return path. */
  whole: boolean
}

/** Evaluates both forms. */
export function evaluateReturnPath(
  chosen: 'cname' | 'mx',
  { alias, mx, spf }: ReturnPathForms,
  views: ReturnPathViews,
  context: EvaluationContext,
): ReturnPathCheck {
  const found = {
    alias: evaluateRow(alias, views.alias, context),
    mx: evaluateRow(mx, views.mx, context),
    spf: evaluateRow(spf, views.txt, context),
  }
  const viaMx = isVerified(found.mx) && isVerified(found.spf)
  if (chosen === 'cname') {
    if (isVerified(found.alias)) return { records: [found.alias], whole: true }
    if (viaMx) return { records: [inOtherForm(found.alias, [found.mx, found.spf])], whole: true }
    return { records: [withOthers(alias, found)], whole: false }
  }
  if (viaMx) return { records: [found.mx, found.spf], whole: true }
  if (isVerified(found.alias))
    return { records: [found.mx, found.spf].map(record => inOtherForm(record, [found.alias])), whole: true }
  return { records: [found.mx, found.spf].map(record => besideAlias(mx, record, found.alias)), whole: false }
}

interface Found {
  alias: RecordCheck
  mx: RecordCheck
  spf: RecordCheck
}

function isVerified({ status }: RecordCheck): boolean {
  return status === 'verified'
}

function inOtherForm({ row }: RecordCheck, others: readonly RecordCheck[]): RecordCheck {
  return {
    row,
    status: 'verified',
    observed: others.flatMap(({ observed }) => observed),
    errors: [],
    warnings: others.flatMap(({ warnings }) => warnings),
    instructions: [],
  }
}

/**
 * An incomplete MX form at the name is reported with the missing alias. The status stays: answers of a wildcard look the
 * same, and beside a wildcard the alias can be added.
 */
function withOthers({ name }: GuidanceRow, { alias, mx, spf }: Found): RecordCheck {
  const observed = [...mx.observed, ...spf.observed]
  const isUndecided = [alias, mx, spf].some(({ status }) => status === 'temporary_failure')
  if (alias.observed.length > 0 || observed.length === 0 || isUndecided) return alias
  return {
    ...alias,
    observed,
    errors: [...alias.errors, ...mx.errors, ...spf.errors],
    instructions: [...alias.instructions, sentence('dns.return_path_in_use', { name })],
  }
}

/** Answers came from the target of a foreign alias, beside which no other record can exist. */
function besideAlias({ name }: GuidanceRow, record: RecordCheck, alias: RecordCheck): RecordCheck {
  if (alias.observed.length === 0 || record.status === 'temporary_failure') return record
  return {
    ...record,
    status: isVerified(record) ? 'failed' : record.status,
    observed: alias.observed,
    errors: [sentence('dns.return_path_alias', { name, targets: alias.observed })],
    instructions: [sentence('dns.return_path_remove_alias', { name }), ...record.instructions],
  }
}
