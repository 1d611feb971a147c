/** Evaluates DNS answers for one record: what was observed, what is wrong, what to do. Temporary errors decide nothing. */

import { joined } from '../../../platform/sentences/compose.ts'
import { inEnglish, type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { GuidanceRow } from './guidance.ts'
import type { Answer } from './lookup.ts'
import { type EvaluationContext, type Match, matchRow } from './match-record.ts'

/** The answer of one server; `server` is its name for people. */
export interface ServerAnswer {
  server: Sentence | string
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
  errors: Sentence[]
  warnings: Sentence[]
  instructions: Sentence[]
}

interface EvaluatedAnswer extends ServerAnswer {
  match: Match | undefined
}

const REPEATED = sentence('dns.check_repeated')

/**
 * Authoritative servers decide; resolvers with an old answer make a record pending, and without authoritative answers can
 * only confirm.
 */
export function evaluateRow(row: GuidanceRow, views: Views, context: EvaluationContext): RecordCheck {
  const evaluate = (entries: readonly ServerAnswer[]): EvaluatedAnswer[] =>
    entries.map(entry => ({ ...entry, match: matchRow(row, entry.answer, context) }))
  const authoritative = evaluate(views.authoritative)
  const recursive = evaluate(views.recursive)
  const decisive = authoritative.filter(({ match }) => match !== undefined)
  const observed = observedIn([...authoritative, ...recursive])
  if (decisive.length === 0)
    return withoutAuthority(row, recursive, [...authoritative, ...recursive], observed, context)
  const lagging = decisive.filter(({ match }) => match?.kind !== 'ok')
  const [bad] = lagging
  const good = decisive.find(({ match }) => match?.kind === 'ok')
  if (bad && good) return partial(row, lagging, good, observed)
  if (bad?.match) return resultOf(row, bad.match, observed, context)
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
  const cached = [...warnings, sentence('dns.cached', { servers: old.map(({ server }) => server) })]
  if (isAskedForHereOnly(row) && old.every(({ answer }) => answer.kind === 'missing'))
    return check(row, 'verified', { observed, warnings: cached })
  return check(row, 'pending', { observed, warnings: cached, instructions: [sentence('dns.wait_for_cache')] })
}

/**
 * True for names that no receiver knows before our mail names them. A resolver that remembers that there was nothing has been
 * asked here, by a check before the record was written; a look for the zone of a name that does not exist is enough.
 */
function isAskedForHereOnly({ purpose }: GuidanceRow): boolean {
  return purpose === 'ownership' || purpose === 'dkim'
}

/** Name servers answer while every resolver fails: typical of a zone with invalid DNSSEC signatures. */
function unresolved(recursive: readonly EvaluatedAnswer[]): Sentence[] {
  if (recursive.length === 0 || recursive.some(({ match }) => match !== undefined)) return []
  return [sentence('dns.unresolved', { reasons: silent(recursive) })]
}

function partial(
  row: GuidanceRow,
  lagging: readonly EvaluatedAnswer[],
  good: EvaluatedAnswer,
  observed: string[],
): RecordCheck {
  const servers = lagging.map(({ server }) => server)
  const [absent = ''] = servers
  const warning =
    servers.length > 1
      ? sentence('dns.servers_lag', { present: good.server, servers })
      : sentence('dns.servers_differ', { present: good.server, absent })
  return check(row, 'pending', {
    observed,
    warnings: [warning],
    instructions: [sentence('dns.wait_for_servers')],
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
  if (errors.length === 0) errors.push(sentence('dns.no_authority'))
  return check(row, context.established ? 'temporary_failure' : 'pending', {
    observed,
    warnings: errors,
    instructions: untilAnswered(row, observed, context),
  })
}

function resultOf(row: GuidanceRow, match: Match, observed: string[], context: EvaluationContext): RecordCheck {
  const { kind, errors, warnings } = match
  if (kind === 'missing') {
    if (row.need === 'optional') return check(row, 'not_started', { observed, warnings })
    const status = context.established ? 'failed' : 'pending'
    return check(row, status, { observed, errors, warnings, instructions: [instruction(row)] })
  }
  if (kind === 'temporary')
    return check(row, 'temporary_failure', {
      observed,
      errors,
      warnings,
      instructions: untilAnswered(row, observed, context),
    })
  const status = kind === 'conflict' ? 'conflict' : 'failed'
  return check(row, status, { observed, errors, warnings, instructions: match.instructions ?? [instruction(row)] })
}

/**
 * While DNS gives no answer, a record of a new domain that was not seen has yet to be published. Of SPF and DMARC there
 * may be one already, and a second one would be an error.
 */
function untilAnswered(row: GuidanceRow, observed: readonly string[], { established }: EvaluationContext): Sentence[] {
  if (established) return [REPEATED]
  const isMissing = observed.length === 0 && row.purpose !== 'spf' && row.purpose !== 'dmarc'
  return [...(isMissing ? [instruction(row)] : []), sentence('dns.check_again')]
}

/** The instruction for setting the record manually. */
function instruction({ purpose, type, name, value, note }: GuidanceRow): Sentence {
  if (purpose !== 'ptr') return sentence('dns.add_record', { type, name, value })
  const request = sentence('dns.request_ptr', { name, value })
  return note ? joined([request, note]) : request
}

function check(row: GuidanceRow, status: RecordCheck['status'], more: Partial<RecordCheck>): RecordCheck {
  return { row: row.id, status, observed: [], errors: [], warnings: [], instructions: [], ...more }
}

function observedIn(entries: readonly ServerAnswer[]): string[] {
  return [...new Set(entries.flatMap(({ answer }) => (answer.kind === 'found' ? answer.values : [])))].slice(0, 20)
}

function silent(entries: readonly ServerAnswer[]): Sentence[] {
  return entries.flatMap(({ server, answer }) =>
    answer.kind === 'temporary' ? [sentence('dns.source', { source: server, reason: answer.reason })] : [],
  )
}

function unique(list: readonly Sentence[]): Sentence[] {
  return [...new Map(list.map(entry => [inEnglish(entry), entry])).values()]
}
