/** Applies a report to the recipient that its address names: log, status, statistics, report to the sender, suppression. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { type StoredSentence, sentence } from '../../platform/sentences/sentence.ts'
import type { LateReport } from '../delivery/failure-report.ts'
import type { RefusalRecorder } from '../domains/record-refusals.ts'
import { recountPeriodsOf } from '../log/store/stats.ts'
import { domainOf } from '../message/address.ts'
import type { EventDoc } from '../store/documents.ts'
import { appendEvents, reportEventId } from '../store/events.ts'
import { findReported, isOpen, noteReport, type ReportedRecipient } from '../store/recipient-reports.ts'
import { siteOf } from '../store/rules/assign-slot.ts'
import { explained } from '../store/rules/explanation.ts'
import { mailWebhooksOf, queueMailEvents } from '../webhooks/queue-mail-events.ts'
import { attemptEvent, emailData } from '../webhooks/rules/mail-event.ts'
import { findEmailFacts } from '../webhooks/store/email-facts.ts'
import type { ReportEffect } from './rules/report-effect.ts'

/** Adds an address to the suppression list of an account; called again for the same report it changes nothing. */
export type Suppress = (entry: {
  userId: string
  email: string
  reason: 'hard_bounce' | 'complaint'
  messageId: string
  /** Words of the report. */
  detail: string
}) => Promise<void>

/** Dependencies of {@link recordReport}. */
export interface RecordDeps {
  mongo: Mongo
  clock: Clock
  logDays: number
  /** Reports to the envelope sender that was submitted. */
  reportToSender: LateReport
  suppress: Suppress
  /** Notes that a receiver could not authenticate mail of a domain; called once for each kind of report about a recipient. */
  noteRefusal: RefusalRecorder['refused']
}

/** The recipient, by a token that we signed, and the incoming message. */
export interface ReportRef {
  messageId: string
  recipient: number
  /** Id of the incoming message. */
  inboundId: string
}

/**
 * What became of it: applied; `duplicate`: the status is not that of this report; `gone`: the message is no longer
 * known; `early`: the outcome of the delivery is not written yet, so that the report has to wait.
 */
export type Recorded = 'bounced' | 'complained' | 'reported' | 'duplicate' | 'gone' | 'early'

type Effect = Exclude<ReportEffect, { kind: 'dropped' }>

/** Repeating it changes nothing. Rejects when the database is away; it is to be repeated then. */
export async function recordReport(deps: RecordDeps, ref: ReportRef, effect: Effect): Promise<Recorded> {
  const found = await findReported(deps.mongo, ref.messageId, ref.recipient)
  if (!found) return 'gone'
  if (isOpen(found.state)) return 'early'
  const event = eventOf(deps, ref, found, effect)
  const isNew = (await appendEvents(deps.mongo, [event])) > 0
  if (effect.kind === 'reported') {
    await confirm(deps, found, event, effect.action)
    // One recipient could otherwise make any number of them.
    if (isNew) noteFailure(deps, found, event)
    return 'reported'
  }
  await queueEvent(deps, ref, found, event, effect)
  const { code, enhanced, kind, at } = event
  const codes = {
    ...(code === undefined ? {} : { code }),
    ...(enhanced === undefined ? {} : { enhanced }),
    ...(kind === undefined ? {} : { kind }),
  }
  const report = { status: effect.kind, at, report: ref.inboundId, ...codes }
  if (!(await noteReport(deps.mongo, ref.messageId, ref.recipient, report))) return 'duplicate'
  await recountPeriodsOf(deps.mongo.db, found.message.user_id, ref.messageId)
  noteFailure(deps, found, event)
  if (effect.kind === 'bounced') await deps.reportToSender(found, 'failed', event)
  if (effect.kind === 'complained' || effect.hard)
    await deps.suppress({
      userId: found.message.user_id,
      email: found.state.email,
      reason: effect.kind === 'complained' ? 'complaint' : 'hard_bounce',
      messageId: ref.messageId,
      detail: event.text,
    })
  return effect.kind
}

/** Before the status changes: a process that dies in between repeats both, under the same key. */
async function queueEvent(
  { mongo, clock }: RecordDeps,
  { messageId }: ReportRef,
  { message, state }: ReportedRecipient,
  event: EventDoc,
  effect: Exclude<Effect, { kind: 'reported' }>,
): Promise<void> {
  const webhooks = mailWebhooksOf({ mongo, clock })
  const facts = (await findEmailFacts(mongo.db, [messageId])).get(messageId)
  if (!facts) return
  const email = emailData(facts, state.email)
  const about = { userId: message.user_id, domainId: facts.domain_id, at: event.at, key: `${event._id}:${event.type}` }
  if (effect.kind === 'complained') {
    const { type: feedback_type, userAgent: user_agent, arrivedAt } = effect
    const complaint = { feedback_type, ...(user_agent && { user_agent }) }
    const arrived = arrivedAt && { arrived_at: arrivedAt.toISOString() }
    await queueMailEvents(webhooks, [
      { ...about, type: 'email.complained', data: { ...email, ...complaint, ...arrived } },
    ])
  } else {
    const { data } = attemptEvent({ ...event, type: 'bounced' }, effect.failure)
    await queueMailEvents(webhooks, [{ ...about, type: 'email.bounced', data: { ...email, ...data } }])
  }
}

/** The next hop confirmed what the sender asked it to confirm (NOTIFY=SUCCESS). */
async function confirm(
  deps: RecordDeps,
  found: ReportedRecipient,
  event: EventDoc,
  action: Extract<Effect, { kind: 'reported' }>['action'],
): Promise<void> {
  if (action === 'delivered' || action === 'relayed') await deps.reportToSender(found, action, event)
}

/** As for a refusal of an own attempt. The site is that of the recipient: what the report names proves nothing. */
function noteFailure({ noteRefusal }: RecordDeps, { message, state }: ReportedRecipient, event: EventDoc): void {
  if (event.kind !== 'authentication' || message.domain_id === '') return
  const { code, enhanced, text, at: last_at } = event
  const site = siteOf(domainOf(state.email))
  noteRefusal(message.domain_id, { site, text, last_at, ...(code && { code }), ...(enhanced && { enhanced }) })
}

function eventOf(
  { clock, logDays }: RecordDeps,
  { messageId, recipient }: ReportRef,
  { message, state }: ReportedRecipient,
  effect: Effect,
): EventDoc {
  const now = clock.now()
  return {
    _id: reportEventId(`${messageId}.${recipient}`, effect.kind),
    m: messageId,
    user_id: message.user_id,
    rcpt: state.email,
    attempt: 0,
    type: effect.kind,
    at: now,
    ms: 0,
    ...explained(textOf(effect)),
    ...('failure' in effect && effect.failure !== undefined ? { kind: effect.failure } : {}),
    ...('code' in effect && effect.code !== undefined ? { code: effect.code } : {}),
    ...('enhanced' in effect && effect.enhanced !== undefined ? { enhanced: effect.enhanced } : {}),
    ...('mx' in effect && effect.mx !== undefined ? { mx: effect.mx } : {}),
    exp: new Date(now.getTime() + logDays * DAY_MS),
  }
}

/** The words of the server where there are any. */
function textOf(effect: Effect): StoredSentence {
  if (effect.kind === 'complained') return sentence('inbound.complained', { type: effect.type })
  if (effect.text !== '') return effect.text
  if (effect.kind === 'bounced') return sentence('inbound.bounced')
  return sentence('inbound.reported', { action: effect.action })
}
