/** Events of the mail half that webhooks get: their types, and what each says as its `data`. */
import type { Lane } from '../../store/rules/flow.ts'
import { streamName } from '../../store/rules/stream.ts'

/** Every type, in the order of lists. `webhook.test` goes only to the webhook that it was requested for. */
export const MAIL_EVENT_TYPES = [
  'email.accepted',
  'email.delivered',
  'email.deferred',
  'email.bounced',
  'email.complained',
  'email.suppressed',
  'email.failed',
  'email.canceled',
  'email.unsubscribed',
  'email.opened',
  'email.clicked',
  'domain.verified',
  'domain.failing',
  'domain.lost',
  'domain.failed',
  'domain.recovered',
  'suppression.added',
  'suppression.removed',
  'webhook.test',
] as const

/** One type of event. */
export type MailEventType = (typeof MAIL_EVENT_TYPES)[number]

/** What every `email.*` event says: the message, and the one recipient that it is about. */
export interface EmailData {
  email_id: string
  /** Message-ID header with its angle brackets. */
  message_id: string
  from: string
  to: string
  subject: string
  /** Domain of `from`. */
  domain: string
  tags: readonly { name: string; value: string }[]
  metadata: Readonly<Record<string, string>>
  /** The metadata is too large for an event; `GET /api/v1/emails/{id}` has it. */
  metadata_omitted?: true
  /** Stream that the message was sent in: `transactional`, `bulk` or `bulk/<list>`. */
  stream: string
  /** The message was submitted with a test token: it went nowhere, and its outcome is simulated. */
  test?: true
}

/** What became of an attempt, as far as each applies. */
export interface AttemptData {
  /** State of the recipient after the attempt. */
  status: string
  /** Reply code of the receiving server. */
  smtp_code?: number
  /** Enhanced status code (RFC 3463). */
  enhanced_code?: string
  /** The words of the receiving server, or a sentence of ours in English. */
  diagnostic?: string
  /** Stable code of `diagnostic` where the sentence is ours. */
  diagnostic_code?: string
  /** Why it failed, as in `mailbox`, `policy`, `network`. */
  kind?: string
  mx_host?: string
  /** Counted from 1. */
  attempt?: number
}

/** A complaint of a recipient through the feedback loop of their provider (RFC 5965). */
export interface ComplaintData {
  /** As in `abuse`, `fraud`, `not-spam`. */
  feedback_type: string
  user_agent?: string
  /** When the provider got the complaint. */
  arrived_at?: string
}

/** A recipient that was left out because the address is suppressed. */
export interface SuppressedData {
  /** Why the address is suppressed: `hard_bounce`, `complaint`, `unsubscribe` or `manual`. */
  reason: string
}

/** The end of a subscription to a stream or to all mail of the account. */
export interface UnsubscribedData {
  /** As in `one_click` (RFC 8058), `page`, `mail`. */
  method: string
}

/** An opened or clicked message. */
export interface EngagementData {
  user_agent?: string
  /** Probably a program (privacy proxy, link scanner) and no person. */
  machine?: boolean
}

/** A sending domain whose state changed. */
export interface DomainData {
  domain_id: string
  name: string
  status: string
  /** Rows of the guidance that are missing or wrong. */
  failing_records: readonly string[]
  /** Since when records are missing. */
  failing_since?: string
  /** Until when the domain still sends. */
  sends_until?: string
}

/** An address that mail is, or again is not, withheld from. */
export interface SuppressionData {
  suppression_id: string
  email: string
  /** `hard_bounce`, `complaint`, `unsubscribe` or `manual`. */
  reason: string
  /** Name of the stream that it is limited to. */
  stream?: string
  /** The message that caused it. */
  email_id?: string
}

/** `data` of each type. */
export interface MailEventData {
  'email.accepted': EmailData & { scheduled_at?: string }
  'email.delivered': EmailData & AttemptData
  'email.deferred': EmailData & AttemptData
  'email.bounced': EmailData & AttemptData
  'email.failed': EmailData & AttemptData
  'email.canceled': EmailData & AttemptData
  'email.complained': EmailData & ComplaintData
  'email.suppressed': EmailData & SuppressedData
  'email.unsubscribed': EmailData & UnsubscribedData
  'email.opened': EmailData & EngagementData
  'email.clicked': EmailData & EngagementData & { url: string }
  'domain.verified': DomainData
  'domain.failing': DomainData
  'domain.lost': DomainData
  'domain.failed': DomainData
  'domain.recovered': DomainData
  'suppression.added': SuppressionData
  'suppression.removed': SuppressionData
  'webhook.test': { webhook_id: string }
}

/** An event of an account, before it is known which webhooks want it. */
export type MailEvent<T extends MailEventType = MailEventType> = {
  [Type in T]: {
    type: Type
    userId: string
    /** The domain that it is about: webhooks that are limited to domains get events of these alone. */
    domainId?: string | undefined
    at: Date
    /** Equal keys are one event: stored once for each webhook, however often it is queued. */
    key: string
    data: MailEventData[Type]
  }
}[T]

/** The message that an event is about; the fields of a stored message. */
export interface EmailFacts {
  _id: string
  message_id: string
  from: string
  subject: string
  tags?: readonly { name: string; value: string }[] | undefined
  metadata?: Readonly<Record<string, string>> | undefined
  lane: Lane
  list?: string | undefined
  test?: boolean | undefined
}

/** Longest subject and diagnostic of an event, in characters: with tags and metadata an event stays below 20 KB. */
const MAX_SUBJECT = 998
const MAX_DIAGNOSTIC = 1_000

/** The part of `data` that all `email.*` events have. */
export function emailData(message: EmailFacts, to: string): EmailData {
  return {
    email_id: message._id,
    message_id: message.message_id,
    from: message.from,
    to,
    subject: message.subject.slice(0, MAX_SUBJECT),
    domain: message.from.slice(message.from.lastIndexOf('@') + 1).toLowerCase(),
    tags: message.tags ?? [],
    ...boundedMetadata(message.metadata ?? {}),
    stream: streamName(message),
    ...(message.test && { test: true as const }),
  }
}

/** Bytes of metadata in an event. */
const MAX_METADATA = 11_000

function boundedMetadata(metadata: Readonly<Record<string, string>>): Pick<EmailData, 'metadata' | 'metadata_omitted'> {
  const isLarge = Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA
  return isLarge ? { metadata: {}, metadata_omitted: true } : { metadata }
}

/** An attempt as the delivery log has it. */
export interface AttemptFacts {
  type: 'delivered' | 'deferred' | 'bounced' | 'failed' | 'canceled' | 'expired'
  attempt: number
  code?: number | undefined
  enhanced?: string | undefined
  text?: string | undefined
  explanation?: { code: string } | undefined
  mx?: string | undefined
}

/** The reason of a suppression in the explanation of its event: `suppression.manual` there, `manual` here. */
export function suppressionReason(explanation: { params?: Readonly<Record<string, unknown>> } | undefined): string {
  const reason = explanation?.params?.reason
  const code = typeof reason === 'object' && reason !== null && 'code' in reason ? String(reason.code) : ''
  return code.replace('suppression.', '')
}

/** The event type of an attempt, and what it says about the attempt. A message that expired has failed. */
export function attemptEvent(
  { type, attempt, code, enhanced, text, explanation, mx }: AttemptFacts,
  kind?: string,
): { type: `email.${'delivered' | 'deferred' | 'bounced' | 'failed' | 'canceled'}`; data: AttemptData } {
  const status = type === 'expired' ? 'failed' : type
  return {
    type: `email.${status}`,
    data: {
      status,
      ...(code !== undefined && { smtp_code: code }),
      ...(enhanced !== undefined && { enhanced_code: enhanced }),
      ...(text !== undefined && { diagnostic: text.slice(0, MAX_DIAGNOSTIC) }),
      ...(explanation && { diagnostic_code: explanation.code }),
      ...(kind !== undefined && { kind }),
      ...(mx !== undefined && { mx_host: mx }),
      attempt,
    },
  }
}
