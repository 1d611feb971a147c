/**
 * Writes results down, in batches: the log first, then message and reports, then the queue. Each write may be
 * repeated, and what is still in the queue after a crash is found by the next claim, so the queue comes last. While the
 * database is away results wait in memory, and nothing new is claimed, so there are never more than fit in flight.
 */

import { abortableDelay } from '../../../platform/concurrency/abortable-delay.ts'
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { RefusalRecorder } from '../../domains/record-refusals.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import { type ClaimRef, type NextAttempt, recipientIndex } from '../../store/delivery.ts'
import { appendEvents } from '../../store/events.ts'
import type { Outbox, RecipientNote } from '../../store/outgoing.ts'
import { complains, isSimulated } from '../../store/rules/simulation.ts'
import type { Result } from './attempt-result.ts'
import { type NoteMetrics, noteAuthentication } from './note-authentication.ts'

/** Writes one result; resolves when it is durable. Rejects only after `signal` aborts. */
export type Settle = (result: Result) => Promise<void>

/** Dependencies of {@link createSettle}. */
export interface SettleOptions {
  mongo: Mongo
  queue: DeliveryQueue
  outbox: Outbox
  log: Log
  metrics: Pick<Metrics, 'attempts' | 'attemptSeconds' | 'queueSeconds' | 'fenced' | 'ambiguous' | 'mongoSeconds'> &
    NoteMetrics
  refusals: Pick<RefusalRecorder, 'refused' | 'delivered'>
  /** Sends the reports that these final results ask for; called before they leave the queue. */
  report(results: readonly Result[]): Promise<void>
  /** Suppresses the addresses that do not exist, as these results show; called before they leave the queue. */
  suppress(results: readonly Result[]): Promise<void>
  /** Queues the events of these results for webhooks; called before the results leave the queue. Default: none. */
  queueEvents?(results: readonly Result[]): Promise<void>
  /** Records a complaint for each of these results; called once they are noted, with recipients of the simulator. Default: none. */
  complain?(results: readonly Result[]): Promise<void>
  /** Ends the attempts to reach a database that is away. */
  signal: AbortSignal
}

/** Results wait a moment for company: a batch costs four commands, whatever its size. */
const BATCH = { most: 200, mostBytes: 16 * 1024 * 1024, flights: 1, gatherMs: 40 }
/** A complaint costs several commands, so these results are written apart: no other result waits for them. */
const COMPLAINING = { ...BATCH, most: 20 }
const AGAIN_MS = 250

/** Makes the settle function of a worker. */
export function createSettle(options: SettleOptions): Settle {
  const { mongo, queue, outbox, log, metrics, signal } = options

  const write = async (results: readonly Result[], repeated: boolean, complain?: SettleOptions['complain']) => {
    const started = performance.now()
    await appendEvents(
      mongo,
      results.map(({ event }) => event),
    )
    await Promise.all([
      options.report(results),
      options.suppress(results),
      options.queueEvents?.(results),
      outbox.note(results.map(toNote), results[0]?.event.at ?? new Date()),
    ])
    await complain?.(results)
    const final = results.filter(({ next }) => next.kind !== 'retry')
    const [removed, moved] = await Promise.all([
      queue.remove(final.map(({ delivery }) => delivery)),
      queue.reschedule(results.flatMap(toNextAttempt)),
    ])
    metrics.mongoSeconds.observe({ collection: 'settle' }, (performance.now() - started) / 1000)
    const fenced = results.length - removed - moved
    if (fenced === 0) return
    // In a repetition these may also be the ones that the write before took care of.
    if (!repeated) {
      metrics.fenced.inc(fenced)
      log.warn({ results: fenced }, 'results came after their claim had ended')
    }
    // A 250 counts whichever worker owns the slot now: without this the recipient would get the message again.
    await queue.removeDelivered(
      final.filter(({ next }) => next.kind === 'delivered').map(({ delivery }) => delivery.id),
    )
  }

  const committer = (batch: typeof BATCH, complain?: SettleOptions['complain']) =>
    createGroupCommit<Result, true>({
      ...batch,
      sizeOf: ({ event }) => 500 + (event.conversation?.length ?? 0),
      async write(results) {
        for (let tries = 0; ; tries++) {
          try {
            await write(results, tries > 0, complain)
            return results.map(() => true as const)
          } catch (error) {
            log.warn({ err: error, results: results.length }, 'results not written; trying again')
            if (signal.aborted) throw error
            await abortableDelay(AGAIN_MS, signal)
          }
        }
      },
    })
  const commit = committer(BATCH)
  const commitComplaining = committer(COMPLAINING, options.complain)

  return async result => {
    await (isComplaining(result) ? commitComplaining : commit)(result)
    observe(result, log, metrics)
    noteAuthentication(result, options.refusals, metrics)
  }
}

function isComplaining({ delivery, message, next }: Result): boolean {
  return next.kind === 'delivered' && complains(message.rcpts, recipientIndex(delivery.id))
}

function toNextAttempt({ delivery, event, next }: Result): { held: ClaimRef; next: NextAttempt }[] {
  if (next.kind !== 'retry') return []
  const { code, enhanced, text, explanation, mx, at } = event
  const codes = { ...(code && { code }), ...(enhanced && { enhanced }) }
  const lastAttempt = { text, at, ...(explanation && { explanation }), ...codes, ...(mx && { mx }) }
  const ambiguous = event.ambiguous ? { ambiguousAttempts: delivery.ambiguousAttempts + 1 } : {}
  return [{ held: delivery, next: { due: next.due, attempts: event.attempt, lastAttempt, ...ambiguous } }]
}

function toNote({ delivery, message, event, next }: Result): RecipientNote {
  const n = recipientIndex(delivery.id)
  const status = next.kind === 'delivered' ? 'delivered' : next.kind === 'retry' ? 'deferred' : next.status
  return {
    messageId: message._id,
    n,
    status,
    final: next.kind !== 'retry',
    code: event.code,
    enhanced: event.enhanced,
    kind: event.kind,
    only: message.rcpts.length === 1,
  }
}

function observe(
  { delivery, message, event, next, classification }: Result,
  log: Log,
  metrics: SettleOptions['metrics'],
): void {
  const isFailure = next.kind === 'end' && next.status !== 'suppressed'
  const outcome = event.ambiguous ? 'ambiguous' : isFailure ? 'bounced' : event.type
  // What alerts are about is real mail.
  if (!isSimulated(delivery.recipient)) {
    metrics.attempts.inc({ outcome })
    metrics.attemptSeconds.observe({ outcome }, event.ms / 1000)
    if (event.ambiguous) metrics.ambiguous.inc()
    if (next.kind !== 'retry') metrics.queueSeconds.observe((event.at.getTime() - message.created_at.getTime()) / 1000)
  }
  log.info(
    {
      m: message._id,
      delivery: delivery.id,
      attempt: event.attempt,
      outcome: event.type,
      ...(classification.kind && { kind: classification.kind }),
      ...(event.ambiguous && { ambiguous: true }),
      site: delivery.site,
      code: event.code,
      ms: event.ms,
    },
    'attempt',
  )
}
