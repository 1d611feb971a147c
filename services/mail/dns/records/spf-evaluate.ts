/**
 * Walks the whole tree of an SPF record (RFC 7208 4 and 5): does it pass our servers, and does it stay within the
 * limits that turn a record into a permerror? Terms after a match are visited too, because other senders reach them.
 */

import ipaddr from 'ipaddr.js'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { Answer, Lookup } from './lookup.ts'
import { canonicalName } from './names.ts'
import { isSpf, parseSpf } from './spf.ts'
import { type SpfResult, SpfSyntaxError, type SpfTerm } from './spf-term.ts'

/** A record may cause ten lookups (RFC 7208 4.6.4). */
const SPF_LOOKUP_LIMIT = 10
/** Lookups that find nothing (RFC 7208 4.6.4 recommends two). */
const SPF_VOID_LIMIT = 2
/** Hosts of one mx mechanism (RFC 7208 4.6.4). */
const MX_LIMIT = 10
/** Where counting stops: enough to say by how much a record is over, not enough to be led around. */
const VISIT_LIMIT = 40

/** What a record does. */
export interface SpfEvaluation {
  /** Result for each of our addresses. */
  results: Record<string, SpfResult | 'permerror' | 'temperror'>
  lookups: number
  voids: number
  /** What makes receivers answer permerror. */
  errors: Sentence[]
  warnings: Sentence[]
  /** A lookup failed for now; the counts are a lower bound. */
  temporary: boolean
}

interface Walk {
  lookup: Lookup
  addresses: readonly string[]
  lookups: number
  voids: number
  temporary: boolean
  errors: Sentence[]
  warnings: Sentence[]
  open: string[]
}

/** Result per address; absent: no term matched. */
type Matches = Map<string, SpfResult>

/** Evaluates the record `txt` of `domain` for our sending addresses. Never rejects. */
export async function evaluateSpf(
  domain: string,
  txt: string,
  addresses: readonly string[],
  lookup: Lookup,
): Promise<SpfEvaluation> {
  const walk: Walk = { lookup, addresses, lookups: 0, voids: 0, temporary: false, errors: [], warnings: [], open: [] }
  const matches = await visit(walk, domain, txt)
  if (walk.lookups > SPF_LOOKUP_LIMIT)
    walk.errors.push(sentence('dns.spf_lookups', { count: walk.lookups, limit: SPF_LOOKUP_LIMIT }))
  if (walk.voids > SPF_VOID_LIMIT)
    walk.errors.push(sentence('dns.spf_void_lookups', { count: walk.voids, limit: SPF_VOID_LIMIT }))
  const overall = walk.errors.length > 0 ? 'permerror' : undefined
  // What a failed lookup would have said comes before the term that matched: only a pass is taken at its word.
  const results = addresses.map(ip => {
    const result = matches.get(ip) ?? 'neutral'
    return [ip, overall ?? (walk.temporary && result !== 'pass' ? 'temperror' : result)] as const
  })
  return {
    results: Object.fromEntries(results),
    lookups: walk.lookups,
    voids: walk.voids,
    errors: walk.errors,
    warnings: walk.warnings,
    temporary: walk.temporary,
  }
}

async function visit(walk: Walk, domain: string, txt: string): Promise<Matches> {
  const matches: Matches = new Map()
  if (walk.open.includes(domain)) {
    walk.errors.push(sentence('dns.spf_loop', { domain }))
    return matches
  }
  let terms: SpfTerm[]
  try {
    terms = parseSpf(txt).terms
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    walk.errors.push(sentence('dns.spf_included_invalid', { domain, reason: error.sentence }))
    return matches
  }
  walk.open.push(domain)
  for (const term of terms.slice(0, reach(terms))) {
    if (term.kind !== 'mechanism') continue
    const hit = await match(walk, domain, term)
    for (const ip of hit) if (!matches.has(ip)) matches.set(ip, term.result)
  }
  await followRedirect(walk, terms, matches)
  walk.open.pop()
  return matches
}

/** Number of terms that are evaluated: those after `all` are ignored, with their lookups and errors (RFC 7208 5.1). */
function reach(terms: readonly SpfTerm[]): number {
  const all = terms.findIndex(isAll)
  return all < 0 ? terms.length : all + 1
}

function isAll({ kind, name }: SpfTerm): boolean {
  return kind === 'mechanism' && name === 'all'
}

async function followRedirect(walk: Walk, terms: readonly SpfTerm[], matches: Matches): Promise<void> {
  const redirect = terms.find(term => term.kind === 'modifier' && term.name === 'redirect')
  if (!redirect || terms.some(isAll)) return
  const inner = await recordOf(walk, redirect.value)
  if (inner === undefined) return
  for (const [ip, result] of await visit(walk, canonicalName(redirect.value), inner))
    if (!matches.has(ip)) matches.set(ip, result)
}

/** The addresses of ours that a mechanism matches. */
async function match(walk: Walk, domain: string, term: SpfTerm & { kind: 'mechanism' }): Promise<string[]> {
  switch (term.name) {
    case 'all':
      return [...walk.addresses]
    case 'ip4':
    case 'ip6':
      return walk.addresses.filter(ip => inRange(ip, term.value.slice(1)))
    case 'include':
      return included(walk, term.value.slice(1))
    case 'a':
      return hosts(walk, domain, term, async name => [name])
    case 'mx':
      return hosts(walk, domain, term, name => exchangers(walk, name))
    case 'exists':
      return (await count(walk, target(domain, term), 'A')) ? [...walk.addresses] : []
    default:
      walk.lookups++
      walk.warnings.push(sentence('dns.spf_ptr'))
      return []
  }
}

async function included(walk: Walk, name: string): Promise<string[]> {
  const inner = await recordOf(walk, name)
  if (inner === undefined) return []
  const matches = await visit(walk, canonicalName(name), inner)
  return [...matches].filter(([, result]) => result === 'pass').map(([ip]) => ip)
}

/** The record that include or redirect names; a missing one is a permanent error (RFC 7208 5.2, 6.1). */
async function recordOf(walk: Walk, name: string): Promise<string | undefined> {
  if (name.includes('%')) {
    walk.lookups++
    return undefined
  }
  const answer = await count(walk, name, 'TXT')
  if (!answer) {
    if (!walk.temporary && walk.lookups <= VISIT_LIMIT) walk.errors.push(sentence('dns.spf_included_missing', { name }))
    return undefined
  }
  const records = answer.filter(isSpf)
  if (records.length === 1) return records[0]
  walk.errors.push(
    records.length === 0
      ? sentence('dns.spf_included_missing', { name })
      : sentence('dns.spf_included_several', { name, count: records.length }),
  )
  return undefined
}

async function hosts(
  walk: Walk,
  domain: string,
  term: SpfTerm & { kind: 'mechanism' },
  expand: (name: string) => Promise<string[]>,
): Promise<string[]> {
  const { v4, v6 } = prefixes(term.value)
  const name = target(domain, term)
  walk.lookups++
  if (name.includes('%') || walk.lookups > VISIT_LIMIT) return []
  const found: string[] = []
  let empty = true
  for (const host of await expand(name))
    for (const type of addressTypes(walk.addresses)) {
      const values = await ask(walk, host, type)
      empty &&= !values
      found.push(...(values ?? []).map(value => `${value}/${type === 'A' ? v4 : v6}`))
    }
  if (empty && !walk.temporary) walk.voids++
  return walk.addresses.filter(ip => found.some(range => inRange(ip, range)))
}

async function exchangers(walk: Walk, name: string): Promise<string[]> {
  const names = ((await ask(walk, name, 'MX')) ?? []).map(value => value.split(' ')[1] ?? '').filter(Boolean)
  if (names.length > MX_LIMIT)
    walk.errors.push(sentence('dns.spf_mx_hosts', { name, count: names.length, limit: MX_LIMIT }))
  return names.slice(0, MX_LIMIT)
}

/** One lookup that counts; undefined when nothing was found. */
async function count(walk: Walk, name: string, type: 'A' | 'TXT'): Promise<string[] | undefined> {
  walk.lookups++
  if (name.includes('%') || walk.lookups > VISIT_LIMIT) return undefined
  const values = await ask(walk, name, type)
  if (!values && !walk.temporary) walk.voids++
  return values
}

async function ask(walk: Walk, name: string, type: 'A' | 'AAAA' | 'MX' | 'TXT'): Promise<string[] | undefined> {
  const answer: Answer = await walk.lookup(canonicalName(name), type)
  if (answer.kind === 'temporary') walk.temporary = true
  return answer.kind === 'found' ? answer.values : undefined
}

function target(domain: string, { value }: { value: string }): string {
  return value.startsWith(':') ? (/^:([^/]*(?:\/[^/\d][^/]*)*)/.exec(value)?.[1] ?? domain) : domain
}

function prefixes(value: string): { v4: number; v6: number } {
  const match = /(?<!\/)(?:\/(?<v4>\d{1,2}))?(?:\/\/(?<v6>\d{1,3}))?$/.exec(value)
  return { v4: Number(match?.groups?.v4 ?? 32), v6: Number(match?.groups?.v6 ?? 128) }
}

function addressTypes(addresses: readonly string[]): ('A' | 'AAAA')[] {
  const types = new Set(addresses.map(ip => (ip.includes(':') ? 'AAAA' : 'A') as 'A' | 'AAAA'))
  return types.size === 0 ? ['A'] : [...types]
}

function inRange(ip: string, range: string): boolean {
  const [base = '', bits] = range.split('/')
  if (!ipaddr.isValid(base) || !ipaddr.isValid(ip)) return false
  const network = ipaddr.parse(base)
  const address = ipaddr.parse(ip)
  const width = network.kind() === 'ipv4' ? 32 : 128
  const length = bits === undefined ? width : Number(bits)
  return address.kind() === network.kind() && length >= 0 && length <= width && address.match(network, length)
}
