/** Names of sending domains: their canonical form, and names that no account can own. */
import { parse } from 'tldts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** A name in its stored form, or why it is none. */
export type DomainName = { ok: true; name: string } | { ok: false; reason: Sentence }

/** One label: letters, digits and inner hyphens (RFC 1035 2.3.1), at most 63. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A name has 253 characters (RFC 1035 3.1), and `_postwright-challenge.` goes before it. */
const MAX_NAME = 231

/**
 * The stored form of a domain name: A-labels (IDNA, as the WHATWG URL standard maps them), lower case, without the
 * root's dot. Refuses addresses, single labels and public suffixes, private ones (`github.io`) included, because
 * an account that may send for a suffix may send for all names below it. Suffixes that the list does not know (`.internal`) pass.
 */
export function normaliseDomain(input: string): DomainName {
  const refuse = (reason: Sentence): DomainName => ({ ok: false, reason })
  const typed = input.trim().replace(/[.\u3002]$/, '')
  // A host parser of URLs would take these apart (ports, credentials, percent signs) instead of refusing them.
  if (/[\p{Cc}\s/\\:?#@%[\]<>^|]/u.test(typed)) return refuse(sentence('detail.not_a_domain_name'))
  const name = URL.parse(`http://${typed}`)?.hostname ?? ''
  if (name === '' || name.length > 253) return refuse(sentence('detail.not_a_domain_name'))
  if (name.length > MAX_NAME) return refuse(sentence('detail.domain_name_long', { limit: MAX_NAME }))
  const labels = name.split('.')
  if (!labels.every(label => LABEL.test(label))) return refuse(sentence('detail.not_a_domain_name'))
  if (/^\d+$/.test(labels.at(-1) ?? '')) return refuse(sentence('detail.domain_name_address'))
  const { domain, publicSuffix } = parse(name, { allowPrivateDomains: true })
  if (domain === null) return refuse(sentence('detail.domain_name_suffix', { suffix: publicSuffix ?? name }))
  return { ok: true, name }
}
