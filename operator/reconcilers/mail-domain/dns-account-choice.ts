/** Which DNS account writes the records of a MailDomain. */
import type { ConditionState } from '../shared/conditions.ts'

/**
 * `none`: records are not written. With a condition there is no usable account: the present one stays bound, which an
 * `unbind` ends, so that no process writes with it any more.
 */
export type DnsAccountChoice =
  | { use: { id: string } | 'none' }
  | { condition: ConditionState; requeueAfterMs?: number; unbind?: true }
