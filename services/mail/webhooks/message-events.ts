/** Events of accepted messages and of attempts, for the webhooks of their accounts. */
import type { Session } from '../../platform/database/mongo.ts'
import type { EventDoc, MessageDoc } from '../store/documents.ts'
import {
  type MailEvent,
  type MailWebhooks,
  mailEventDocuments,
  queueMailEvents,
  webhooksOf,
} from './queue-mail-events.ts'
import { type AttemptFacts, attemptEvent, emailData, suppressionReason } from './rules/mail-event.ts'
import { findEmailFacts } from './store/email-facts.ts'
import type { MailWebhookEventDoc } from './store/webhook-collections.ts'

/** A message as acceptance stores it; `events`: the simulated attempts of a test message. */
export interface AcceptedMessage {
  message: MessageDoc
  events: readonly EventDoc[]
}

/** The events that acceptance of these messages has to store with them, by message. */
export async function acceptedEvents(
  context: MailWebhooks,
  accepted: readonly AcceptedMessage[],
): Promise<ReadonlyMap<string, MailWebhookEventDoc[]>> {
  const webhooks = await webhooksOf(
    context,
    accepted.map(({ message }) => message.user_id),
  )
  const wanted = webhooks.size === 0 ? [] : accepted.filter(({ message }) => webhooks.has(message.user_id))
  const documents = await mailEventDocuments(context, wanted.flatMap(eventsOf))
  return Map.groupBy(documents, ({ data }) => String(data.email_id))
}

function eventsOf({ message, events }: AcceptedMessage): MailEvent[] {
  const { _id, user_id: userId, domain_id: domainId, created_at: at, scheduled_at } = message
  const scheduled = scheduled_at && { scheduled_at: scheduled_at.toISOString() }
  const accepted = message.rcpts.flatMap(({ email, status }, n): MailEvent[] => {
    if (status === 'suppressed') return []
    const data = { ...emailData(message, email), ...scheduled }
    return [{ type: 'email.accepted', userId, domainId, at, key: `${_id}.${n}:accepted`, data }]
  })
  return [...accepted, ...events.flatMap(event => ofAttempt(message, event))]
}

/** An attempt, and why it failed. */
export interface AttemptOf {
  event: EventDoc
  kind?: string | undefined
}

/**
 * Queues the events of attempts. An attempt that is settled again, with the same or another result, is queued under the
 * key of its number and its result.
 */
export async function queueAttempts(
  context: MailWebhooks,
  attempts: readonly AttemptOf[],
  session?: Session,
): Promise<void> {
  const webhooks = await webhooksOf(
    context,
    attempts.map(({ event }) => event.user_id),
  )
  if (webhooks.size === 0) return
  const wanted = attempts.filter(({ event }) => webhooks.has(event.user_id))
  const messages = await findEmailFacts(
    context.db,
    wanted.map(({ event }) => event.m),
  )
  const events = wanted.flatMap(({ event, kind }) => {
    const message = messages.get(event.m)
    return message ? ofAttempt(message, event, kind) : []
  })
  await queueMailEvents(context, events, session)
}

function ofAttempt(
  message: Parameters<typeof emailData>[0] & Pick<MessageDoc, 'domain_id'>,
  event: EventDoc,
  kind?: string,
): MailEvent[] {
  const shared = {
    userId: event.user_id,
    domainId: message.domain_id,
    at: event.at,
    key: `${event._id}:${event.type}`,
  }
  const email = emailData(message, event.rcpt)
  if (event.type === 'suppressed')
    return [{ ...shared, type: 'email.suppressed', data: { ...email, reason: suppressionReason(event.explanation) } }]
  const attempt = attemptOf(event)
  if (!attempt) return []
  const { type, data } = attemptEvent(attempt, kind)
  return [{ ...shared, type, data: { ...email, ...data } }]
}

/** Undefined for what happened to a message after its delivery: that is queued with its own data (inbound, streams, tracking). */
function attemptOf(event: EventDoc): AttemptFacts | undefined {
  const { type } = event
  switch (type) {
    case 'suppressed':
    case 'complained':
    case 'reported':
    case 'unsubscribed':
    case 'opened':
    case 'clicked':
      return undefined
    default:
      return { ...event, type }
  }
}
