/** What SMTP and HTTP submit, and the result. */

import type { ProblemCode } from '../../platform/problems.ts'
import type { Sentence } from '../../platform/sentences/sentence.ts'
import type { LineError } from '../message/line-endings.ts'
import type { MessageDoc, RecipientState } from '../store/documents.ts'

/** The login that submits. */
export interface Submitter {
  userId: string
  /** Credential or token. */
  via: MessageDoc['via']
  /** Addresses or `@domain` allowed as sender; empty = every domain of the account. */
  allowedSenders: readonly string[]
  /** Messages per hour; 0 = no limit. Counted under `via.id`. */
  messagesPerHour: number
  /** Takes the place of senders that the login may not use, in the envelope and in From. */
  fallbackSender?: string
  /** The login may send with an empty envelope sender, as bounces do. */
  allowNullSender?: boolean
  test?: boolean
  /** What the login submits is captured, whatever its domain is set to. */
  capture?: boolean
}

/** One envelope recipient. */
export interface SubmittedRecipient {
  email: string
  type: RecipientState['type']
  notify?: readonly string[]
  orcpt?: string
}

/** What follows `raw` in a large message: it was stored while it came in. */
export interface SubmittedRest {
  /** Of the message: its parts carry it. */
  id: string
  /** Bytes, and the parts that hold them. */
  size: number
  parts: number
  /** The first error in the lines of the complete message. */
  lineError: LineError | undefined
  /** Of envelope and bytes, when the message has an idempotency key. */
  hash: string | undefined
  /** Removes the parts; never rejects. Only while no transaction names them. */
  discard(): Promise<void>
}

/** The rest of one large message while it comes in. One call at a time. */
export interface IncomingRest {
  /** Stores the next part, of at most 1 MiB. Its memory may be used again when this resolves. */
  write(part: Buffer): Promise<void>
  /** Removes what was stored; never rejects. */
  discard(): Promise<void>
  /** Everything was written. */
  finish(): SubmittedRest
}

/** Begins to store the rest of a message whose envelope and beginning (`raw`, with the complete header) are known. */
export type OpenRest = (submission: Submission) => IncomingRest

/** A submitted message: the bytes as they came in and the envelope, whatever the channel. */
export interface Submission {
  submitter: Submitter
  /** Envelope sender as submitted; empty only where the submitter may. */
  mailFrom: string
  recipients: readonly SubmittedRecipient[]
  /** RFC 5322 message, CRLF line ends, dots not stuffed: all of it, or what comes before `rest`, with the header. */
  raw: Buffer
  rest?: SubmittedRest
  /** For the Received header. */
  received: { from: string; ip: string; protocol: 'ESMTPSA' | 'ESMTPA' | 'HTTPS' | 'HTTP' }
  smtputf8?: boolean
  body8bit?: boolean
  dsn?: MessageDoc['dsn']
  /** Before what the header of the message says. */
  lane?: MessageDoc['lane']
  /** List within the bulk stream, likewise. */
  list?: MessageDoc['list']
  /** What of it is tracked, of what its domain tracks; `true` is refused where the domain does not. */
  track?: { opens?: boolean | undefined; clicks?: boolean | undefined }
  ambiguous?: MessageDoc['ambiguous']
  tags?: MessageDoc['tags']
  metadata?: MessageDoc['metadata']
  template?: MessageDoc['template']
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
  detail: Sentence
  /** Of a limit that is used up: how much there is and was left, and when it starts again. */
  quota?: { limit: number; left: number; resetSeconds: number }
}

/** See accept.ts. Resolves only after the message is durable; `queue_unavailable` on any doubt. */
export type Accept = (submission: Submission) => Promise<Accepted | Refused>
