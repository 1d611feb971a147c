/** Adds addresses to the lists of accounts on behalf of the service: after bounces, complaints and unsubscriptions. */
import { ALL_STREAMS, type SuppressionOrigin, type SuppressionReason, suppressionAddress } from './rules/suppression.ts'
import { DETAIL_CHARS } from './rules/suppression-input.ts'
import { storeSuppressions } from './store/suppressions.ts'
import { addedEvents, changeWithEvents, type SuppressionDeps } from './with-events.ts'

/** What happened to which address of which account. */
export interface ObservedSuppression {
  userId: string
  email: string
  reason: SuppressionReason
  origin: SuppressionOrigin
  /** Default: all mail of the account. */
  stream?: string
  emailId?: string
  /** Shown to people; longer texts are cut. */
  detail?: string
}

/**
 * Stores entries durably and resolves with how many were new. An address that is listed keeps its entry, unless that has
 * an end: the first reason counts, and a repetition after a crash changes nothing.
 */
export async function addSuppressions(
  deps: SuppressionDeps,
  observed: readonly ObservedSuppression[],
): Promise<number> {
  const now = deps.clock.now()
  const entries = observed.map(({ userId, email, reason, origin, stream = ALL_STREAMS, emailId, detail }) => ({
    ...{ user_id: userId, email: suppressionAddress(email), stream, reason, origin, created_at: now },
    ...(emailId !== undefined && { email_id: emailId }),
    ...(detail !== undefined && { detail: detail.slice(0, DETAIL_CHARS) }),
  }))
  const users = [...new Set(entries.map(({ user_id }) => user_id))]
  return changeWithEvents(deps, users, async session => {
    const { added } = await storeSuppressions(deps.db, entries, 'outlast', now, session)
    return { result: added.length, events: addedEvents(entries, added) }
  })
}
