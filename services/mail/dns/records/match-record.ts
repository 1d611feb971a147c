/** Compares an answer with the wanted record; one matcher for each purpose. */

import { evaluateDkim } from './dkim.ts'
import { type DmarcDiscovery, isDmarc, parseDmarc } from './dmarc.ts'
import type { GuidanceRow } from './guidance.ts'
import type { Answer } from './lookup.ts'
import { canonicalValue } from './record.ts'
import { isSpf, mergeSpf } from './spf.ts'
import type { SpfEvaluation } from './spf-evaluate.ts'
import { SpfSyntaxError } from './spf-term.ts'
import { parseTagList } from './tag-list.ts'

/** Facts beside the answers of DNS. */
export interface EvaluationContext {
  spfTerms: readonly string[]
  spf?: SpfEvaluation
  dmarc?: DmarcDiscovery
  /** Addresses of the sending host, for forward-confirmed reverse DNS; undefined: unknown. */
  hostAddresses?: readonly string[]
  /** The domain was verified before: a missing record is then a failure, not a beginning. */
  established: boolean
}

/** How an answer compares with a row. */
export interface Match {
  kind: 'ok' | 'missing' | 'mismatch' | 'conflict' | 'temporary'
  errors: string[]
  warnings: string[]
  instructions?: string[]
}

type Matcher = (row: GuidanceRow, values: readonly string[], context: EvaluationContext) => Match

/** Undefined for a temporary failure. */
export function matchRow(row: GuidanceRow, answer: Answer, context: EvaluationContext): Match | undefined {
  if (answer.kind === 'temporary') return undefined
  return MATCHERS[row.purpose](row, answer.kind === 'found' ? answer.values : [], context)
}

const MATCHERS: Readonly<Record<GuidanceRow['purpose'], Matcher>> = {
  ownership: matchOwnership,
  dkim: matchDkim,
  spf: matchSpf,
  dmarc: matchDmarc,
  a: matchAddress,
  ptr: matchPtr,
  mta_sts: (_, values) => (values.some(value => /^v=STSv1\s*;/.test(value)) ? ok() : missing('No MTA-STS record.')),
  tls_rpt: (_, values) => (values.some(value => /^v=TLSRPTv1\s*;/.test(value)) ? ok() : missing('No TLS-RPT record.')),
}

function matchOwnership(row: GuidanceRow, values: readonly string[]): Match {
  if (provesOwnership(values, row.value)) return ok()
  return missing(
    values.length === 0 ? `There is no TXT record at ${row.name}.` : `The TXT records at ${row.name} are of others.`,
  )
}

/** True when one of the TXT values is the token of an account; blanks around it are the panel's. */
export function provesOwnership(values: readonly string[], token: string): boolean {
  return values.some(value => value.trim() === token)
}

function matchDkim(row: GuidanceRow, values: readonly string[]): Match {
  const tagList = parseTagList(row.value)
  const key = tagList?.get('p') ?? ''
  const algorithm = tagList?.get('k') === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256'
  const verdicts = values.map(value => evaluateDkim(value, algorithm, key))
  // The answer of a wildcard record is no key.
  if (key === '')
    return verdicts.every(({ kind }) => kind === 'revoked' || kind === 'invalid')
      ? ok()
      : mismatch('The revoked key is still published.')
  const same = verdicts.find(verdict => verdict.kind === 'same')
  const [first] = verdicts
  if (same)
    return ok(
      values.length > 1
        ? [...same.warnings, `${row.name} has ${values.length} TXT records; leave only the key.`]
        : same.warnings,
    )
  if (!first) return missing(`There is no TXT record at ${row.name}.`)
  if (first.kind === 'invalid') return mismatch(`The record cannot be used: ${first.reason}.`)
  return mismatch(first.kind === 'revoked' ? 'The record revokes the key (empty p=).' : 'The record holds another key.')
}

function matchSpf(row: GuidanceRow, values: readonly string[], { spfTerms, spf }: EvaluationContext): Match {
  const records = values.filter(isSpf)
  const [txt] = records
  if (txt === undefined) return missing(`${row.name} has no SPF record.`)
  if (records.length > 1)
    return {
      kind: 'conflict',
      errors: [`${row.name} has ${records.length} SPF records, which receivers take as a permanent error.`],
      warnings: [],
      instructions: ['Leave one SPF record that names all senders.'],
    }
  const merged = mergedOrError(txt, spfTerms)
  if ('error' in merged) return mismatch(`The record is broken: ${merged.error}.`)
  if (spf && spf.errors.length > 0)
    return {
      kind: 'mismatch',
      errors: spf.errors,
      warnings: spf.warnings,
      instructions: ['Take terms out of the record that are not needed any more, or replace includes by addresses.'],
    }
  const warnings = [...merged.warnings, ...(spf?.warnings ?? [])]
  const passes =
    spf !== undefined &&
    Object.keys(spf.results).length > 0 &&
    Object.values(spf.results).every(result => result === 'pass')
  if (passes) return ok(warnings)
  if (merged.added.length === 0) return spf && !spf.temporary ? shadowed(spf, warnings) : ok(warnings)
  if (spf?.temporary) return { kind: 'temporary', errors: ['A part of the record cannot be looked up now.'], warnings }
  return {
    kind: 'mismatch',
    errors: [`The record does not name our servers (${merged.added.join(' ')}).`],
    warnings,
    instructions: [`Change the record to: ${merged.value}`],
  }
}

/** The record names our servers; an address that still does not pass is refused by an earlier, wider term. */
function shadowed({ results }: SpfEvaluation, warnings: string[]): Match {
  const refused = Object.entries(results).filter(([, result]) => result !== 'pass')
  if (refused.length === 0) return ok(warnings)
  const verdicts = refused.map(([ip, result]) => `${result} for ${ip}`).join(', ')
  return {
    kind: 'mismatch',
    errors: [`The record names our servers, but an earlier term answers first: ${verdicts}.`],
    warnings,
    instructions: ['Put the terms of our servers before the term that refuses them.'],
  }
}

function mergedOrError(txt: string, terms: readonly string[]): ReturnType<typeof mergeSpf> | { error: string } {
  try {
    return mergeSpf(txt, terms)
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return { error: error.message }
  }
}

function matchDmarc(row: GuidanceRow, values: readonly string[], { dmarc }: EvaluationContext): Match {
  const records = values.filter(isDmarc)
  const [txt] = records
  if (txt === undefined) {
    if (dmarc?.kind === 'inherited') return ok([`The policy of ${dmarc.at} applies (${dmarc.effective}).`])
    if (dmarc?.kind === 'temporary')
      return {
        kind: 'temporary',
        errors: [`The policy above cannot be read now (${dmarc.reason}); try again later.`],
        warnings: [],
      }
    return missing(`${row.name} has no DMARC record.`)
  }
  if (records.length > 1)
    return {
      kind: 'conflict',
      errors: [`${row.name} has ${records.length} DMARC records; receivers ignore them all.`],
      warnings: [],
      instructions: ['Leave one DMARC record.'],
    }
  const record = parseDmarc(txt)
  if (!record) return mismatch('Receivers cannot read the record.')
  return ok([
    ...record.obsolete.map(tag => `The tag ${tag} has no meaning any more (RFC 9989).`),
    ...(record.testing ? ['The flag t=y asks receivers not to enforce the policy.'] : []),
  ])
}

function matchAddress(row: GuidanceRow, values: readonly string[]): Match {
  const addresses = values.map(value => canonicalValue(row.type, value))
  if (addresses.includes(canonicalValue(row.type, row.value))) return ok()
  return addresses.length === 0
    ? missing(`${row.name} has no ${row.type} record.`)
    : mismatch(`${row.name} points to ${addresses.join(', ')}.`)
}

/** Forward-confirmed reverse DNS: address → name → the same address (RFC 1912 2.1). */
function matchPtr(row: GuidanceRow, values: readonly string[], { hostAddresses }: EvaluationContext): Match {
  if (values.length === 0) return missing('The address has no PTR record; many receivers refuse mail from it.')
  if (!values.includes(row.value))
    return mismatch(`The address is named ${values.join(', ')}, the server says ${row.value}.`)
  const ip = row.id.slice('ptr:'.length)
  if (hostAddresses && !hostAddresses.includes(ip)) return mismatch(`${row.value} does not point back to ${ip}.`)
  return ok(values.length > 1 ? ['The address has several PTR records; leave one.'] : [])
}

function ok(warnings: readonly string[] = []): Match {
  return { kind: 'ok', errors: [], warnings: [...warnings] }
}

function missing(error: string): Match {
  return { kind: 'missing', errors: [error], warnings: [] }
}

function mismatch(error: string): Match {
  return { kind: 'mismatch', errors: [error], warnings: [] }
}
