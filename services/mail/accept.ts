/** The one door for SMTP and HTTP: judges a message, stores it durably, answers. */
import { within } from '../platform/deadline.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Mongo } from '../platform/mongo.ts'
import { answerOfKey, toAccepted, waitForKeyHolder } from './idempotency.ts'
import { type JudgeOptions, judge, LOOKUP_MS } from './judge.ts'
import { refuse } from './judge-sender.ts'
import { createQuota, type Quota } from './quota.ts'
import type { Enqueue } from './store/enqueue.ts'
import type { Accept, Accepted, Refused, Submission, Submitter } from './submission.ts'

/** What the door needs. */
export interface AcceptOptions extends JudgeOptions {
  mongo: Mongo
  log: Log
  metrics: Pick<Metrics, 'accepted' | 'refused' | 'acceptSeconds'>
  enqueue: Enqueue
}

/** The door, and its end: what it leased for later messages is given back. */
export interface Door {
  accept: Accept
  stop(): Promise<void>
}

/** Makes the door of one process. */
export function createAccept(options: AcceptOptions): Door {
  const quota = createQuota(options.mongo, options.clock)
  return {
    async accept(submission) {
      const started = performance.now()
      const answer = await pass(options, quota, submission).catch((error: unknown) => {
        options.log.warn({ err: error }, 'message not judged; it was refused for now')
        return refuse('queue_unavailable')
      })
      record(options, submission, answer, (performance.now() - started) / 1000)
      return answer
    },
    stop: () => quota.stop(),
  }
}

async function pass(options: AcceptOptions, quota: Quota, submission: Submission): Promise<Accepted | Refused> {
  const { mongo, enqueue } = options
  if (!mongo.isUp()) return refuse('queue_unavailable')
  const message = await judge(options, submission)
  if ('kind' in message) return message
  const earlier = message.idem && (await within(LOOKUP_MS, answerOfKey(mongo, message)))
  if (earlier) return earlier
  const putBack = await takeQuota(quota, submission.submitter)
  if (!putBack) return refuse('quota_exceeded')
  const outcome = await enqueue(message)
  if (outcome.kind === 'stored') return toAccepted(message)
  putBack()
  if (outcome.kind === 'key_taken') return waitForKeyHolder(mongo, message)
  return refuse('queue_unavailable', `Try again later: ${outcome.reason}.`)
}

async function takeQuota(quota: Quota, { via, messagesPerHour }: Submitter): Promise<(() => void) | undefined> {
  if (messagesPerHour === 0 || via.id === undefined) return () => undefined
  return within(LOOKUP_MS, quota.take(via.id, messagesPerHour))
}

/** One line and one count for each answer. */
function record(options: AcceptOptions, submission: Submission, answer: Accepted | Refused, seconds: number): void {
  const { log, metrics } = options
  const { userId, via } = submission.submitter
  const { channel, id: login } = via
  const line = { user: userId, login, channel, bytes: submission.raw.length, ms: Math.round(seconds * 1000) }
  if (answer.kind === 'refused') {
    metrics.refused.inc({ channel, code: answer.code })
    log.info({ ...line, code: answer.code, reason: answer.detail }, 'message refused')
    return
  }
  metrics.accepted.inc({ channel })
  metrics.acceptSeconds.observe({ channel }, seconds)
  const { id, recipients, replayed } = answer
  log.info({ ...line, id, recipients: recipients.length, replayed }, 'message accepted')
}
