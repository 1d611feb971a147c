/** Messages of the own API as Resend shows them. */
import type { RecipientStatus } from '../../store/rules/email-status.ts'

/** What the own API says about a message. */
export interface OwnEmail {
  id: string
  message_id: string
  from: string
  subject: string
  status: RecipientStatus
  tags: readonly { name: string; value: string }[]
  recipients: readonly { email: string; type: 'to' | 'cc' | 'bcc' | 'envelope' }[]
  created_at: string
  scheduled_at: string | null
}

/** Statuses that have other names there. */
const EVENTS: Partial<Record<RecipientStatus, string>> = { deferred: 'delivery_delayed' }

/** `last_event` of a message. */
export function lastEvent(status: RecipientStatus): string {
  return EVENTS[status] ?? status
}

/** What the stored message says beyond {@link OwnEmail}; null while it is not known. */
export interface StoredParts {
  /** With the display name. */
  from: string | null
  reply_to: readonly string[]
  html: string | null
  text: string | null
}

/** A message in a list. */
export function toListed(email: OwnEmail, replyTo: readonly string[] = []) {
  const of = (type: string) => email.recipients.filter(one => one.type === type).map(one => one.email)
  const orNull = (list: readonly string[]) => (list.length === 0 ? null : list)
  return {
    id: email.id,
    message_id: email.message_id,
    // Those of a finished message are only in its envelope.
    to: [...of('to'), ...of('envelope')],
    from: email.from,
    created_at: email.created_at,
    subject: email.subject,
    bcc: orNull(of('bcc')),
    cc: orNull(of('cc')),
    reply_to: orNull(replyTo),
    last_event: lastEvent(email.status),
    scheduled_at: email.scheduled_at,
  }
}

/** One message. Without its bytes, which are kept for a shorter time, html and text are null. */
export function toShown(email: OwnEmail, stored: StoredParts | undefined) {
  return {
    object: 'email' as const,
    ...toListed(email, stored?.reply_to),
    from: stored?.from ?? email.from,
    html: stored?.html ?? null,
    text: stored?.text ?? null,
    tags: [...email.tags],
  }
}
