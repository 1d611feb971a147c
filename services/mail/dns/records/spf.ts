/** SPF records (RFC 7208) as text: parsed without loss and printed back byte for byte. */
import { sentence } from '../../../platform/sentences/sentence.ts'
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
