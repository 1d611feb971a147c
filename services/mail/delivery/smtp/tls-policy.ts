/** Remembers what is known of a receiver's TLS: MTA-STS policies by domain, and hosts whose TLS is broken. */
import type { FetchedPolicy } from '../rules/mta-sts.ts'
import { CLEAR_TEXT_MS, type StsPolicy, type TlsMode, tlsModeOf } from '../rules/tls-requirement.ts'
import { NO_POLICY, type ReportedPolicy, reportedPolicyOf, type TlsFailure } from '../rules/tls-results.ts'
import type { FetchPolicy } from './sts-policy.ts'

/** TLS knowledge of one process. */
export interface TlsPolicy {
  /** The domain's policy, asked again at most every ten minutes. Never rejects. */
  policyOf(domain: string): Promise<StsPolicy | undefined>
  /** The same policy as TLS reports name it. Never rejects. */
  reportedOf(domain: string): Promise<ReportedPolicy>
  /** How to connect to a host; undefined: not at all under this policy. */
  modeOf(host: string, policy: StsPolicy | undefined): TlsMode | undefined
  /** The handshake with this host failed, and why: speak in clear for three days. */
  rememberClear(host: string, failure?: TlsFailure): void
  /** Why this host is spoken to in clear, if it is because of a failed handshake. */
  clearCauseOf(host: string): TlsFailure | undefined
}

const RECHECK_MS = 10 * 60_000
const CACHE_MOST = 50_000

/** Makes the store. Without `fetch` there is no MTA-STS (relay and capture mode have no use for it). */
export function createTlsPolicy(options: { fetch?: FetchPolicy; now: () => number }): TlsPolicy {
  const { fetch, now } = options
  const policies = new Map<string, HeldPolicy>()
  const clear = new Map<string, { until: number; failure: TlsFailure | undefined }>()
  const refresh = async (domain: string, before: Promise<FetchedPolicy | undefined> | undefined) => {
    const known = await before
    return fetch?.(domain, known).catch(() => known)
  }
  const find = (domain: string): HeldPolicy => {
    const held = policies.get(domain)
    if (held && now() - held.at <= RECHECK_MS) return held
    const answer = refresh(domain, held?.answer)
    const fresh = { at: now(), answer, reported: answer.then(reportedPolicyOf) }
    if (policies.size >= CACHE_MOST) policies.clear()
    policies.set(domain, fresh)
    return fresh
  }
  return {
    async policyOf(domain) {
      const policy = fetch && (await find(domain).answer)
      return policy && policy.mode !== 'none' ? { mode: policy.mode, mx: policy.mx ?? [] } : undefined
    },
    reportedOf: async domain => (fetch ? find(domain).reported : NO_POLICY),
    modeOf: (host, policy) => tlsModeOf(host, policy, clear.get(host)?.until ?? 0, now()),
    rememberClear(host, failure) {
      if (clear.size >= CACHE_MOST) clear.clear() // forgetting one costs a failed handshake
      clear.set(host, { until: now() + CLEAR_TEXT_MS, failure })
    },
    clearCauseOf(host) {
      const known = clear.get(host)
      return known && known.until > now() ? known.failure : undefined
    },
  }
}

interface HeldPolicy {
  /** When it was asked for, in milliseconds. */
  at: number
  answer: Promise<FetchedPolicy | undefined>
  reported: Promise<ReportedPolicy>
}
