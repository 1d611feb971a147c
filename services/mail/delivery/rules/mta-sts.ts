/**
 * The two texts of MTA-STS (RFC 8461), read as strictly as its grammar: the TXT record and the policy file; and when a
 * policy is to be downloaded again.
 */
import { DAY_MS } from '../../../platform/durations.ts'

/** A policy file. */
export interface PolicyFile {
  mode: 'enforce' | 'testing' | 'none'
  /** Patterns of MX names in lower case; empty only in mode `none`. */
  mx: string[]
  /** Seconds for which the policy may be used. */
  maxAge: number
}

const RECORD = /^v=STSv1[ \t]*;/
const FIELD = /^(?<name>[a-z\d][\w.-]{0,31})=(?<value>[\x21-\x3a\x3c\x3e-\x7e]+)$/i
const ID = /^[a-z\d]{1,32}$/i

/** The policy id in the TXT records of `_mta-sts.<domain>`; undefined unless exactly one of them is an MTA-STS record (section 3.1). */
export function policyIdOf(records: readonly string[]): string | undefined {
  const [record, second] = records.filter(text => RECORD.test(text))
  if (record === undefined || second !== undefined) return undefined
  const [last = '', ...others] = record.split(';').slice(1).toReversed()
  const texts = others.toReversed().map(text => text.replace(/^[ \t]+|[ \t]+$/g, ''))
  const end = last.replace(/^[ \t]+/, '') // blanks belong to the delimiter, and none follows
  const fields = [...texts, ...(end === '' ? [] : [end])].map(text => FIELD.exec(text)?.groups)
  const id = fields.find(field => field?.name === 'id')?.value
  return id !== undefined && ID.test(id) && !fields.includes(undefined) ? id : undefined
}

/** Longest time that a policy may be used, in seconds (section 3.2). */
const MAX_AGE = 31_557_600
const KEY = /^[a-z\d][\w.-]{0,31}$/i
const MX = /^(?:\*\.)?[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*$/i

/** The policy in a file; undefined when it is not valid. */
export function parsePolicyFile(text: string): PolicyFile | undefined {
  const { fields, mx } = readFields(text)
  const [mode, age] = [fields.get('mode'), fields.get('max_age') ?? '']
  const maxAge = /^\d{1,10}$/.test(age) ? Number(age) : Number.POSITIVE_INFINITY
  if (fields.get('version') !== 'STSv1' || maxAge > MAX_AGE) return undefined
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return undefined
  if (!mx.every(pattern => MX.test(pattern)) || (mode !== 'none' && mx.length === 0)) return undefined
  return { mode, mx: [...new Set(mx.map(pattern => pattern.toLowerCase()))], maxAge }
}

/** Lines that are no fields are ignored, and repeated fields other than `mx` after the first (section 3.2). */
function readFields(text: string) {
  const fields = new Map<string, string>()
  const mx: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const key = line.slice(0, Math.max(colon, 0))
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    if (key === 'mx') mx.push(value)
    else if (KEY.test(key) && !fields.has(key)) fields.set(key, value)
  }
  return { fields, mx }
}

/** Why the MTA-STS policy that a domain announces in DNS could not be used (RFC 8460 section 4.3.2.2). */
export type StsFailure = 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'

/** A policy and how long it may be used. */
export interface FetchedPolicy {
  /** The id in the TXT record; false without one. */
  id: string | false
  mode: PolicyFile['mode']
  mx?: string[]
  /** When it was downloaded, in milliseconds since 1970. */
  fetched?: number
  /** Milliseconds since 1970; a policy without it is looked up each time. */
  expires?: number
  /** Why the policy that the domain announces could not be used; then the mode is `none`. */
  failure?: StsFailure
}

/** A policy that was downloaded, not the memory of a failed download. */
export type DownloadedPolicy = Required<Omit<FetchedPolicy, 'failure'>> & { id: string }

/** True for a policy from a policy file. */
export function isDownloaded(policy: FetchedPolicy | undefined): policy is DownloadedPolicy {
  return policy?.mx !== undefined && policy.fetched !== undefined && policy.expires !== undefined
}

/** True while the policy may be used. */
export function isValidAt({ expires }: FetchedPolicy, at: number): boolean {
  return expires !== undefined && expires > at
}

/**
 * When a policy is downloaded again although its id is the same: once a day, and before it expires, so that an attacker
 * cannot wait for its end (RFC 8461 section 10.2).
 */
export function refreshAt({ fetched, expires }: Pick<DownloadedPolicy, 'fetched' | 'expires'>): number {
  return fetched + Math.min(DAY_MS, (expires - fetched) / 2)
}

/** Of what this process knows and what is stored, the policy that applies: a downloaded one first, then the later download. */
export function currentPolicy(
  known: FetchedPolicy | undefined,
  stored: DownloadedPolicy | undefined,
  now: number,
): FetchedPolicy | undefined {
  if (!stored || !isValidAt(stored, now)) return known
  if (!isDownloaded(known) || !isValidAt(known, now)) return stored
  return stored.fetched > known.fetched ? stored : known
}
