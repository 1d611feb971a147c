/** The submission service of a process: what SMTP and HTTP submission share, connected to the database. */
import { createAccounts } from '../../accounts/account-status.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { createSenderDomains } from '../domains/store/domains.ts'
import { createFindLimits, defaultLimits } from '../limits/find-limits.ts'
import { cellsOf } from '../store/cells.ts'
import { wakeOf } from '../store/wake.ts'
import { createFindSuppressed, shareQueries } from '../suppressions/find-suppressed.ts'
import { acceptedEvents } from '../webhooks/message-events.ts'
import { mailWebhooksOf } from '../webhooks/queue-mail-events.ts'
import { type Acceptance, createAccept } from './accept.ts'
import { createOpenRest } from './stage-large-message.ts'
import { createStaging } from './store/staged-body.ts'
import { createEnqueue } from './store/store-accepted.ts'
import type { OpenRest, Refused, Submission, Submitter } from './submission.ts'
import { findTrackError, validateEnvelopeSender } from './validate-sender.ts'

/** Accepts messages, stores what is too large to be held while it comes in, and validates senders alone for early answers. */
export interface SubmissionService extends Acceptance {
  openRest: OpenRest
  /** Why this login may not send as `address`, or not track that, or undefined when it may. */
  validateSender(submitter: Submitter, address: string, track?: Submission['track']): Promise<Refused | undefined>
}

/** `slots` is the number of slots of a cell of this database. */
export function createSubmissionService(foundation: Omit<Foundation, 'secrets'>, slots: number): SubmissionService {
  const { config, log, metrics, mongo, clock } = foundation
  const findSenderDomain = createSenderDomains(mongo.db, clock, {
    requireVerified: config.SEND_REQUIRES_VERIFIED,
    capture: config.DELIVERY_MODE === 'capture',
  })
  const wake = wakeOf(mongo)
  const webhooks = mailWebhooksOf({ mongo, clock })
  const enqueue = createEnqueue({
    mongo,
    log,
    metrics,
    slots,
    relay: config.DELIVERY_MODE === 'relay',
    bodyDays: config.RETENTION_BODY_DAYS,
    logDays: config.RETENTION_LOG_DAYS,
    wake: (slots, flows) => wake.ring(slots, flows),
    webhookEvents: writes => acceptedEvents(webhooks, writes),
  })
  const { isSuspended, active } = createAccounts(mongo.db, clock)
  const recipientsPerDay = async (userId: string) => (await active(userId))?.recipientsPerDay ?? 0
  const findSuppressed = shareQueries(createFindSuppressed(mongo.db, clock))
  const limits = { findLimits: createFindLimits(mongo.db, clock), defaultLimits: defaultLimits(config) }
  const rules = { findSenderDomain, isSuspended, findSuppressed, recipientsPerDay, ...limits }
  const acceptance = createAccept({ mongo, config, clock, log, metrics, enqueue, ...rules })
  const stageBody = createStaging({ mongo, clock, bodyDays: config.RETENTION_BODY_DAYS })
  return {
    ...acceptance,
    openRest: createOpenRest({ clock, cells: cellsOf(mongo.db), stageBody }),
    async validateSender(submitter, address, track) {
      const result = await validateEnvelopeSender(findSenderDomain, submitter, address)
      return result.kind === 'refused' ? result : findTrackError(result, track)
    },
  }
}
