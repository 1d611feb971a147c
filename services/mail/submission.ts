/** What SMTP and HTTP hand to the one door, and what it answers. */
import type { ProblemCode } from '../platform/problems.ts'
import type { MessageDoc, RecipientState } from './store/documents.ts'

/** The login that submits, as the door needs to know it. */
export interface Submitter {
  userId: string
  /** Credential or token. */
  via: MessageDoc['via']
  /** Addresses or `@domain` allowed as sender; empty = every domain of the account. */
  allowedSenders: readonly string[]
  /** Messages per hour; 0 = no limit. Counted under `via.id`. */
  messagesPerHour: number
  test?: boolean
}

/** One envelope recipient. */
export interface SubmittedRecipient {
  email: string
  type: RecipientState['type']
  notify?: readonly string[]
  orcpt?: string
}

/** A message at the door: the bytes as submitted and the envelope, whatever the channel. */
export interface Submission {
  submitter: Submitter
  /** Envelope sender; never empty for users. */
  mailFrom: string
  recipients: readonly SubmittedRecipient[]
  /** Complete RFC 5322 message, CRLF line ends, dots not stuffed. */
  raw: Buffer
  /** For the Received header. */
  received: { from: string; ip: string; protocol: 'ESMTPSA' | 'ESMTPA' | 'HTTPS' | 'HTTP' }
  smtputf8?: boolean
  body8bit?: boolean
  dsn?: MessageDoc['dsn']
  lane?: MessageDoc['lane']
  ambiguous?: MessageDoc['ambiguous']
  tags?: MessageDoc['tags']
  metadata?: MessageDoc['metadata']
  scheduledAt?: Date
  /** Latest time of an attempt; default acceptance + 72 h. */
  expiresAt?: Date
  /** Made beforehand when the caller needs the id in its answer (idempotency). */
  idem?: { key: string; hash: string }
}

/** The durable answer. */
export interface Accepted {
  kind: 'accepted'
  id: string
  messageId: string
  createdAt: Date
  recipients: { email: string; type: RecipientState['type']; status: 'queued' | 'scheduled' | 'suppressed' }[]
  /** True when an equal idempotency key had been accepted before; nothing was stored again. */
  replayed: boolean
}

/** A refusal as a value: expected, answered per channel from the register of problems. */
export interface Refused {
  kind: 'refused'
  code: ProblemCode
  detail: string
  /** Of a limit that is used up: how much there is and was left, and when it starts anew. */
  quota?: { limit: number; left: number; resetSeconds: number }
}

/** The one door (accept.ts). Resolves only after the message is durable; `queue_unavailable` on any doubt. */
export type Accept = (submission: Submission) => Promise<Accepted | Refused>
