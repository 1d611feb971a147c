/** Evaluates DNS answers for one record: what was observed, what is wrong, what to do. Temporary errors decide nothing. */
import type { GuidanceRow } from './guidance.ts'
import type { Answer } from './lookup.ts'
import { type EvaluationContext, type Match, matchRow } from './match-record.ts'

/** The answer of one server; `server` is its name for people. */
export interface ServerAnswer {
  server: string
  answer: Answer
}

/** The public views of a record: every authoritative server, and resolvers as receivers use them. */
export interface Views {
  authoritative: readonly ServerAnswer[]
  recursive: readonly ServerAnswer[]
}

/** The result for one record. */
export interface RecordCheck {
  row: string
  status: 'not_started' | 'pending' | 'verified' | 'failed' | 'temporary_failure' | 'conflict'
  observed: string[]
  errors: string[]
  warnings: string[]
  instructions: string[]
}

interface EvaluatedAnswer extends ServerAnswer {
  match: Match | undefined
}

const REPEATED = 'Nothing to do: the check is repeated. If it stays so, look at the name servers of the zone.'

/** Authoritative servers decide; outdated resolvers make a record pending, and without authoritative answers can only confirm. */
export function evaluateRow(row: GuidanceRow, views: Views, context: EvaluationContext): RecordCheck {
  const evaluate = (entries: readonly ServerAnswer[]): EvaluatedAnswer[] =>
    entries.map(entry => ({ ...entry, match: matchRow(row, entry.answer, context) }))
  const authoritative = evaluate(views.authoritative)
  const recursive = evaluate(views.recursive)
  const decisive = authoritative.filter(({ match }) => match !== undefined)
  const observed = observedIn([...authoritative, ...recursive])
  if (decisive.length === 0)
    return withoutAuthority(row, recursive, [...authoritative, ...recursive], observed, context)
  const bad = decisive.find(({ match }) => match?.kind !== 'ok')
  const good = decisive.find(({ match }) => match?.kind === 'ok')
  if (bad && good) return partial(row, bad, good, observed)
  if (bad?.match) return verdict(row, bad.match, observed, context)
  return confirmed(row, decisive, recursive, observed)
}

function confirmed(
  row: GuidanceRow,
  decisive: EvaluatedAnswer[],
  recursive: EvaluatedAnswer[],
  observed: string[],
): RecordCheck {
  const warnings = unique(decisive.flatMap(({ match }) => match?.warnings ?? []))
  const old = recursive.filter(({ match }) => match && match.kind !== 'ok')
  if (old.length === 0) return check(row, 'verified', { observed, warnings: [...warnings, ...unresolved(recursive)] })
  return check(row, 'pending', {
    observed,
    warnings: [...warnings, `The record is published; ${names(old)} still answers from its cache.`],
    instructions: ['Nothing to do: wait until the cached answer expires.'],
  })
}

/** Name servers answer while every resolver fails: typical of a zone with invalid DNSSEC signatures. */
function unresolved(recursive: readonly EvaluatedAnswer[]): string[] {
  if (recursive.length === 0 || recursive.some(({ match }) => match !== undefined)) return []
  const said = silent(recursive).join(', ')
  return [`Your name servers have the record, but no resolver can tell (${said}); if it stays so, look at DNSSEC.`]
}

function partial(row: GuidanceRow, bad: EvaluatedAnswer, good: EvaluatedAnswer, observed: string[]): RecordCheck {
  return check(row, 'pending', {
    observed,
    warnings: [`${good.server} has the record, ${bad.server} does not yet.`],
    instructions: ['Wait a few minutes; if it stays so, ask your DNS provider why its servers differ.'],
  })
}

/** Without an authoritative answer resolvers can confirm a record, but not that it is missing. */
function withoutAuthority(
  row: GuidanceRow,
  recursive: EvaluatedAnswer[],
  all: EvaluatedAnswer[],
  observed: string[],
  context: EvaluationContext,
): RecordCheck {
  const decisive = recursive.filter(({ match }) => match !== undefined)
  if (decisive.length > 0 && decisive.every(({ match }) => match?.kind === 'ok'))
    return check(row, 'verified', {
      observed,
      warnings: unique([...decisive.flatMap(({ match }) => match?.warnings ?? []), ...silent(all)]),
    })
  if (row.need === 'optional') return check(row, 'not_started', { observed })
  const errors = silent(all)
  if (errors.length === 0) errors.push('The authoritative servers of the zone could not be asked.')
  return check(row, context.established ? 'temporary_failure' : 'pending', {
    observed,
    warnings: errors,
    instructions: [REPEATED],
  })
}

function verdict(row: GuidanceRow, match: Match, observed: string[], context: EvaluationContext): RecordCheck {
  const { kind, errors, warnings } = match
  if (kind === 'missing') {
    if (row.need === 'optional') return check(row, 'not_started', { observed, warnings })
    const status = context.established ? 'failed' : 'pending'
    return check(row, status, { observed, errors, warnings, instructions: [instruction(row)] })
  }
  if (kind === 'temporary')
    return check(row, 'temporary_failure', { observed, errors, warnings, instructions: [REPEATED] })
  const status = kind === 'conflict' ? 'conflict' : 'failed'
  return check(row, status, { observed, errors, warnings, instructions: match.instructions ?? [instruction(row)] })
}

/** The instruction for setting the record manually. */
function instruction(row: GuidanceRow): string {
  if (row.purpose === 'ptr') return `Ask for the PTR record ${row.name} → ${row.value}. ${row.note ?? ''}`.trim()
  return `Add at your DNS provider: ${row.type} ${row.name} with the value ${row.value}`
}

function check(row: GuidanceRow, status: RecordCheck['status'], more: Partial<RecordCheck>): RecordCheck {
  return { row: row.id, status, observed: [], errors: [], warnings: [], instructions: [], ...more }
}

function observedIn(entries: readonly ServerAnswer[]): string[] {
  return unique(entries.flatMap(({ answer }) => (answer.kind === 'found' ? answer.values : []))).slice(0, 20)
}

function silent(entries: readonly ServerAnswer[]): string[] {
  return entries.flatMap(({ server, answer }) => (answer.kind === 'temporary' ? [`${server}: ${answer.reason}`] : []))
}

function names(entries: readonly ServerAnswer[]): string {
  return entries.map(({ server }) => server).join(', ')
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
