/** Changes of SPF records: a new one, our mechanisms in an existing one, and without them again. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { parseSpf, printSpf, type SpfRecord } from './spf.ts'
import { parseTerm, SpfSyntaxError, type SpfTerm } from './spf-term.ts'

/** What a merge changed. */
export interface SpfMerge {
  value: string
  /** Terms that were added; empty when the record says it all already. */
  added: string[]
  warnings: Sentence[]
}

/** The record for a domain that has none. Softfail by default: a forgotten sender is marked, not lost. */
export function newSpf(ours: readonly string[], all: '~all' | '-all' = '~all'): string {
  return ['v=spf1', ...ours, all].join(' ')
}

/**
 * Adds our mechanisms to an existing record. Every other term keeps its place and its text; ours go before the first
 * `all`, which hides the terms after it, or before the first modifier when there is no `all` (`redirect=` counts
 * only when nothing matched). The qualifier of `all` is the owner's. Throws {@link SpfSyntaxError}.
 */
export function mergeSpf(txt: string, ours: readonly string[]): SpfMerge {
  const record = parseSpf(txt)
  const reachable = record.terms.slice(0, insertionPoint(record))
  const present = new Set(reachable.map(normalise))
  const added = ours.filter((text, index) => {
    const key = normalise(parseTerm(' ', text))
    return !present.has(key) && ours.findIndex(other => normalise(parseTerm(' ', other)) === key) === index
  })
  const insert = added.map(text => parseTerm(' ', text))
  const at = reachable.length
  const merged = { ...record, terms: [...reachable, ...insert, ...record.terms.slice(at)] }
  // Without terms after ours the tail would come before them; the syntax requires one blank.
  if (at === record.terms.length && insert.length > 0) merged.tail = ''
  return { value: added.length === 0 ? txt : printSpf(merged), added, warnings: shadows(record, ours) }
}

/** True when a record has all the terms, where receivers reach them; false for one that receivers cannot read. */
export function namesServers(txt: string, terms: readonly string[]): boolean {
  if (terms.length === 0) return false
  try {
    const { added, warnings } = mergeSpf(txt, terms)
    return added.length === 0 && warnings.length === 0
  } catch (error) {
    if (error instanceof SpfSyntaxError) return false
    throw error
  }
}

/** Takes terms out again; everything else stays as it is. Throws {@link SpfSyntaxError}. */
export function withoutSpfTerms(txt: string, terms: readonly string[]): string {
  const record = parseSpf(txt)
  const gone = new Set(terms.map(text => normalise(parseTerm(' ', text))))
  return printSpf({ ...record, terms: record.terms.filter(term => !gone.has(normalise(term))) })
}

function insertionPoint({ terms }: SpfRecord): number {
  const all = terms.findIndex(term => term.kind === 'mechanism' && term.name === 'all')
  if (all >= 0) return all
  const redirect = terms.findIndex(term => term.kind === 'modifier' && term.name === 'redirect')
  return redirect >= 0 ? redirect : terms.length
}

/** Two terms that mean the same compare equal: `+a` and `a`, `IP4:` and `ip4:`, `/32` and nothing. */
function normalise(term: SpfTerm): string {
  if (term.kind === 'modifier') return `${term.name}=${term.value}`
  const value = term.name === 'ip4' ? term.value.replace(/\/32$/, '') : term.value.replace(/\/128$/, '')
  return `${term.result} ${term.name}${value.toLowerCase()}`
}

/** Says when an earlier term with the same value but another qualifier answers before ours. */
function shadows(record: SpfRecord, ours: readonly string[]): Sentence[] {
  return ours.flatMap(text => {
    const wanted = parseTerm(' ', text)
    const shadow = record.terms.find(
      term =>
        term.kind === 'mechanism' &&
        wanted.kind === 'mechanism' &&
        term.result !== wanted.result &&
        term.name === wanted.name &&
        term.value.toLowerCase() === wanted.value.toLowerCase(),
    )
    return shadow ? [sentence('dns.spf_term_first', { term: shadow.text })] : []
  })
}
