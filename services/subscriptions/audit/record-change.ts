/** Writes one change: the work, its audit entry and its events, in one transaction. */
import type { Session } from '../../platform/database/mongo.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Actor, AuditEvent, Subscriptions } from '../context.ts'
import { forgetCounters } from '../counters/running-counters.ts'
import { publishAuditEvent } from '../events/publish-event.ts'
import { markChanged } from '../store/nonces-and-idempotency.ts'
import { differences } from './rules/differences.ts'
import { insertAudit } from './store/audit-log.ts'

/**
 * Runs `work` in a transaction, together with the audit entry and the webhook events of the audit event that it
 * returns; without an event nothing is recorded. Throws `idempotency_in_progress` when a repeat has taken over the key
 * of this request.
 */
export async function record<T>(
  context: Subscriptions,
  actor: Actor,
  work: (session: Session) => Promise<{ result: T; event?: AuditEvent }>,
): Promise<T> {
  const id = await context.ids.next('audit')
  const done = await context.mongo.transaction(async session => {
    const { result, event } = await work(session)
    if (event) {
      const { requestId, ip, claim, ...who } = actor
      if (claim && !(await markChanged(context.collections, claim, session)))
        throw new ProblemError('idempotency_in_progress')
      const entry = {
        _id: id,
        app_key: event.appKey,
        actor: who,
        action: event.action,
        target: event.target,
        changes: differences(event.before, event.after),
        ...(event.reason ? { reason: event.reason } : {}),
        request_id: requestId,
        ip,
        at: context.clock.now(),
      }
      await insertAudit(context.collections, [entry], session)
      await publishAuditEvent(context, event, session)
    }
    return result
  })
  forgetCounters(context)
  return done
}
