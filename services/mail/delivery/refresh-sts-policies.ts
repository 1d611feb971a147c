/** Downloads stored MTA-STS policies again before they expire (RFC 8461 section 10.2). */
import { HOUR_MS } from '../../platform/durations.ts'
import { isDownloaded } from './rules/mta-sts.ts'
import type { FetchPolicy } from './smtp/sts-policy.ts'
import type { createStsPolicies } from './store/sts-policies.ts'

/** Policies of one run that are downloaded at the same time; each may take ten seconds. */
const PARALLEL = 8
/** A policy whose host does not answer is tried again after this time, in milliseconds. */
const RETRY_MS = HOUR_MS

/**
 * Refreshes every policy that is due, and gives the number of those that were downloaded. Several workers share the
 * work: each policy is claimed. A policy whose host does not answer stays in use until it expires.
 */
export async function refreshStsPolicies(
  stored: Pick<ReturnType<typeof createStsPolicies>, 'claimDue' | 'write'>,
  fetch: FetchPolicy,
  signal: AbortSignal,
): Promise<number> {
  let refreshed = 0
  const lane = async () => {
    while (!signal.aborted) {
      const due = await stored.claimDue(RETRY_MS)
      if (!due) return
      const found = await fetch(due.domain, due.policy)
      if (!isDownloaded(found) || found.fetched === due.policy.fetched) continue
      await stored.write(due.domain, found)
      refreshed++
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, lane))
  return refreshed
}
