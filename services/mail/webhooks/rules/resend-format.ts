/** Events in the format of Resend, for receivers that were written for it: types, and what the request says. */
import type { EmailData, MailEventData, MailEventType, SuppressionData } from './mail-event.ts'

/** Formats of the requests to a webhook; a webhook without one has the first. */
export const WEBHOOK_FORMATS = ['postwright', 'resend'] as const

/** One of the formats. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The own types of each type of theirs; of several theirs for one of ours, the event's data decides. */
const OWN_TYPES = {
  'email.sent': ['email.accepted'],
  'email.scheduled': ['email.accepted'],
  'email.delivered': ['email.delivered'],
  'email.delivery_delayed': ['email.deferred'],
  'email.bounced': ['email.bounced'],
  'email.complained': ['email.complained'],
  'email.failed': ['email.failed'],
  'email.suppressed': ['email.suppressed'],
  'email.opened': ['email.opened'],
  'email.clicked': ['email.clicked'],
  'domain.updated': ['domain.verified', 'domain.failing', 'domain.lost', 'domain.failed', 'domain.recovered'],
  'suppression.added': ['suppression.added'],
  'suppression.removed': ['suppression.removed'],
} as const satisfies Record<string, readonly MailEventType[]>

const THEIR_TYPES = Object.keys(OWN_TYPES) as (keyof typeof OWN_TYPES)[]

/** The own types of a type of theirs; undefined for one that there are no events of. */
export function ownTypesOf(type: string): readonly MailEventType[] | undefined {
  return Object.hasOwn(OWN_TYPES, type) ? OWN_TYPES[type as keyof typeof OWN_TYPES] : undefined
}

/** Their types of which a webhook with these types gets events; of one that gets all, all. */
export function theirTypesOf(types: readonly string[]): string[] {
  if (types.length === 0) return [...THEIR_TYPES]
  return THEIR_TYPES.filter(type => OWN_TYPES[type].some(own => types.includes(own)))
}

/** True when the format has events of this type. `webhook.test` goes to whoever asks for it. */
export function hasType(format: WebhookFormat | undefined, type: MailEventType): boolean {
  return (
    format !== 'resend' ||
    type === 'webhook.test' ||
    Object.values(OWN_TYPES)
      .flat()
      .includes(type as never)
  )
}

/** An event, as it is stored. */
export interface StoredEvent {
  type: string
  at: Date
  data: Readonly<Record<string, unknown>>
}

/** When the message, domain or suppression of an event was made; the time of the event where that is not known. */
export type CreatedAt = (id: unknown) => Date | undefined

/** The body of the request, as an object. */
export function resendBody({ type, at, data }: StoredEvent, createdAt: CreatedAt): object {
  const made = (id: unknown) => (createdAt(id) ?? at).toISOString()
  return { type: theirTypeOf(type, data), created_at: at.toISOString(), data: theirDataOf({ type, at, data }, made) }
}

/** The type of theirs; `data` decides where there are two. */
export function theirTypeOf(type: string, data: StoredEvent['data'] = {}): string {
  if (type === 'email.accepted') return 'scheduled_at' in data ? 'email.scheduled' : 'email.sent'
  return THEIR_TYPES.find(theirs => (OWN_TYPES[theirs] as readonly string[]).includes(type)) ?? type
}

type Made = (id: unknown) => string

function theirDataOf({ type, at, data }: StoredEvent, made: Made): object {
  const of = <T extends MailEventType>(_: T) => data as unknown as MailEventData[T]
  if (type.startsWith('domain.')) return domainData(of('domain.verified'), made)
  if (type.startsWith('suppression.')) return suppressionData(of('suppression.added'), made)
  if (!type.startsWith('email.')) return data
  const email = emailFields(of('email.accepted'), made)
  switch (type) {
    case 'email.bounced':
      return { ...email, bounce: bounceOf(of(type)) }
    case 'email.failed':
      return { ...email, failed: { reason: of(type).diagnostic ?? 'failed' } }
    case 'email.suppressed':
      return { ...email, suppressed: suppressedOf(of(type)) }
    case 'email.clicked':
      return { ...email, click: clickOf(of(type), at.toISOString()) }
    default:
      return email
  }
}

function emailFields(data: EmailData, made: Made) {
  return {
    ...{ email_id: data.email_id, message_id: data.message_id, created_at: made(data.email_id) },
    ...{ from: data.from, to: [data.to], subject: data.subject },
    tags: Object.fromEntries(data.tags.map(({ name, value }) => [name, value])),
  }
}

/** What the server of the recipient says finally is permanent. */
function bounceOf({ kind, diagnostic = '' }: MailEventData['email.bounced']) {
  return {
    type: 'Permanent' as const,
    subType: kind === 'mailbox' ? 'NoEmail' : 'General',
    message: diagnostic,
    diagnosticCode: diagnostic === '' ? [] : [diagnostic],
  }
}

function suppressedOf({ reason }: MailEventData['email.suppressed']) {
  const message = `The address is suppressed (${reason}).`
  return { type: 'OnAccountSuppressionList', reason, message, diagnosticCode: [] }
}

/** Addresses of readers are not kept. */
function clickOf({ user_agent = '', url }: MailEventData['email.clicked'], timestamp: string) {
  return { ipAddress: '', link: url, timestamp, userAgent: user_agent }
}

/** The records are in the answer of the API; an event does not repeat them. */
function domainData({ domain_id: id, name, status }: MailEventData['domain.verified'], made: Made) {
  return { id, name, status, created_at: made(id), region: 'us-east-1', records: [] }
}

const ORIGINS: Readonly<Record<string, string>> = { hard_bounce: 'bounce', complaint: 'complaint' }

function suppressionData({ suppression_id: id, email, reason, email_id }: SuppressionData, made: Made) {
  return { id, email, origin: ORIGINS[reason] ?? 'manual', source_id: email_id ?? null, created_at: made(id) }
}
