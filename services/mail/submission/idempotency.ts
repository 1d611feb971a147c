/** Equal keys, one message: the key is stored with the message, and the result of the first is the result of all. */

import { createHash, type Hash } from 'node:crypto'
import { poll } from '../../platform/concurrency/retry.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { IDEMPOTENCY_LIFETIME_MS } from '../../platform/http/idempotency-key.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { findByIdempotencyKey } from '../store/messages.ts'
import type { NewMessage } from './store/message-documents.ts'
import type { Accepted, Refused, Submission } from './submission.ts'
import { refuse } from './validate-sender.ts'

/** How long to wait for the message that holds a key to become durable. */
const HOLDER_MS = 5_000
/** 1 to 256 printable ASCII characters. */
const KEY = /^[!-~]{1,256}$/
/** The field of a key over SMTP, anywhere in a header. */
const KEY_FIELD = /^x-idempotency-key:/im

/** The key of a submission and the hash of its content. */
export type Key = NonNullable<Submission['idem']>

/**
 * The key that the channel provides, or over SMTP the value of X-Idempotency-Key, which identifies the same envelope
 * and bytes; undefined when there is none.
 */
export function keyOf(submission: Submission, headerValue: string | undefined): Key | Refused | undefined {
  const { submitter, idem, rest } = submission
  if (idem || submitter.via.channel !== 'smtp' || headerValue === undefined) return idem
  if (!KEY.test(headerValue)) return refuse('bad_header', sentence('detail.idempotency_header'))
  return { key: `smtp:${headerValue}`, hash: rest?.hash ?? hashOf(submission).digest('base64url') }
}

/** The hash of a submission over SMTP, to go on with the rest of the message; undefined when it has no key. */
export function beginKeyHash(submission: Submission): Hash | undefined {
  const { submitter, idem, raw } = submission
  return !idem && submitter.via.channel === 'smtp' && KEY_FIELD.test(headerText(raw)) ? hashOf(submission) : undefined
}

function hashOf({ mailFrom, recipients, raw }: Submission): Hash {
  const envelope = JSON.stringify([mailFrom, recipients.map(({ email }) => email)])
  return createHash('sha256').update(envelope).update(raw)
}

function headerText(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n')
  return raw.toString('latin1', 0, end < 0 ? raw.length : end)
}

/** The message with its key and the answer that later calls with the key will get. */
export function withKey(message: NewMessage, key: Key): NewMessage {
  const answer = JSON.stringify(toAccepted(message).recipients)
  return {
    ...message,
    idem: { ...key, answer, until: new Date(message.created_at.getTime() + IDEMPOTENCY_LIFETIME_MS) },
  }
}

/** The answer for a message that was just stored. */
export function toAccepted(message: NewMessage): Accepted {
  const status = message.scheduled_at ? 'scheduled' : 'queued'
  return {
    kind: 'accepted',
    id: message.id,
    messageId: message.message_id,
    createdAt: message.created_at,
    recipients: message.recipients.map(({ email, type, suppressed }) => ({
      ...{ email, type },
      status: suppressed ? 'suppressed' : status,
    })),
    replayed: false,
  }
}

/** The answer that a message with this key got before; undefined when the key is free. */
export async function answerOfKey(
  mongo: Mongo,
  message: { idem?: Key | undefined; user_id: string; created_at: Date },
): Promise<Accepted | Refused | undefined> {
  const { idem, user_id, created_at } = message
  const earlier = idem && (await findByIdempotencyKey(mongo, user_id, idem.key, created_at))
  if (!earlier?.idem) return undefined
  if (earlier.idem.hash !== idem?.hash) return refuse('idempotency_key_reused')
  const recipients: Accepted['recipients'] = JSON.parse(earlier.idem.answer)
  const { _id: id, message_id: messageId, created_at: createdAt } = earlier
  return { kind: 'accepted', id, messageId, createdAt, recipients, replayed: true }
}

/** Another message took the key in this moment; its answer counts once a majority holds it. */
export async function waitForKeyHolder(mongo: Mongo, message: NewMessage): Promise<Accepted | Refused> {
  const ask = () => withTimeout(HOLDER_MS, answerOfKey(mongo, message))
  return (await poll(ask, { pauseMs: 20, timeoutMs: HOLDER_MS })) ?? refuse('queue_unavailable')
}
