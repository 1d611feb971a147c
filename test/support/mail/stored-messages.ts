/** Messages and attempts in the database, as acceptance and delivery store them. */
import { BODIES, toBodyDocs } from '../../../services/mail/store/bodies.ts'
import type { EventDoc, MessageDoc, RecipientState } from '../../../services/mail/store/documents.ts'
import { EVENTS } from '../../../services/mail/store/events.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, type Db } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'

const DAY_MS = 86_400_000

/** Stores a message, by default delivered to one recipient. `raw` also stores its body. */
export async function giveMessage(
  db: Db,
  userId: string,
  { raw, created_at = new Date(), ...change }: Partial<MessageDoc> & { raw?: string } = {},
): Promise<MessageDoc> {
  const _id = change._id ?? newId('em', created_at.getTime())
  const rcpts: RecipientState[] = change.rcpts ?? [
    { email: 'bob@example.net', type: 'to', status: 'delivered', code: 250 },
  ]
  const bytes = Buffer.from(raw ?? '')
  const message: MessageDoc = {
    _id,
    user_id: userId,
    domain_id: 'dom_1',
    via: { channel: 'http', id: 'key_1' },
    mail_from: 'ann@example.com',
    from: 'ann@example.com',
    subject: 'Hello',
    message_id: `<${_id}@example.com>`,
    size: bytes.length,
    parts: 1,
    left: 0,
    lane: 'transactional',
    ambiguous: 'retry',
    created_at,
    expires_at: new Date(created_at.getTime() + 3 * DAY_MS),
    exp: new Date(Date.now() + 30 * DAY_MS),
    ...change,
    rcpts,
  }
  await collectionOf(db, MESSAGES).insertOne(message)
  if (raw !== undefined) await collectionOf(db, BODIES).insertMany(toBodyDocs(_id, bytes, message.exp))
  return message
}

/** Stores an attempt for the first recipient of a message. */
export async function giveEvent(db: Db, message: MessageDoc, change: Partial<EventDoc> = {}): Promise<EventDoc> {
  const attempt = change.attempt ?? 1
  const event: EventDoc = {
    _id: `${message._id}.0#${attempt}`,
    m: message._id,
    user_id: message.user_id,
    rcpt: message.rcpts[0]?.email ?? '',
    attempt,
    type: 'delivered',
    at: new Date(),
    ms: 12,
    mx: 'mx.example.net',
    code: 250,
    enhanced: '2.0.0',
    text: '250 2.0.0 queued',
    exp: message.exp,
    ...change,
  }
  await collectionOf(db, EVENTS).insertOne(event)
  return event
}
