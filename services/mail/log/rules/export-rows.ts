/** Rows of the export of the message log: one for each recipient. */
import type { RecipientStatus } from '../../store/rules/email-status.ts'
import { reasonOf } from './failure-reason.ts'

/** What an export shows of a message. */
export interface ExportedMessage {
  _id: string
  created_at: Date
  from: string
  subject: string
  message_id: string
  via: { channel: keyof typeof SOURCES; id?: string }
  tags?: readonly { name: string; value: string }[]
  rcpts: readonly {
    email: string
    status: RecipientStatus
    kind?: string
    code?: number
    enhanced?: string
    at?: Date
  }[]
}

/** Columns of the export, in order. */
export const EXPORT_COLUMNS = [
  'id',
  'created_at',
  'from',
  'recipient',
  'status',
  'reason',
  'smtp_code',
  'enhanced_code',
  'status_at',
  'subject',
  'message_id',
  'source',
  'submitted_with',
  'tags',
] as const

/** Where messages came from, by the channel that took them. */
export const SOURCES = { http: 'api', smtp: 'smtp', system: 'system' } as const

/** The rows of a message; tags as `name:value`, separated by blanks. */
export function exportRows(message: ExportedMessage): string[][] {
  const { _id, created_at, from, subject, message_id: messageId, via, tags = [] } = message
  return message.rcpts.map(recipient => [
    _id,
    created_at.toISOString(),
    from,
    recipient.email,
    recipient.status,
    reasonOf(recipient) ?? '',
    recipient.code === undefined ? '' : String(recipient.code),
    recipient.enhanced ?? '',
    recipient.at?.toISOString() ?? '',
    subject,
    messageId,
    SOURCES[via.channel],
    via.id ?? '',
    tags.map(({ name, value }) => `${name}:${value}`).join(' '),
  ])
}
