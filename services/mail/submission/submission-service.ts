/** Opens the one door of a process: what SMTP and HTTP submission share, joined to the database. */
import { createAccounts } from '../../accounts/account-status.ts'
import type { Foundation } from '../../platform/process/run.ts'
import { createSenderDomains } from '../domains/store/domains.ts'
import { wakeOf } from '../store/wake.ts'
import { createAccept, type Door } from './accept.ts'
import { createOpenRest } from './stage-large-message.ts'
import { createStaging } from './store/staged-body.ts'
import { createEnqueue } from './store/store-accepted.ts'
import type { OpenRest, Refused, Submitter } from './submission.ts'
import { judgeEnvelopeSender } from './validate-sender.ts'

/** The door, the way in for what is too large to be held, and the judgement of a sender alone for early answers. */
export interface OpenDoor extends Door {
  openRest: OpenRest
  /** Why this login may not send as `address`, or undefined when it may. */
  judgeSender(submitter: Submitter, address: string): Promise<Refused | undefined>
}

/** Opens the door. `slots` is the number of slots of this database. */
export function openDoor(foundation: Omit<Foundation, 'secrets'>, slots: number): OpenDoor {
  const { config, log, metrics, mongo, clock } = foundation
  const findSenderDomain = createSenderDomains(mongo.db, clock, {
    requireVerified: config.SEND_REQUIRES_VERIFIED,
    capture: config.DELIVERY_MODE === 'capture',
  })
  const wake = wakeOf(mongo)
  const enqueue = createEnqueue({
    mongo,
    log,
    metrics,
    slots,
    relay: config.DELIVERY_MODE === 'relay',
    bodyDays: config.RETENTION_BODY_DAYS,
    logDays: config.RETENTION_LOG_DAYS,
    wake: (slots, flows) => wake.ring(slots, flows),
  })
  const { isSuspended, active } = createAccounts(mongo.db, clock)
  const recipientsPerDay = async (userId: string) => (await active(userId))?.recipientsPerDay ?? 0
  const rules = { findSenderDomain, isSuspended, recipientsPerDay }
  const door = createAccept({ mongo, config, clock, log, metrics, enqueue, ...rules })
  const stageBody = createStaging({ mongo, clock, bodyDays: config.RETENTION_BODY_DAYS })
  return {
    ...door,
    openRest: createOpenRest({ clock, stageBody }),
    async judgeSender(submitter, address) {
      const judged = await judgeEnvelopeSender(findSenderDomain, submitter, address)
      return judged.kind === 'refused' ? judged : undefined
    },
  }
}
