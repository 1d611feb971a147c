/** Remembers what is known of a receiver's TLS: MTA-STS policies by domain, and hosts whose TLS is broken. */
import type { FetchedPolicy } from '../rules/mta-sts.ts'
import { CLEAR_TEXT_MS, type StsPolicy, type TlsMode, tlsModeOf } from '../rules/tls-requirement.ts'
import type { FetchPolicy } from './sts-policy.ts'

/** TLS knowledge of one process. */
export interface TlsPolicy {
  /** The domain's policy, asked again at most every ten minutes. Never rejects. */
  policyOf(domain: string): Promise<StsPolicy | undefined>
  /** How to connect to a host; undefined: not at all under this policy. */
  modeOf(host: string, policy: StsPolicy | undefined): TlsMode | undefined
  /** The handshake with this host failed: speak in clear for three days. */
  rememberClear(host: string): void
}

const RECHECK_MS = 10 * 60_000
const CACHE_MOST = 50_000

/** Makes the store. Without `fetch` there is no MTA-STS (relay and capture mode have no use for it). */
export function createTlsPolicy(options: { fetch?: FetchPolicy; now: () => number }): TlsPolicy {
  const { fetch, now } = options
  const policies = new Map<string, { at: number; answer: Promise<FetchedPolicy | undefined> }>()
  const clear = new Map<string, number>()
  const refresh = async (domain: string, before: Promise<FetchedPolicy | undefined> | undefined) => {
    const known = await before
    return fetch?.(domain, known).catch(() => known)
  }
  return {
    async policyOf(domain) {
      if (!fetch) return undefined
      const held = policies.get(domain)
      if (!held || now() - held.at > RECHECK_MS) {
        if (policies.size >= CACHE_MOST) policies.clear()
        policies.set(domain, { at: now(), answer: refresh(domain, held?.answer) })
      }
      const policy = await policies.get(domain)?.answer
      return policy && policy.mode !== 'none' ? { mode: policy.mode, mx: policy.mx ?? [] } : undefined
    },
    modeOf: (host, policy) => tlsModeOf(host, policy, clear.get(host) ?? 0, now()),
    rememberClear(host) {
      if (clear.size >= CACHE_MOST) clear.clear() // forgetting one costs a failed handshake
      clear.set(host, now() + CLEAR_TEXT_MS)
    },
  }
}
