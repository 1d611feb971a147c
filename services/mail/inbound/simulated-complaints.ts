/** Complaints of recipients at the simulator: recorded as a report that comes in, but without a mail. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Result } from '../delivery/batch/attempt-result.ts'
import { recipientIndex } from '../store/delivery.ts'
import { recordReport } from './record-report.ts'

/** In place of the id of the incoming message. */
const SIMULATED = 'simulated'

/**
 * Makes the function that settlement calls with results of recipients that complain, once they are noted. Repeating it
 * changes nothing; rejects when the database is away. Addresses of the simulator are not suppressed, so that they can be
 * used again.
 */
export function createSimulatedComplaints(deps: {
  mongo: Mongo
  clock: Clock
  logDays: number
}): (results: readonly Pick<Result, 'delivery'>[]) => Promise<void> {
  const nothing = async () => undefined
  const record = { ...deps, reportToSender: nothing, suppress: nothing, noteRefusal: () => undefined }
  const complain = async ({ delivery: { id, messageId } }: Pick<Result, 'delivery'>) => {
    const ref = { messageId, recipient: recipientIndex(id), inboundId: SIMULATED }
    await recordReport(record, ref, { kind: 'complained', type: 'abuse', userAgent: 'Postwright simulator' })
  }
  return async results => void (await Promise.all(results.map(complain)))
}
