/** Single entry point for SMTP and HTTP submissions: validates a message, stores it durably and returns the result. */
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import { inEnglish, sentence } from '../../platform/sentences/sentence.ts'
import { answerOfKey, toAccepted, waitForKeyHolder } from './idempotency.ts'
import { type Allowance, createQuota, type Quota, type Taken } from './quota.ts'
import type { NewMessage } from './store/message-documents.ts'
import type { Enqueue } from './store/store-accepted.ts'
import type { Accept, Accepted, Refused, Submission, Submitter } from './submission.ts'
import { refuse } from './validate-sender.ts'
import { LOOKUP_MS, type ValidationOptions, validateSubmission } from './validate-submission.ts'

/** Dependencies of {@link createAccept}. */
export interface AcceptOptions extends ValidationOptions {
  mongo: Mongo
  log: Log
  metrics: Pick<Metrics, 'accepted' | 'refused' | 'acceptSeconds'>
  enqueue: Enqueue
  /** Daily limit of an account's recipients, 0 = no limit; at most 5 s old. */
  recipientsPerDay(userId: string): Promise<number>
}

/** Accepts messages; made by {@link createAccept}. */
export interface Acceptance {
  accept: Accept
  /** Returns unused quota leases to the database. */
  stop(): Promise<void>
}

/** One per process. */
export function createAccept(options: AcceptOptions): Acceptance {
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
  options: AcceptOptions,
  quota: Quota,
  submission: Submission,
): Promise<Accepted | Refused> {
  const { mongo, enqueue } = options
  if (!mongo.isUp()) return refuse('queue_unavailable')
  const message = await validateSubmission(options, submission)
  if ('kind' in message) return message
  const earlier = message.idem && (await withTimeout(LOOKUP_MS, answerOfKey(mongo, message)))
  if (earlier) return earlier
  const putBack = await takeQuotas(options, quota, submission.submitter, message)
  if (typeof putBack !== 'function') return putBack
  const outcome = await enqueue(message)
  if (outcome.kind === 'stored') return toAccepted(message)
  putBack()
  if (outcome.kind === 'key_taken') return waitForKeyHolder(mongo, message)
  return refuse('queue_unavailable', outcome.reason)
}

/** Takes the message from the login's hour and its recipients from the account's day; from both or from none. */
async function takeQuotas(
  { clock, recipientsPerDay }: AcceptOptions,
  quota: Quota,
  { userId, via, messagesPerHour }: Submitter,
  message: NewMessage,
): Promise<(() => void) | Refused> {
  const hour = await takeFrom(quota, via.id, { limit: messagesPerHour, periodMs: HOUR_MS }, 1)
  if (hour?.kind === 'used_up') return refuse('quota_exceeded')
  try {
    const limit = message.test ? 0 : await withTimeout(LOOKUP_MS, recipientsPerDay(userId))
    const day = await takeFrom(quota, userId, { limit, periodMs: DAY_MS }, message.recipients.length)
    if (day?.kind !== 'used_up')
      return () => {
        hour?.putBack()
        day?.putBack()
      }
    hour?.putBack()
    return dayUsedUp(limit, day, clock.now())
  } catch (error) {
    hour?.putBack()
    throw error
  }
}

/** Undefined when there is no limit. What comes too late for the answer is put back. */
async function takeFrom(
  quota: Quota,
  holder: string | undefined,
  allowance: Allowance,
  amount: number,
): Promise<Taken | undefined> {
  if (allowance.limit === 0 || holder === undefined) return undefined
  const taking = quota.take(holder, allowance, amount)
  return withTimeout(LOOKUP_MS, taking).catch((error: unknown) => {
    taking.then(
      late => late.kind === 'taken' && late.putBack(),
      () => undefined,
    )
    throw error
  })
}

function dayUsedUp(limit: number, { left, endsAt }: Extract<Taken, { kind: 'used_up' }>, now: Date): Refused {
  const resetSeconds = Math.max(1, Math.ceil((endsAt.getTime() - now.getTime()) / 1000))
  const detail = sentence('detail.daily_limit', { limit, left })
  return { ...refuse('daily_quota_exceeded', detail), quota: { limit, left, resetSeconds } }
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
