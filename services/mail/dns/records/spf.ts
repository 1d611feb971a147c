/** SPF records (RFC 7208) as text: parsed without loss, printed back byte for byte, and merged instead of doubled. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { parseTerm, SpfSyntaxError, type SpfTerm } from './spf-term.ts'

/** A parsed record. */
export interface SpfRecord {
  version: string
  terms: SpfTerm[]
  /** Blanks after the last term. */
  tail: string
}

/** Longer records are not read: no receiver takes a tenth of that, and a stranger's TXT record may have 64 KB. */
const MOST_LENGTH = 10_000

/** True for a TXT value that receivers take as SPF (RFC 7208 4.5): `v=spf1`, alone or followed by a blank. */
export function isSpf(txt: string): boolean {
  return /^v=spf1(?: |$)/i.test(txt)
}

/** Parses a record. Throws {@link SpfSyntaxError} naming the term that is wrong. */
export function parseSpf(txt: string): SpfRecord {
  if (!isSpf(txt)) throw new SpfSyntaxError(sentence('dns.spf_no_version'))
  if (txt.length > MOST_LENGTH) throw new SpfSyntaxError(sentence('dns.spf_too_long', { limit: MOST_LENGTH }))
  const rest = txt.slice(6)
  // Only the first blank of a gap begins a match: beginning at each one would take time with the square of the gap.
  const terms = [...rest.matchAll(/(?<! )( +)([^ ]+)/g)].map(match => parseTerm(match[1] ?? ' ', match[2] ?? ''))
  for (const name of ['redirect', 'exp'])
    if (terms.filter(term => term.kind === 'modifier' && term.name === name).length > 1)
      throw new SpfSyntaxError(sentence('dns.spf_modifier_twice', { name }))
  return { version: txt.slice(0, 6), terms, tail: /(?<! ) *$/.exec(rest)?.[0] ?? '' }
}

/** The text of a record; the inverse of {@link parseSpf}. */
export function printSpf({ version, terms, tail }: SpfRecord): string {
  return version + terms.map(term => term.gap + term.text).join('') + tail
}

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
