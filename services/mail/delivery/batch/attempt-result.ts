/** What an attempt came to for one recipient, and what follows: built here, written by settle.ts. */

import { DAY_MS } from '../../../platform/durations.ts'
import { asSentence } from '../../../platform/sentences/compose.ts'
import { type Sentence, type StoredSentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { EventDoc } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import type { OutgoingMessage } from '../../store/outgoing.ts'
import { explained, explanationOf } from '../../store/rules/explanation.ts'
import { type Classification, classifyReply } from '../rules/classify-reply.ts'
import { afterAmbiguous, afterFailure, type NextStep } from '../rules/retry.ts'
import { type Reply, showReply } from '../rules/smtp-reply.ts'
import type { RecipientOutcome, Sent } from '../smtp/transport.ts'

/** An attempt that can be written down. */
export interface Result {
  delivery: ClaimedDelivery
  message: OutgoingMessage
  event: EventDoc
  /** Delivered, or what comes next. */
  next: { kind: 'delivered' } | NextStep | Withdrawn
  classification: Classification
  /** The next hop sends reports itself, as the recipient's NOTIFY asked. */
  reportsItself: boolean
  /** It is in its mailbox, not relayed to a next hop. */
  inMailbox?: true
}

/** The end of a recipient that was not to get the message any more: its account knows, and gets no report. */
export interface Withdrawn {
  kind: 'end'
  status: 'canceled' | 'suppressed'
  event: 'canceled' | 'suppressed'
}

/** What a result depends on besides the attempt. */
export interface ResultContext {
  now: Date
  /** A number from 0 to 1, another one for each call. */
  random(): number
  logDays: number
}

/** A failure that comes from ourselves or from DNS, without a conversation. */
export interface LocalFailure {
  classification: Classification
  code?: number
  enhanced?: string
  text: StoredSentence
}

/** The result of a transaction for one recipient; undefined when it was withheld, so that nothing is known or changed. */
export function resultOf(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  outcome: RecipientOutcome,
  sent: Sent,
  context: ResultContext,
): Result | undefined {
  if (outcome.kind === 'withheld') return undefined
  if (outcome.kind === 'unknown') {
    const text = sentence('delivery.outcome_unknown', { reason: outcome.error.sentence })
    return ambiguousResult(delivery, message, 'reply', text, context, sent)
  }
  const { classification, code, enhanced, text } = classify(outcome, delivery.site)
  return finish(
    delivery,
    message,
    { classification, text, ...(code && { code }), ...(enhanced && { enhanced }) },
    context,
    sent,
  )
}

/** The result of a failure before any conversation. */
export function localResult(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  failure: LocalFailure,
  context: ResultContext,
): Result {
  return finish(delivery, message, failure, context, undefined)
}

/** The end of a delivery whose lifetime was over while its site was down. */
export function expiredResult(delivery: ClaimedDelivery, message: OutgoingMessage, context: ResultContext): Result {
  const { lastAttempt: last } = delivery
  const text = last
    ? sentence('delivery.expired_after', { reason: asSentence(explanationOf(last)) })
    : sentence('delivery.expired_unreachable')
  const event = { ...eventOf(delivery, message, 'expired', text, context, undefined), enhanced: '4.4.7' }
  return withoutReply({ delivery, message, event, next: { kind: 'end', status: 'failed', event: 'expired' } })
}

/** The end of a delivery whose recipient was suppressed after the message was accepted. */
export function suppressedResult(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  reason: Sentence,
  context: ResultContext,
): Result {
  const event = eventOf(delivery, message, 'suppressed', reason, context, undefined)
  return withoutReply({ delivery, message, event, next: { kind: 'end', status: 'suppressed', event: 'suppressed' } })
}

/** The result of an attempt whose worker was gone before it recorded the outcome: the final dot may have gone out. */
export function unrecordedResult(delivery: ClaimedDelivery, message: OutgoingMessage, context: ResultContext): Result {
  return ambiguousResult(delivery, message, 'worker', sentence('delivery.worker_stopped'), context)
}

/** The result of an attempt that its worker wrote down before it was gone: only the rest of the settlement is missing. */
export function recordedResult(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  event: EventDoc,
  context: ResultContext,
): Result {
  const result = { delivery, message, event, next: afterRecorded(delivery, message, event, context) }
  if (event.type === 'delivered') return { ...result, classification: { outcome: 'delivered' }, reportsItself: true }
  const outcome = event.type === 'deferred' ? 'deferred' : 'bounced'
  // Only this kind has a consequence of its own: the address is suppressed.
  const kind = event.kind === 'address' ? 'address' : 'other'
  return { ...result, classification: { outcome, kind }, reportsItself: false }
}

function afterRecorded(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  { type, ambiguous, mx }: EventDoc,
  { now, random }: ResultContext,
): Result['next'] {
  if (type === 'delivered') return { kind: 'delivered' }
  if (type === 'bounced') return { kind: 'end', status: 'bounced', event: 'bounced' }
  if (type === 'canceled' || type === 'suppressed') return { kind: 'end', status: type, event: type }
  if (type !== 'deferred') return { kind: 'end', status: 'failed', event: type === 'expired' ? type : 'failed' }
  const history = historyOf(delivery, message)
  const next = ambiguous
    ? afterAmbiguous(mx ? 'reply' : 'worker', { ...history, ambiguous: history.ambiguous + 1 }, now, random())
    : afterFailure({ outcome: 'deferred', kind: 'other' }, history, now, random())
  // It was to be tried again; if it has expired by now, that attempt reports it.
  return next.kind === 'retry' ? next : { kind: 'retry', due: now }
}

function ambiguousResult(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  missing: 'reply' | 'worker',
  text: Sentence,
  context: ResultContext,
  sent?: Sent,
): Result {
  const history = { ...historyOf(delivery, message), ambiguous: delivery.ambiguousAttempts + 1 }
  const next = afterAmbiguous(missing, history, context.now, context.random())
  const event = { ...eventOf(delivery, message, typeOf(next), text, context, sent), ambiguous: true }
  return withoutReply({ delivery, message, event, next })
}

/** A result that no reply of a server decided: to the site it counts as a failure of the network. */
function withoutReply(known: Pick<Result, 'delivery' | 'message' | 'event' | 'next'>): Result {
  return { ...known, classification: { outcome: 'deferred', kind: 'network' }, reportsItself: false }
}

function finish(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  { classification, text, code, enhanced }: LocalFailure,
  context: ResultContext,
  sent: Sent | undefined,
): Result {
  const next =
    classification.outcome === 'delivered'
      ? { kind: 'delivered' as const }
      : afterFailure(
          classification,
          historyOf(delivery, message),
          context.now,
          context.random(),
          sent?.simulated?.retryMs,
        )
  const event: EventDoc = {
    ...eventOf(delivery, message, typeOf(next), text, context, sent),
    ...(code === undefined ? {} : { code }),
    ...(enhanced === undefined ? {} : { enhanced }),
    ...(classification.kind === undefined ? {} : { kind: classification.kind }),
  }
  const inMailbox = sent?.delivered ? { inMailbox: sent.delivered } : {}
  return { delivery, message, event, next, classification, reportsItself: sent?.dsn === true, ...inMailbox }
}

function typeOf(next: Result['next']): EventDoc['type'] {
  if (next.kind === 'delivered') return 'delivered'
  return next.kind === 'retry' ? 'deferred' : next.event
}

function historyOf(delivery: ClaimedDelivery, message: OutgoingMessage) {
  return {
    attempts: delivery.attempts + 1,
    ambiguous: delivery.ambiguousAttempts,
    expiresAt: delivery.expiresAt,
    policy: message.ambiguous,
  }
}

function eventOf(
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  type: EventDoc['type'],
  text: StoredSentence,
  { now, logDays }: ResultContext,
  sent: Sent | undefined,
): EventDoc {
  return {
    _id: eventId(delivery.id, delivery.attempts + 1),
    m: message._id,
    user_id: delivery.userId,
    rcpt: delivery.recipient,
    attempt: delivery.attempts + 1,
    type,
    at: now,
    ms: sent?.ms ?? 0,
    ...explained(text),
    ...(sent?.mx === undefined ? {} : { mx: sent.mx }),
    ...(sent?.ip === undefined ? {} : { ip: sent.ip }),
    ...(sent?.tls === undefined ? {} : { tls: sent.tls }),
    ...(sent ? { conversation: sent.conversation } : {}),
    exp: new Date(now.getTime() + logDays * DAY_MS),
  }
}

/** A reply by the table; anything that broke is tried again. */
function classify(
  outcome: Exclude<RecipientOutcome, { kind: 'withheld' | 'unknown' }>,
  site: string,
): { classification: Classification; code?: number | undefined; enhanced?: string | undefined; text: StoredSentence } {
  if (outcome.kind === 'error') {
    const kind = outcome.error.kind === 'tls' ? 'tls' : 'network'
    return { classification: { outcome: 'deferred', kind }, text: outcome.error.sentence }
  }
  const { reply } = outcome
  const classification: Classification =
    outcome.kind === 'unsupported' ? unsupported(reply) : classifyReply(reply, outcome.stage, site)
  const { code, enhanced = defaultStatus(reply), explanation } = reply
  const text = explanation
    ? sentence('delivery.own_reply', { status: `${code} ${enhanced}`, reason: explanation })
    : showReply(reply)
  return { classification, code, enhanced, text }
}

/** A message that does not fit the server, or that could not be made to fit just now. */
function unsupported({ code, enhanced }: Reply): Classification {
  if (code < 500) return { outcome: 'deferred', kind: 'signing' }
  return { outcome: 'bounced', kind: enhanced === '5.3.4' ? 'size' : 'unsupported' }
}

function defaultStatus({ code }: Reply): string {
  return `${Math.floor(code / 100)}.0.0`
}
