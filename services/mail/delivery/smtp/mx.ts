/** Finds the hosts of a domain and their addresses, with caches and the guard against private addresses. */

import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { HOUR_MS } from '../../../platform/durations.ts'
import { isPublicAddress } from '../../../platform/network/public-address.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type MxPlan, planMx } from '../rules/mx-hosts.ts'

/** Where a domain's mail goes. `permanent`: the domain takes no mail or does not exist; `temporary`: DNS gave no answer. */
export type MxAnswer =
  | { kind: 'hosts'; hosts: readonly string[] }
  | { kind: 'permanent'; enhanced: string; reason: Sentence }
  | { kind: 'temporary'; reason: Sentence }

/** The addresses of a host, IPv4 first. Rejects never; `permanent` when it has none that may be used. */
export type AddressAnswer =
  | { kind: 'addresses'; ips: readonly string[] }
  | { kind: 'permanent'; reason: Sentence }
  | { kind: 'temporary'; reason: Sentence }

/** Looks up receivers. */
export interface Mx {
  hostsOf(domain: string): Promise<MxAnswer>
  addressesOf(host: string): Promise<AddressAnswer>
}

/** What the resolver of the system can do, as far as it is needed. */
export interface Lookup {
  resolveMx(domain: string): Promise<{ exchange: string; priority: number }[]>
  resolve4(host: string, options: { ttl: true }): Promise<{ address: string; ttl: number }[]>
  resolve6(host: string, options: { ttl: true }): Promise<{ address: string; ttl: number }[]>
}

/** MX answers carry no TTL here; addresses are kept for theirs, within these bounds. Failures for a minute. */
const MX_MS = 5 * 60_000
const LEAST_MS = 30_000
const MOST_MS = HOUR_MS
const FAILURE_MS = 60_000
/** Most entries of a cache; the oldest goes first. */
const CACHE_MOST = 50_000

/** A resolver of `servers` (`ip[:port]`; empty = the system's): 5 s for each try, two tries. */
export function createLookup(servers: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: 5_000, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/** Makes the resolver. `random` orders hosts of equal preference; `now` in milliseconds. */
export function createMx(options: {
  lookup: Lookup
  allowPrivate: boolean
  random: () => number
  now: () => number
}): Mx {
  const { lookup, allowPrivate, random, now } = options
  const domains = createCache<MxAnswer>(now)
  const hosts = createCache<AddressAnswer>(now)
  return {
    hostsOf: domain =>
      domains(domain, async () => {
        const answer = isIP(literal(domain)) ? direct(literal(domain)) : await askMx(lookup, domain, random)
        return { value: answer, ms: answer.kind === 'hosts' ? MX_MS : FAILURE_MS }
      }),
    addressesOf: host => hosts(host, () => askAddresses(lookup, host, allowPrivate)),
  }
}

/** `[192.0.2.1]` and `[IPv6:2001:db8::1]` without their dress (RFC 5321 section 4.1.3). */
function literal(domain: string): string {
  return /^\[(?:ipv6:)?(.+)\]$/i.exec(domain)?.[1] ?? domain
}

function direct(host: string): MxAnswer {
  return { kind: 'hosts', hosts: [host] }
}

async function askMx(lookup: Lookup, domain: string, random: () => number): Promise<MxAnswer> {
  let plan: MxPlan
  try {
    plan = planMx(await lookup.resolveMx(domain), random)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTFOUND')
      return { kind: 'permanent', enhanced: '5.1.2', reason: sentence('delivery.domain_missing', { domain }) }
    if (code === 'EBADNAME')
      return { kind: 'permanent', enhanced: '5.1.2', reason: sentence('delivery.not_a_domain', { domain }) }
    if (code !== 'ENODATA')
      return { kind: 'temporary', reason: sentence('delivery.mx_unanswered', { domain, error: code }) }
    plan = { kind: 'implicit' }
  }
  if (plan.kind === 'null_mx')
    return { kind: 'permanent', enhanced: '5.1.10', reason: sentence('delivery.null_mx', { domain }) }
  return plan.kind === 'implicit' ? direct(domain) : { kind: 'hosts', hosts: plan.hosts }
}

async function askAddresses(
  lookup: Lookup,
  host: string,
  allowPrivate: boolean,
): Promise<{ value: AddressAnswer; ms: number }> {
  if (isIP(host)) return { value: evaluate(host, [host], allowPrivate), ms: MOST_MS }
  const answers = await Promise.allSettled([lookup.resolve4(host, { ttl: true }), lookup.resolve6(host, { ttl: true })])
  const found = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length === 0) {
    const codes = answers.map(answer => (answer.status === 'rejected' ? codeOf(answer.reason) : 'ENODATA'))
    const unsure = codes.find(code => code !== 'ENOTFOUND' && code !== 'ENODATA')
    const value: AddressAnswer = unsure
      ? { kind: 'temporary', reason: sentence('delivery.address_unanswered', { host, error: unsure }) }
      : { kind: 'permanent', reason: sentence('delivery.no_address', { host }) }
    return { value, ms: FAILURE_MS }
  }
  const ttl = Math.min(...found.map(record => record.ttl)) * 1_000
  const ips = found.map(({ address }) => address)
  return { value: evaluate(host, ips, allowPrivate), ms: Math.min(Math.max(ttl, LEAST_MS), MOST_MS) }
}

function evaluate(host: string, ips: readonly string[], allowPrivate: boolean): AddressAnswer {
  const usable = allowPrivate ? ips : ips.filter(isPublicAddress)
  if (usable.length > 0) return { kind: 'addresses', ips: usable }
  return { kind: 'permanent', reason: sentence('delivery.private_addresses', { host }) }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error'
}

/** Keeps answers for their time; questions asked during a lookup share it. */
function createCache<T>(now: () => number) {
  const entries = new Map<string, { until: number; answer: Promise<T> }>()
  return (key: string, ask: () => Promise<{ value: T; ms: number }>): Promise<T> => {
    const held = entries.get(key)
    if (held && held.until > now()) return held.answer
    entries.delete(key)
    const oldest = entries.size >= CACHE_MOST ? entries.keys().next().value : undefined
    if (oldest !== undefined) entries.delete(oldest)
    const asked = ask()
    const entry = { until: Number.POSITIVE_INFINITY, answer: asked.then(({ value }) => value) }
    entries.set(key, entry)
    void asked.then(({ ms }) => {
      entry.until = now() + ms
    })
    return entry.answer
  }
}
