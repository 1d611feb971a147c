/**
 * What became of one recipient, why, who can change it, and what to do next. Everything follows from the log: the same
 * documents give the same answer.
 */
import { asSentence } from '../../../platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { classifyReply } from '../../delivery/rules/classify-reply.ts'
import type { FailureKind } from '../../delivery/rules/failure-kinds.ts'
import { parseReply } from '../../delivery/rules/smtp-reply.ts'
import { domainOf } from '../../message/address.ts'
import { siteOf } from '../../store/rules/assign-slot.ts'
import type { RecipientStatus } from '../../store/rules/email-status.ts'
import { type Explained, explanationOf } from '../../store/rules/explanation.ts'
import { adviceOn } from './attempt-advice.ts'
import { KIND_EXPLANATIONS, type Responsible } from './kind-explanations.ts'

/** A hold as an explanation names it. */
export interface HoldFacts {
  by: string
  reason: string
}

/** An entry of the log, as an explanation reads it. */
export interface LogEntry extends Explained {
  _id: string
  rcpt: string
  /** 0: a report. */
  attempt: number
  type: string
  kind?: string | undefined
  at: Date
  mx?: string | undefined
  code?: number | undefined
  enhanced?: string | undefined
  ambiguous?: boolean | undefined
}

/** What is known of a recipient. */
export interface RecipientFacts {
  message: { scheduled_at?: Date | undefined; created_at: Date; expires_at: Date }
  recipient: { status: RecipientStatus; at?: Date | undefined }
  /** Attempts and reports of this recipient, oldest first. */
  events: readonly LogEntry[]
  /** Attempts so far and time of the next one; absent once the recipient is final. */
  waiting?: { att: number; due: Date } | undefined
  hold?: HoldFacts | undefined
}

/** The answer for one recipient. */
export interface Explanation {
  /** What happened. */
  what: Sentence
  /** Absent where the reason is that nothing went wrong yet, or a wish of the account. */
  why?: Sentence | undefined
  responsible: Responsible
  next: Sentence
  /** Class of the failure; absent without one. */
  kind?: FailureKind | undefined
  /** The attempt or report that decided; absent without one. */
  decisive?: LogEntry | undefined
}

/** Explains one recipient. */
export function explainRecipient(facts: RecipientFacts): Explanation {
  const { recipient, hold } = facts
  const decisive = decisiveEvent(facts)
  if (hold) return { what: sentence('explain.held', held(hold)), responsible: 'account', next: RELEASE, decisive }
  switch (recipient.status) {
    case 'queued':
    case 'scheduled':
      return { what: waitingFor(facts), responsible: 'none', next: sentence('explain.do_nothing') }
    case 'delivered':
      return { ...accepted(facts, decisive), responsible: 'none', next: sentence('explain.do_nothing'), decisive }
    case 'suppressed':
      return suppressed(decisive)
    case 'canceled':
      return ended(sentence('explain.canceled'), 'account', sentence('explain.do_send_again'), decisive)
    case 'complained':
      return ended(sentence('explain.complained'), 'recipient', sentence('explain.do_respect'), decisive)
    case 'deferred':
    case 'bounced':
    case 'failed':
      return failed(facts, decisive)
  }
}

const RELEASE = sentence('explain.do_release')

function held({ by, reason }: HoldFacts) {
  return { by, reason: asSentence(reason) }
}

function ended(what: Sentence, responsible: Responsible, next: Sentence, decisive: LogEntry | undefined): Explanation {
  return { what, responsible, next, decisive }
}

function waitingFor({ message, recipient }: RecipientFacts): Sentence {
  const at = message.scheduled_at
  return at && recipient.status === 'scheduled'
    ? sentence('explain.scheduled', { at: shownTime(at) })
    : sentence('explain.queued')
}

function accepted({ recipient, message }: RecipientFacts, event: LogEntry | undefined) {
  const at = shownTime(event?.at ?? recipient.at ?? message.created_at)
  const what = event?.mx
    ? sentence('explain.delivered', { host: event.mx, at })
    : sentence('explain.delivered_somewhere', { at })
  return { what, why: sentence('explain.why_accepted') }
}

function suppressed(event: LogEntry | undefined): Explanation {
  const why = event?.explanation
  return {
    ...ended(sentence('explain.suppressed'), 'recipient', sentence('explain.do_remove_suppression'), event),
    why,
  }
}

function failed(facts: RecipientFacts, event: LogEntry | undefined): Explanation {
  const { recipient } = facts
  const isWaiting = recipient.status === 'deferred'
  const what = isWaiting ? deferredWhat(facts, event) : finalWhat(facts, event)
  // An attempt whose outcome is unknown says nothing about the receiver, whatever class it was given for the retry.
  if (event?.ambiguous) {
    const next = isWaiting ? sentence('explain.do_wait') : sentence('explain.do_verify_receipt')
    return { what, why: sentence('explain.why_ambiguous'), responsible: 'network', next, decisive: event }
  }
  const kind = kindOf(event)
  const known = KIND_EXPLANATIONS[kind]
  const isExpired = event?.type === 'expired'
  const advice = event && adviceOn({ ...event, type: event.type === 'reported' ? 'bounced' : event.type })
  return {
    what,
    why: isExpired && kind === 'other' ? sentence('explain.why_expired') : known.why,
    responsible: known.responsible,
    next: advice ?? (isWaiting && known.passes ? sentence('explain.do_wait') : known.next),
    kind,
    decisive: event,
  }
}

function deferredWhat({ message, waiting, recipient }: RecipientFacts, event: LogEntry | undefined): Sentence {
  const attempt = event?.attempt ?? waiting?.att ?? 1
  const next = shownTime(waiting?.due ?? recipient.at ?? message.created_at)
  return sentence('explain.deferred', { attempt, next, until: shownTime(message.expires_at) })
}

function finalWhat({ recipient, message }: RecipientFacts, event: LogEntry | undefined): Sentence {
  const at = shownTime(event?.at ?? recipient.at ?? message.created_at)
  if (recipient.status === 'failed') return sentence('explain.failed', { at })
  if (event?.attempt === 0) return sentence('explain.bounced_later', { at })
  return event?.mx ? sentence('explain.bounced', { host: event.mx, at }) : sentence('explain.bounced_somewhere', { at })
}

/** Types of events that can decide a status; a status that no event of the log explains has none. */
const DECIDES: Readonly<Partial<Record<RecipientStatus, readonly string[]>>> = {
  deferred: ['deferred'],
  delivered: ['delivered'],
  bounced: ['bounced'],
  failed: ['failed', 'expired'],
  suppressed: ['suppressed'],
  canceled: ['canceled'],
  complained: ['complained'],
}

function decisiveEvent({ recipient, events }: RecipientFacts): LogEntry | undefined {
  const types = DECIDES[recipient.status] ?? []
  return events.findLast(({ type }) => types.includes(type))
}

/** As the worker classified it; of older releases, and of reports, from the words of the receiver. */
function kindOf(event: LogEntry | undefined): FailureKind {
  if (!event) return 'other'
  if (event.kind !== undefined && event.kind in KIND_EXPLANATIONS) return event.kind as FailureKind
  const text = explanationOf(event)
  const reply = typeof text === 'string' ? parseReply([withCode(event, text)]) : undefined
  return (reply && classifyReply(reply, 'rcpt', siteOf(domainOf(event.rcpt))).kind) ?? 'other'
}

/** Reports have the words of the server without the codes that they came with. */
function withCode({ code, enhanced }: LogEntry, text: string): string {
  if (/^[245]\d\d[ -]/.test(text) || (code === undefined && enhanced === undefined)) return text
  const reply = code ?? (enhanced?.startsWith('4') ? 450 : 550)
  return [reply, enhanced !== undefined && !text.startsWith(enhanced) ? enhanced : '', text].filter(Boolean).join(' ')
}

/** For people; programs find the exact time in the evidence. */
function shownTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
