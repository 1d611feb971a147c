/** One term of an SPF record, by the whole syntax of RFC 7208 12: what receivers cannot read is a permanent error for them. */
import ipaddr from 'ipaddr.js'
import { SentenceError, sentence } from '../../../platform/sentences/sentence.ts'

/** Result of a match by qualifier (RFC 7208 4.6.2). */
export type SpfResult = 'pass' | 'fail' | 'softfail' | 'neutral'

/** One term with its exact text and the blanks before it, so that printing gives back what was read. */
export type SpfTerm = { gap: string; text: string } & (
  | { kind: 'mechanism'; result: SpfResult; name: string; value: string }
  | { kind: 'modifier'; name: string; value: string }
)

/** A record that cannot be parsed: receivers answer permerror. */
export class SpfSyntaxError extends SentenceError {}

const RESULTS: Readonly<Record<string, SpfResult>> = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' }
/** Mechanisms and what follows their name; `?` marks what may be left out. */
const MECHANISMS: Readonly<Record<string, 'none' | 'domain' | 'domain?' | 'domain? cidr' | 'ip4' | 'ip6'>> = {
  all: 'none',
  include: 'domain',
  a: 'domain? cidr',
  mx: 'domain? cidr',
  ptr: 'domain?',
  ip4: 'ip4',
  ip6: 'ip6',
  exists: 'domain',
}
/** `%{ir}`, `%%`, `%_`, `%-`; the letters c, r and t belong to explanations. */
const MACRO = String.raw`%(?:\{[slodiphvcrt]\d*r?[-.+,/_=]*\}|[%_-])`
const MACRO_STRING = new RegExp(String.raw`^(?:${MACRO}|[\x21-\x24\x26-\x7e])*$`, 'i')
/** Ends with a dot and a label that is not all digits, or with a macro. Each label reads in one way: strangers write them. */
const DOMAIN_END = new RegExp(String.raw`(?:\.(?:\d*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])\.?|${MACRO})$`, 'i')
/** Longest name that a term may have; DNS has none that are longer. */
const NAME_LENGTH = 255
const CIDR = /(?:\/(?<v4>0|[1-9]\d?))?(?:\/\/(?<v6>0|[1-9]\d{0,2}))?$/

/** True for a mechanism with a value, as people may add it to their domain: `include:_spf.example.net`. */
export function isMechanism(text: string): boolean {
  try {
    const term = parseTerm(' ', text)
    return term.kind === 'mechanism' && term.value.startsWith(':') && term.name !== 'ptr'
  } catch {
    return false
  }
}

/** True for a mechanism that an installation may add to every domain: one that receivers can read, and not `all`. */
export function isPlainMechanism(text: string): boolean {
  try {
    const term = parseTerm(' ', text)
    return term.kind === 'mechanism' && term.name !== 'all'
  } catch {
    return false
  }
}

/** Parses one term, as in `~all`, `ip4:192.0.2.0/24` or `redirect=_spf.example.com`. Throws {@link SpfSyntaxError}. */
export function parseTerm(gap: string, text: string): SpfTerm {
  const modifier = /^(?<name>[a-z][a-z0-9_.-]*)=(?<value>[\x21-\x7e]*)$/i.exec(text)
  if (modifier?.groups) {
    const name = (modifier.groups.name ?? '').toLowerCase()
    const value = modifier.groups.value ?? ''
    const good = name === 'redirect' || name === 'exp' ? isDomainSpec(value) : MACRO_STRING.test(value)
    if (!good) throw new SpfSyntaxError(sentence('dns.spf_term_no_name', { term: text }))
    return { gap, text, kind: 'modifier', name, value }
  }
  const match = /^(?<qualifier>[+?~-]?)(?<name>[a-z0-9]+)(?<value>[:/][\x21-\x7e]*)?$/i.exec(text)
  const name = match?.groups?.name?.toLowerCase() ?? ''
  const value = match?.groups?.value ?? ''
  const form = MECHANISMS[name]
  if (!match?.groups || !form) throw new SpfSyntaxError(sentence('dns.spf_no_term', { term: text }))
  const violation = violationOf(form, value)
  if (violation) throw new SpfSyntaxError(sentence(violation, { term: text }))
  return { gap, text, kind: 'mechanism', result: RESULTS[match.groups.qualifier || '+'] ?? 'pass', name, value }
}

type Violation =
  | 'dns.spf_term_no_name'
  | 'dns.spf_term_no_network'
  | 'dns.spf_term_no_value'
  | 'dns.spf_term_with_value'

/** What is wrong after the name of a mechanism; undefined: nothing. */
function violationOf(form: (typeof MECHANISMS)[string], value: string): Violation | undefined {
  if (form === 'none') return value === '' ? undefined : 'dns.spf_term_with_value'
  if (form === 'domain? cidr') return hostViolation(value)
  if (form === 'domain?' && value === '') return undefined
  if (!/^:./.test(value)) return 'dns.spf_term_no_value'
  const afterColon = value.slice(1)
  if (form === 'ip4' || form === 'ip6') return isNetwork(form, afterColon) ? undefined : 'dns.spf_term_no_network'
  return isDomainSpec(afterColon) ? undefined : 'dns.spf_term_no_name'
}

/** `[":" domain] ["/" bits] ["//" bits]` */
function hostViolation(value: string): Violation | undefined {
  const cidr = CIDR.exec(value)
  const { v4 = '0', v6 = '0' } = cidr?.groups ?? {}
  if (Number(v4) > 32 || Number(v6) > 128) return 'dns.spf_term_no_network'
  const name = value.slice(0, cidr?.index)
  if (name === '') return undefined
  return name.startsWith(':') && isDomainSpec(name.slice(1)) ? undefined : 'dns.spf_term_no_name'
}

function isNetwork(family: 'ip4' | 'ip6', text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const most = family === 'ip4' ? 32 : 128
  const good = bits === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= most)
  // A zone (`fe80::1%eth0`) means something on one machine only.
  if (!good || more.length > 0 || address.includes('%')) return false
  return family === 'ip4' ? ipaddr.IPv4.isValidFourPartDecimal(address) : ipaddr.IPv6.isValid(address)
}

function isDomainSpec(text: string): boolean {
  return text.length <= NAME_LENGTH && MACRO_STRING.test(text) && DOMAIN_END.test(text)
}
