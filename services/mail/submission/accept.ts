/** Single entry point for SMTP and HTTP submissions: validates a message, stores it durably and returns the result. */
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import { inEnglish, sentence } from '../../platform/sentences/sentence.ts'
import type { FindLimits } from '../limits/find-limits.ts'
import { createQuota, type Quota } from '../limits/quota.ts'
import type { DefaultLimits } from '../limits/rules/sending-limit.ts'
import { cellsOf } from '../store/cells.ts'
import { answerOfKey, toAccepted, waitForKeyHolder } from './idempotency.ts'
import { type NewMessage, recipientsToSend } from './store/message-documents.ts'
import type { Enqueue } from './store/store-accepted.ts'
import type { Accept, Accepted, Refused, Submission } from './submission.ts'
import { takeQuotas } from './take-quotas.ts'
import { refuse } from './validate-sender.ts'
import { LOOKUP_MS, type ValidationOptions, validateSubmission } from './validate-submission.ts'

/** Dependencies of {@link createAccept}. */
export interface AcceptOptions extends Omit<ValidationOptions, 'cells'> {
  mongo: Mongo
  log: Log
  metrics: Pick<Metrics, 'accepted' | 'refused' | 'acceptSeconds'>
  enqueue: Enqueue
  /** Daily limit of an account's recipients, 0 = no limit; at most 5 s old. */
  recipientsPerDay(userId: string): Promise<number>
  /** Limits of the account, its logins and domains. */
  findLimits: FindLimits
  defaultLimits: DefaultLimits
}

/** Accepts messages; made by {@link createAccept}. */
export interface Acceptance {
  accept: Accept
  /** Returns unused quota leases to the database. */
  stop(): Promise<void>
}

/** One per process. */
export function createAccept(given: AcceptOptions): Acceptance {
  const options = { ...given, cells: cellsOf(given.mongo.db) }
  const quota = createQuota(options)
  return {
    async accept(submission) {
      const started = performance.now()
      const answer = await acceptDurably(options, quota, submission).catch((error: unknown) => {
        options.log.warn({ err: error }, 'message not validated; it was refused for now')
        return refuse('queue_unavailable')
      })
      record(options, submission, answer, (performance.now() - started) / 1000)
      discardRest(submission, answer)
      return answer
    },
    stop: () => quota.stop(),
  }
}

/**
 * Removes the stored parts of a message that was not accepted, or was accepted before under its key. Where the outcome is
 * not known the message may exist, and the parts are left to the sweep of those without a message.
 */
function discardRest({ rest }: Submission, answer: Accepted | Refused): void {
  const isNamed = answer.kind === 'accepted' ? answer.id === rest?.id : answer.code === 'queue_unavailable'
  if (rest && !isNamed) void rest.discard()
}

async function acceptDurably(
  options: AcceptOptions & Pick<ValidationOptions, 'cells'>,
  quota: Quota,
  submission: Submission,
): Promise<Accepted | Refused> {
  const { mongo, enqueue } = options
  if (!mongo.isUp()) return refuse('queue_unavailable')
  const message = await validateSubmission(options, submission)
  if ('kind' in message) return message
  const earlier = message.idem && (await withTimeout(LOOKUP_MS, answerOfKey(mongo, message)))
  if (earlier) return earlier
  const suppressed = findAllSuppressed(message)
  if (suppressed) return suppressed
  const putBack = await takeQuotas({ ...options, quota }, submission.submitter, message)
  if (typeof putBack !== 'function') return putBack
  const outcome = await enqueue(message)
  if (outcome.kind === 'stored') return toAccepted(message)
  putBack()
  if (outcome.kind === 'key_taken') return waitForKeyHolder(mongo, message)
  return refuse('queue_unavailable', outcome.reason)
}

/** The refusal of a message that would go to nobody; undefined when at least one recipient gets it. */
function findAllSuppressed(message: NewMessage): Refused | undefined {
  const [first] = message.recipients
  if (!first?.suppressed || recipientsToSend(message) > 0) return undefined
  const { email, suppressed: reason } = first
  return refuse(
    'all_recipients_suppressed',
    sentence('detail.all_suppressed', { count: message.recipients.length, address: email, reason }),
  )
}

/** One line and one count for each answer. */
function record(options: AcceptOptions, submission: Submission, answer: Accepted | Refused, seconds: number): void {
  const { log, metrics } = options
  const { submitter, received, raw, rest } = submission
  const { channel, id: login } = submitter.via
  const client = { ip: received.ip, helo: received.from.slice(0, 255) }
  const bytes = raw.length + (rest?.size ?? 0)
  const line = { user: submitter.userId, login, channel, ...client, bytes, ms: Math.round(seconds * 1000) }
  if (answer.kind === 'refused') {
    metrics.refused.inc({ channel, code: answer.code })
    log.info({ ...line, code: answer.code, reason: inEnglish(answer.detail) }, 'message refused')
    return
  }
  metrics.accepted.inc({ channel })
  metrics.acceptSeconds.observe({ channel }, seconds)
  const { id, recipients, replayed } = answer
  log.info({ ...line, id, recipients: recipients.length, replayed }, 'message accepted')
}
