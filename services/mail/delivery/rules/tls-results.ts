/** TLS results of outgoing sessions, in the terms of TLS reports (RFC 8460 section 4.3). */
import { createHash } from 'node:crypto'
import type { FetchedPolicy, StsFailure } from './mta-sts.ts'
import { matchesMx } from './tls-requirement.ts'

/** Result types of RFC 8460 section 4.3. */
export const TLS_RESULT_TYPES = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
] as const

/** One of {@link TLS_RESULT_TYPES}. */
export type TlsResultType = (typeof TLS_RESULT_TYPES)[number]

/** The policy that applied to a session, as a report names it. */
export interface ReportedPolicy {
  /** Equal for equal policies: letters and digits. */
  key: string
  type: 'sts' | 'no-policy-found'
  /** Lines of the policy; empty unless the type is `sts`. */
  strings: readonly string[]
  /** The domain announces a policy that could not be used: each session counts as one that failed for this reason. */
  failure?: StsFailure
}

/** What was wrong with the TLS of a session. */
export interface TlsFailure {
  type: TlsResultType
  /** A code of the TLS library or a reply code: never a text that a server chose. */
  reason?: string
}

/** Where a session failed. */
export interface FailedTls extends TlsFailure {
  /** Host name of the receiving server. */
  mx: string
  /** Its address. */
  ip?: string | undefined
  /** Our address of the connection. */
  from?: string | undefined
}

/** Sessions that failed for one reason at one server. */
export interface TlsFailureCount {
  type: TlsResultType
  reason?: string | undefined
  /** Host name and address of the server. */
  mx?: string | undefined
  ip?: string | undefined
  /** Our address of the connection, which may be one before address translation. */
  from?: string | undefined
  sessions: number
}

/** The result of one session for one policy domain. Without failures it succeeded. */
export interface TlsResult {
  /** Recipient domain in lower case, as A-labels. */
  domain: string
  policy: ReportedPolicy
  failures: readonly FailedTls[]
}

/** Facts of an open session. */
export interface SessionTls {
  host: string
  /** Undefined in clear. */
  tls: { version: string; verified: boolean } | undefined
  /** Code of what is wrong with the certificate. */
  certificateError: string | undefined
  /** Why TLS is not tried with this host, if it is not. */
  clearCause: TlsFailure | undefined
}

const HOST_MISMATCH = /^ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH$/
const NOT_TRUSTED =
  /^(?:UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|PATH_LENGTH_|ERROR_IN_(?:CERT|CRL)_)|CERTIFICATE_VERIFY_FAILED$/

/** What a code of Node or OpenSSL for a failed handshake is in a report. */
export function failureOfCode(code: string | undefined): TlsFailure {
  const reason = code === undefined ? {} : { reason: code.replace(/[^\w.-]+/g, ' ').slice(0, MAX_REASON) }
  if (code === undefined) return { type: 'validation-failure' }
  if (HOST_MISMATCH.test(code)) return { type: 'certificate-host-mismatch', ...reason }
  if (code === 'CERT_HAS_EXPIRED') return { type: 'certificate-expired', ...reason }
  return { type: NOT_TRUSTED.test(code) ? 'certificate-not-trusted' : 'validation-failure', ...reason }
}

const MAX_REASON = 60
/** An enforced policy forbids the host; a policy that is tested would. */
export const NOT_IN_POLICY: TlsFailure = { type: 'validation-failure', reason: 'mx-not-in-policy' }

/**
 * What is wrong with the TLS of an open session under a policy; empty when nothing is. Without a policy any TLS is a
 * success: no name and no authority is required of the certificate.
 */
export function failuresOf(session: SessionTls, policy: ReportedPolicy): TlsFailure[] {
  const { host, tls, certificateError, clearCause } = session
  const ofTransport = tls ? [] : [clearCause ?? { type: 'starttls-not-supported' as const }]
  if (policy.type !== 'sts') return ofTransport
  const listed = mxOf(policy).some(pattern => matchesMx(pattern, host))
  const failures = [...(listed ? [] : [NOT_IN_POLICY]), ...ofTransport]
  if (!tls) return failures
  if (!tls.verified) failures.push(failureOfCode(certificateError))
  else if (OLD_VERSIONS.has(tls.version)) failures.push({ type: 'validation-failure', reason: tls.version })
  return failures
}

/** What an enforced policy does not negotiate. */
const OLD_VERSIONS: ReadonlySet<string> = new Set(['SSLv3', 'TLSv1', 'TLSv1.1'])

/** Host patterns of a policy that are reported; a policy file has room for thousands. */
const MAX_PATTERNS = 50

/** A domain without a policy. */
export const NO_POLICY: ReportedPolicy = { key: 'none', type: 'no-policy-found', strings: [] }

/** How a policy is reported. One of mode `none` asks for nothing, which is the same as none. */
export function reportedPolicyOf(policy: FetchedPolicy | undefined): ReportedPolicy {
  const { mode, mx, fetched, expires, failure } = policy ?? {}
  if (failure !== undefined) return { ...NO_POLICY, failure }
  if (mode === undefined || mode === 'none' || !mx) return NO_POLICY
  const age =
    fetched === undefined || expires === undefined ? [] : [`max_age: ${Math.round((expires - fetched) / 1000)}`]
  const patterns = mx.slice(0, MAX_PATTERNS).map(pattern => `mx: ${pattern}`)
  const strings = ['version: STSv1', `mode: ${mode}`, ...patterns, ...age]
  const key = createHash('sha256').update(strings.join('\n')).digest('hex').slice(0, 16)
  return { key: `sts${key}`, type: 'sts', strings }
}

/** Host patterns in the lines of a policy. */
export function mxOf({ strings }: Pick<ReportedPolicy, 'strings'>): string[] {
  return strings.flatMap(line => (line.startsWith('mx: ') ? [line.slice(4)] : []))
}

const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)+$/

/** True for a name that can publish where reports go: no address literal. */
export function isPolicyDomain(domain: string): boolean {
  return DOMAIN.test(domain) && !/\.\d+$/.test(domain)
}
