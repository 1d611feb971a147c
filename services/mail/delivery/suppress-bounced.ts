/** Suppresses addresses that a receiving server says do not exist, so that their accounts send them nothing more. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import { isSimulated } from '../store/rules/simulation.ts'
import { addSuppressions } from '../suppressions/add-suppressions.ts'
import type { Result } from './batch/attempt-result.ts'

/** Dependencies of {@link createSuppress}. */
export interface SuppressOptions {
  db: Db
  clock: Clock
  metrics: Pick<Metrics, 'suppressionsAdded'>
}

/**
 * Makes the function that settlement calls with results. Only final failures of the address itself count: a full
 * mailbox, a policy or an unknown outcome says nothing about the next message. Rejects when the database is away;
 * called again with the same results it changes nothing.
 */
export function createSuppress({ db, clock, metrics }: SuppressOptions): (results: readonly Result[]) => Promise<void> {
  return async results => {
    const bounced = results.filter(isMissingAddress)
    if (bounced.length === 0) return
    const entries = bounced.map(({ delivery, message, event }) => ({
      userId: message.user_id,
      email: delivery.recipient,
      reason: 'hard_bounce' as const,
      origin: 'delivery' as const,
      emailId: message._id,
      detail: event.text,
    }))
    const added = await addSuppressions({ db, clock }, entries)
    if (added > 0) metrics.suppressionsAdded.inc({ reason: 'hard_bounce' }, added)
  }
}

/** An address of the simulator stays usable, so that the next test finds the same. */
function isMissingAddress({ delivery, message, next, classification, event }: Result): boolean {
  const isFinal = next.kind === 'end' && next.status === 'bounced' && event.ambiguous !== true
  return (
    isFinal && classification.kind === 'address' && message.via.channel !== 'system' && !isSimulated(delivery.recipient)
  )
}
