/** Writes one change: the work, its audit entry and its events, in one transaction. */
import type { Session } from '../../platform/database/mongo.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Actor, Deed, Subscriptions } from '../context.ts'
import { forgetFigures } from '../counters/running-counters.ts'
import { markChanged } from '../store/nonces-and-idempotency.ts'
import { publishDeed } from '../webhooks/publish-event.ts'
import { differences } from './rules/differences.ts'
import { insertAudit } from './store/audit-log.ts'

/**
 * Runs `work` in a transaction together with the audit entry of the deed that it returns; undefined = nothing was done.
 * Throws `idempotency_in_progress` for a request that took so long that a repeat has taken over its key.
 */
export async function record<T>(
  s: Subscriptions,
  actor: Actor,
  work: (session: Session) => Promise<{ result: T; deed?: Deed }>,
): Promise<T> {
  const id = await s.ids.next('audit')
  const done = await s.mongo.transaction(async session => {
    const { result, deed } = await work(session)
    if (deed) {
      const { requestId, ip, claim, ...who } = actor
      if (claim && !(await markChanged(s.c, claim, session))) throw new ProblemError('idempotency_in_progress')
      const entry = {
        _id: id,
        app_key: deed.appKey,
        actor: who,
        action: deed.action,
        target: deed.target,
        changes: differences(deed.before, deed.after),
        ...(deed.reason ? { reason: deed.reason } : {}),
        request_id: requestId,
        ip,
        at: s.clock.now(),
      }
      await insertAudit(s.c, [entry], session)
      await publishDeed(s, deed, session)
    }
    return result
  })
  forgetFigures(s)
  return done
}
