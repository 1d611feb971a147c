/** Stored messages, deliveries and events as the API shows them. */
import type { z } from 'zod'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { HoldDoc } from '../../delivery/control/store/holds.ts'
import { domainOf } from '../../message/address.ts'
import type { DeliveryDoc, EventDoc, MessageDoc, RecipientState } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import { messageStatus } from '../../store/rules/email-status.ts'
import { explanationOf } from '../../store/rules/explanation.ts'
import { holdOfFlow } from '../../store/rules/flow.ts'
import { adviceOn } from '../rules/attempt-advice.ts'
import { SOURCES } from '../rules/export-rows.ts'
import { reasonOf } from '../rules/failure-reason.ts'
import type { emailAttempt, emailDetail, emailEvent, emailSummary } from './emails-contract.ts'

/** A message in a list. */
export function toSummary(message: MessageDoc): z.input<typeof emailSummary> {
  return {
    object: 'email',
    id: message._id,
    message_id: message.message_id,
    from: message.from,
    subject: message.subject,
    status: messageStatus(message.rcpts),
    source: SOURCES[message.via.channel],
    test: message.test === true,
    size: message.size,
    tags: message.tags ?? [],
    recipients: message.rcpts.map(toRecipient),
    created_at: message.created_at.toISOString(),
    scheduled_at: message.scheduled_at?.toISOString() ?? null,
    final_at: message.final_at?.toISOString() ?? null,
  }
}

/** A recipient with its state. */
export function toRecipient(recipient: RecipientState) {
  const { email, type, status, code, enhanced, at } = recipient
  const reason = reasonOf(recipient)
  return {
    email,
    type,
    status,
    ...(code !== undefined && { smtp_code: code }),
    ...(enhanced !== undefined && { enhanced_code: enhanced }),
    ...(reason !== undefined && { reason }),
    ...(at !== undefined && { at: at.toISOString() }),
  }
}

/** A message with its waiting deliveries. */
export function toDetail(
  message: MessageDoc,
  waiting: readonly DeliveryDoc[],
  hasRaw: boolean,
  holds: ReadonlyMap<string, HoldDoc> = new Map(),
): z.input<typeof emailDetail> {
  return {
    ...toSummary(message),
    mail_from: message.mail_from,
    domain: domainOf(message.from),
    delivery: message.capture ? 'capture' : message.redirected_from ? 'redirect' : 'live',
    redirected_from: message.redirected_from?.map(({ email }) => email) ?? [],
    stream: message.lane,
    list: message.list ?? null,
    metadata: message.metadata ?? {},
    template: message.template ?? null,
    submitted_with: message.via.id ?? null,
    expires_at: message.expires_at.toISOString(),
    has_raw: hasRaw,
    waiting: waiting.map(({ rcpt, att, due, last, flow }) => ({
      email: rcpt,
      attempts: att,
      next_attempt_at: due.toISOString(),
      ...sentenceFields('last_reply', last && explanationOf(last)),
      ...heldBy(holds.get(holdOfFlow(flow ?? ''))),
    })),
  }
}

function heldBy(hold: HoldDoc | undefined) {
  if (!hold) return {}
  const { _id: id, by, reason, created_at: since, until } = hold
  const times = { since: since.toISOString(), until: until?.toISOString() ?? null }
  return { held: { id, by: by.name, admin: by.admin, reason, ...times } }
}

/** The history of a message: its acceptance, then every attempt. */
export function toTimeline(message: MessageDoc, events: readonly EventDoc[]): z.input<typeof emailEvent>[] {
  const leftOut = new Set(events.filter(event => isAtAcceptance(event, message)).map(({ _id }) => _id))
  const queued = message.rcpts.map((recipient, n) => ({
    object: 'event' as const,
    id: `${message._id}.${n}#0`,
    type: message.scheduled_at ? 'email.scheduled' : 'email.queued',
    timestamp: message.created_at.toISOString(),
    email_id: message._id,
    recipient: recipient.email,
    attempt: null,
    smtp_code: null,
    enhanced_code: null,
    mx_host: null,
    ...sentenceFields('text', acceptanceOf(message)),
    ambiguous: false,
  }))
  const accepted = queued.filter((_, n) => !leftOut.has(eventId(`${message._id}.${n}`, 1)))
  return [...accepted, ...events.map(toEvent)]
}

/** True for a recipient that was suppressed when the message came in: it was never queued. */
function isAtAcceptance({ type, at }: EventDoc, { created_at }: MessageDoc): boolean {
  return type === 'suppressed' && at.getTime() === created_at.getTime()
}

/** Recipients that the log names when they were replaced. */
const NAMED_RECIPIENTS = 3

function acceptanceOf({ scheduled_at: at, capture, redirected_from: replaced, rcpts }: MessageDoc): Sentence {
  if (capture) return sentence('delivery.accepted_captured')
  if (replaced) {
    const names = replaced.slice(0, NAMED_RECIPIENTS).map(({ email }) => email)
    const more = replaced.length > names.length ? ', …' : ''
    return sentence('delivery.accepted_redirected', {
      address: rcpts[0]?.email ?? '',
      recipients: `${names.join(', ')}${more}`,
    })
  }
  return at ? sentence('delivery.scheduled', { at: at.toISOString() }) : sentence('delivery.accepted')
}

/** One attempt as an event. */
export function toEvent(event: EventDoc): z.input<typeof emailEvent> {
  return {
    object: 'event',
    id: event._id,
    type: `email.${event.type}`,
    timestamp: event.at.toISOString(),
    email_id: event.m,
    recipient: event.rcpt,
    attempt: event.attempt === 0 ? null : event.attempt,
    smtp_code: event.code ?? null,
    enhanced_code: event.enhanced ?? null,
    mx_host: event.mx ?? null,
    ...sentenceFields('text', explanationOf(event)),
    ambiguous: event.ambiguous === true,
    ...engagementOf(event),
  }
}

/** One attempt with its conversation. */
export function toAttempt(event: EventDoc): z.input<typeof emailAttempt> {
  return {
    object: 'attempt',
    id: event._id,
    email_id: event.m,
    recipient: event.rcpt,
    attempt: event.attempt,
    outcome: event.type,
    at: event.at.toISOString(),
    duration_ms: event.ms,
    mx_host: event.mx ?? null,
    ip: event.ip ?? null,
    tls: event.tls ?? null,
    smtp_code: event.code ?? null,
    enhanced_code: event.enhanced ?? null,
    ...sentenceFields('reply', explanationOf(event)),
    ...sentenceFields('advice', adviceOn(event)),
    ambiguous: event.ambiguous === true,
    conversation: event.conversation ?? null,
    ...engagementOf(event),
  }
}

/** Fields that only opens and clicks have. */
function engagementOf({ url, user_agent, machine }: EventDoc) {
  return {
    ...(url !== undefined && { url }),
    ...(user_agent !== undefined && { user_agent }),
    ...(machine !== undefined && { machine }),
  }
}
