/** DNS answers as the rules see them: found, certainly missing, or unknown for now. */

import type { Sentence } from '../../../platform/sentences/sentence.ts'

/** The types that rules ask for. */
export type LookupType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'PTR' | 'SOA' | 'TXT'

/**
 * One answer. Values are canonical: TXT joined, names without the last dot in lower case, MX as `10 mx.example.com`.
 * `temporary` covers SERVFAIL, REFUSED and timeouts: it never means that something is missing. Its reason may be a
 * response code of the protocol.
 */
export type Answer =
  | { kind: 'found'; values: string[]; ttl: number }
  | { kind: 'missing'; reason: 'nxdomain' | 'nodata'; ttl?: number }
  | { kind: 'temporary'; reason: Sentence }

/** Asks DNS. Never rejects. */
export type Lookup = (name: string, type: LookupType) => Promise<Answer>
