/** What an attempt came to for one recipient, and what follows: built here, written by settle.ts. */

import type { Claimed } from '../store/deliveries.ts'
import type { EventDoc } from '../store/documents.ts'
import { eventId } from '../store/events.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { type Judged, judgeReply } from './rules/outcome.ts'
import { afterAmbiguous, afterFailure, type NextStep } from './rules/retry.ts'
import { type Reply, showReply } from './rules/smtp-reply.ts'
import type { RecipientOutcome } from './smtp/transaction.ts'
import type { Sent } from './smtp/transport.ts'

/** An attempt that can be written down. */
export interface Result {
  delivery: Claimed
  message: OutgoingMessage
  event: EventDoc
  /** Delivered, or what comes next. */
  next: { kind: 'delivered' } | NextStep | Withdrawn
  judged: Judged
  /** The next hop sends reports itself, as the recipient's NOTIFY asked. */
  reportsItself: boolean
  /** It is in its mailbox, not handed to a next hop. */
  inMailbox?: true
}

/** The end of a recipient that was not to get the message any more. */
interface Withdrawn {
  kind: 'end'
  status: 'canceled'
  event: 'canceled'
}

/** What results need from the world. */
export interface ResultWorld {
  now: Date
  /** A number from 0 to 1, drawn anew for each call. */
  random(): number
  logDays: number
}

/** A failure that comes from ourselves or from DNS, without a conversation. */
export interface LocalFailure {
  judged: Judged
  code?: number
  enhanced?: string
  text: string
}

const DAY_MS = 86_400_000

/** The result of a transaction for one recipient; undefined when it was withheld, so that nothing is known or changed. */
export function resultOf(
  delivery: Claimed,
  message: OutgoingMessage,
  outcome: RecipientOutcome,
  sent: Sent,
  world: ResultWorld,
): Result | undefined {
  if (outcome.kind === 'withheld') return undefined
  if (outcome.kind === 'unknown') {
    const text = `the outcome is not known: the final dot went out, then ${outcome.error.message}`
    return ambiguousResult(delivery, message, 'reply', text, world, sent)
  }
  const { judged, code, enhanced, text } = judge(outcome, delivery.site)
  return finish(delivery, message, { judged, text, ...(code && { code }), ...(enhanced && { enhanced }) }, world, sent)
}

/** The result of a failure before any conversation. */
export function localResult(
  delivery: Claimed,
  message: OutgoingMessage,
  failure: LocalFailure,
  world: ResultWorld,
): Result {
  return finish(delivery, message, failure, world, undefined)
}

/** The end of a delivery whose lifetime was over while its site was down. */
export function expiredResult(delivery: Claimed, message: OutgoingMessage, world: ResultWorld): Result {
  const { last } = delivery
  const text = `its time was over while its destination could not be reached${last ? `; the last attempt: ${last.text}` : ''}`
  const event = { ...eventOf(delivery, message, 'expired', text, world, undefined), enhanced: '4.4.7' }
  const next = { kind: 'end', status: 'failed', event: 'expired' } as const
  return { delivery, message, event, next, judged: { outcome: 'deferred', kind: 'network' }, reportsItself: false }
}

/** The result of an attempt whose worker was gone before it noted the outcome: the final dot may have gone out. */
export function unnotedResult(delivery: Claimed, message: OutgoingMessage, world: ResultWorld): Result {
  const text = 'the outcome is not known: the worker stopped between its mark for the final dot and the reply'
  return ambiguousResult(delivery, message, 'worker', text, world)
}

/** The result of an attempt that its worker wrote down before it was gone: only the rest of the settlement is missing. */
export function recordedResult(
  delivery: Claimed,
  message: OutgoingMessage,
  event: EventDoc,
  world: ResultWorld,
): Result {
  const result = { delivery, message, event, next: afterRecorded(delivery, message, event, world) }
  if (event.type === 'delivered') return { ...result, judged: { outcome: 'delivered' }, reportsItself: true }
  const outcome = event.type === 'deferred' ? 'deferred' : 'bounced'
  return { ...result, judged: { outcome, kind: 'other' }, reportsItself: false }
}

function afterRecorded(
  delivery: Claimed,
  message: OutgoingMessage,
  { type, ambiguous, mx }: EventDoc,
  { now, random }: ResultWorld,
): Result['next'] {
  if (type === 'delivered') return { kind: 'delivered' }
  if (type === 'bounced') return { kind: 'end', status: 'bounced', event: 'bounced' }
  if (type === 'canceled') return { kind: 'end', status: type, event: type }
  if (type !== 'deferred') return { kind: 'end', status: 'failed', event: type }
  const history = historyOf(delivery, message)
  const next = ambiguous
    ? afterAmbiguous(mx ? 'reply' : 'worker', { ...history, ambiguous: history.ambiguous + 1 }, now, random())
    : afterFailure({ outcome: 'deferred', kind: 'other' }, history, now, random())
  // It was to be tried again; should its time be over by now, that attempt will say so.
  return next.kind === 'retry' ? next : { kind: 'retry', due: now }
}

function ambiguousResult(
  delivery: Claimed,
  message: OutgoingMessage,
  missing: 'reply' | 'worker',
  text: string,
  world: ResultWorld,
  sent?: Sent,
): Result {
  const history = { ...historyOf(delivery, message), ambiguous: (delivery.amb ?? 0) + 1 }
  const next = afterAmbiguous(missing, history, world.now, world.random())
  const event = { ...eventOf(delivery, message, typeOf(next), text, world, sent), ambiguous: true }
  return { delivery, message, event, next, judged: { outcome: 'deferred', kind: 'network' }, reportsItself: false }
}

function finish(
  delivery: Claimed,
  message: OutgoingMessage,
  { judged, text, code, enhanced }: LocalFailure,
  world: ResultWorld,
  sent: Sent | undefined,
): Result {
  const next =
    judged.outcome === 'delivered'
      ? { kind: 'delivered' as const }
      : afterFailure(judged, historyOf(delivery, message), world.now, world.random())
  const event: EventDoc = {
    ...eventOf(delivery, message, typeOf(next), text, world, sent),
    ...(code === undefined ? {} : { code }),
    ...(enhanced === undefined ? {} : { enhanced }),
  }
  const inMailbox = sent?.delivered ? { inMailbox: sent.delivered } : {}
  return { delivery, message, event, next, judged, reportsItself: sent?.dsn === true, ...inMailbox }
}

function typeOf(next: Result['next']): EventDoc['type'] {
  if (next.kind === 'delivered') return 'delivered'
  return next.kind === 'retry' ? 'deferred' : next.event
}

function historyOf(delivery: Claimed, message: OutgoingMessage) {
  return {
    attempts: delivery.att + 1,
    ambiguous: delivery.amb ?? 0,
    expiresAt: delivery.expires_at,
    policy: message.ambiguous,
  }
}

function eventOf(
  delivery: Claimed,
  message: OutgoingMessage,
  type: EventDoc['type'],
  text: string,
  { now, logDays }: ResultWorld,
  sent: Sent | undefined,
): EventDoc {
  return {
    _id: eventId(delivery._id, delivery.att + 1),
    m: message._id,
    user_id: delivery.user_id,
    rcpt: delivery.rcpt,
    attempt: delivery.att + 1,
    type,
    at: now,
    ms: sent?.ms ?? 0,
    text,
    ...(sent?.mx === undefined ? {} : { mx: sent.mx }),
    ...(sent?.ip === undefined ? {} : { ip: sent.ip }),
    ...(sent?.tls === undefined ? {} : { tls: sent.tls }),
    ...(sent ? { conversation: sent.conversation } : {}),
    exp: new Date(now.getTime() + logDays * DAY_MS),
  }
}

/** A reply by the table; anything that broke is tried again. */
function judge(
  outcome: Exclude<RecipientOutcome, { kind: 'withheld' | 'unknown' }>,
  site: string,
): { judged: Judged; code?: number | undefined; enhanced?: string | undefined; text: string } {
  if (outcome.kind === 'error') {
    const kind = outcome.error.kind === 'tls' ? 'tls' : 'network'
    return { judged: { outcome: 'deferred', kind }, text: outcome.error.message }
  }
  const { reply } = outcome
  const judged: Judged = outcome.kind === 'unsupported' ? unsupported(reply) : judgeReply(reply, outcome.stage, site)
  return { judged, code: reply.code, enhanced: reply.enhanced ?? defaultStatus(reply), text: showReply(reply) }
}

/** A message that does not fit the server, or that could not be made to fit just now. */
function unsupported({ code, enhanced }: Reply): Judged {
  if (code < 500) return { outcome: 'deferred', kind: 'signing' }
  return { outcome: 'bounced', kind: enhanced === '5.3.4' ? 'size' : 'unsupported' }
}

function defaultStatus({ code }: Reply): string {
  return `${Math.floor(code / 100)}.0.0`
}
