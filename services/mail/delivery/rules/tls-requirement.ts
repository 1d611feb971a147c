/** Whether a host gets TLS, and how strict: MTA-STS (RFC 8461) first, then opportunistic (RFC 7435). */

import { DAY_MS } from '../../../platform/durations.ts'

/** A domain's MTA-STS policy as far as a connection needs it. */
export interface StsPolicy {
  mode: 'enforce' | 'testing' | 'none'
  /** Patterns of MX names: exact, or `*.` and one label more. */
  mx: readonly string[]
}

/** How to connect to one host. `off`: TLS failed here before; `opportunistic`: take it when offered, believe any certificate. */
export type TlsMode = 'require-verified' | 'opportunistic' | 'off'

/** How long a host that failed at TLS is spoken to in clear: long enough to be cheap, short enough to notice a repair. */
export const CLEAR_TEXT_MS = 3 * DAY_MS

/** The mode for a host; undefined when an enforced policy does not list it, so that it must not be used. */
export function tlsModeOf(
  host: string,
  policy: StsPolicy | undefined,
  clearUntil: number,
  now: number,
): TlsMode | undefined {
  if (policy?.mode === 'enforce')
    return policy.mx.some(pattern => matchesMx(pattern, host)) ? 'require-verified' : undefined
  return clearUntil > now ? 'off' : 'opportunistic'
}

/** RFC 8461 section 4.1: a wildcard matches exactly one leftmost label. */
export function matchesMx(pattern: string, host: string): boolean {
  const name = host.toLowerCase()
  const wanted = pattern.toLowerCase()
  if (!wanted.startsWith('*.')) return name === wanted
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot) === wanted.slice(1)
}
