/**
 * The hot documents of the mail module, which acceptance and delivery write through the driver. The others are models (ADR 3)
 * in the stores of their subjects.
 */
import type { mongo } from 'mongoose'
import type { ManagedBy, ResourceState } from '../../platform/managed/rules/managed-by.ts'
import type { Sentence } from '../../platform/sentences/sentence.ts'
import type { RecipientStatus } from './rules/email-status.ts'
import type { Explained } from './rules/explanation.ts'
import type { Lane } from './rules/flow.ts'
import type { OwnField } from './rules/stream.ts'

export type { ManagedBy, RecipientStatus, ResourceState }

/** What lies in the cell of its message. */
interface InCell {
  /** That of its id (rules/cell.ts): begins the key of a sharded cluster. Absent in documents of earlier releases: 0. */
  cell?: number
}

/** A part of a raw message, at most 1 MiB before compression. `_id` is `<message>#<part>`. Read by `readBody`. */
export interface BodyDoc extends InCell {
  _id: string
  m: string
  p: number
  z: mongo.Binary
  /** How `z` is compressed; absent in small parts, which are stored as they are. */
  enc?: 'zstd'
  /** Deleted at this time: acceptance + lifetime, then final + RETENTION_BODY_DAYS. */
  exp: Date
}

/** A recipient and the last state that was noted in its message. */
export interface RecipientState {
  email: string
  type: 'to' | 'cc' | 'bcc' | 'envelope'
  status: RecipientStatus
  /** SMTP reply code and enhanced code of the last attempt. */
  code?: number
  enhanced?: string
  /**
   * Why the last failed attempt failed (FailureKind of delivery). Of interest while the status is deferred, bounced or
   * failed; absent in messages of earlier releases.
   */
  kind?: string
  at?: Date
  /** The incoming report that decided the status: later results of attempts do not change it. */
  report?: string
  /** DSN parameters of RCPT TO (RFC 3461); `orcpt` in xtext, as it goes into a command. */
  notify?: string[]
  orcpt?: string
}

/** Why a message is captured. */
export type CaptureReason = 'domain' | 'token' | 'report'

/** An accepted message, written in one transaction with its bodies and deliveries. */
export interface MessageDoc extends InCell {
  _id: string
  user_id: string
  domain_id: string
  /** Credential or token that submitted it. */
  via: { channel: 'smtp' | 'http' | 'system'; id?: string }
  /** Envelope sender as it goes out; empty for DSNs. */
  mail_from: string
  /** Account that a delivery report is for: capture mode shows it the report. */
  report_for?: string
  /** It is captured, whatever its domain is set to by now: because of its domain, its token, or the mail that it reports on. */
  capture?: CaptureReason
  /** Recipients that were submitted, in place of which the message goes to the address of its domain's redirect. */
  redirected_from?: Pick<RecipientState, 'email' | 'type'>[]
  /** A TLS report of ours to a recipient domain: it goes out however bad the TLS of its receiver is. */
  tls_report?: boolean
  /** First address of the From header. */
  from: string
  subject: string
  /** Message-ID header with its angle brackets. */
  message_id: string
  size: number
  parts: number
  rcpts: RecipientState[]
  /** Recipients that are not final yet. */
  left: number
  lane: Lane
  /** List within the bulk stream. */
  list?: string
  /** Header fields that the sender wrote, so that deliveries do not add them. */
  own_fields?: OwnField[]
  /** Tracking of the domain that the sender turned off for this message. */
  track?: { opens?: boolean; clicks?: boolean }
  /** What to do with an attempt whose outcome is unknown. */
  ambiguous: 'retry' | 'fail'
  test?: boolean
  tags?: { name: string; value: string }[]
  metadata?: Record<string, string>
  /** The template and the version of it that the parts were made from. */
  template?: { id: string; version: number }
  /** `<operation>:<key>`, unique per account while it lives. */
  idem?: { key: string; hash: string; answer: string; until: Date }
  scheduled_at?: Date
  /** DSN parameters of MAIL FROM; `envid` in xtext, as it goes into a command. */
  dsn?: { ret?: 'FULL' | 'HDRS'; envid?: string }
  smtputf8?: boolean
  body8bit?: boolean
  created_at: Date
  /** No attempt after this time: final DSN. */
  expires_at: Date
  /** When all recipients became final. */
  final_at?: Date
  /** Removal time of the document. */
  exp: Date
}

/** One recipient still to be delivered: hot and small, removed when final. `_id` is `<message>.<n>`. */
export interface DeliveryDoc extends InCell {
  _id: string
  m: string
  user_id: string
  rcpt: string
  /** Destination site: provider, MX roll-up or domain. */
  site: string
  slot: number
  lane: Lane
  /**
   * Name of its flow (rules/flow.ts) while it is ready to be taken; absent while a worker holds it and while its time
   * has not come. At `due` it becomes ready.
   */
  flow?: string
  /** Next time to try, and the visibility timeout while a worker holds it. */
  due: Date
  /** Names the claim that holds it. */
  tok?: string
  /** Set to `dot` before the final dot goes out. */
  ph?: 'dot'
  att: number
  /** Ambiguous attempts so far. */
  amb?: number
  last?: Explained & { code?: number; enhanced?: string; mx?: string; at: Date }
  expires_at: Date
  created_at: Date
}

/**
 * One attempt, or what a report said about a recipient later; append-only. `_id` is `<delivery>#<attempt>` or
 * `<delivery>#report-<type>` or that of an open or a click, so a repeated insert changes nothing.
 */
export interface EventDoc extends Explained, InCell {
  _id: string
  m: string
  user_id: string
  rcpt: string
  /** 0: a report, or what the recipient did. */
  attempt: number
  type:
    | 'delivered'
    | 'deferred'
    | 'bounced'
    | 'failed'
    | 'suppressed'
    | 'canceled'
    | 'expired'
    | 'complained'
    | 'reported'
    | 'unsubscribed'
    | 'opened'
    | 'clicked'
  /** Why the attempt failed (FailureKind of delivery); absent in events of release 0.1.0. */
  kind?: string
  at: Date
  ms: number
  mx?: string
  ip?: string
  tls?: { version: string; cipher: string; verified: boolean }
  code?: number
  enhanced?: string
  /** The outcome is unknown: the final dot went out and no reply came. */
  ambiguous?: boolean
  /** Target of a link that was followed. */
  url?: string
  /** Program that opened the message or followed the link, as it names itself. */
  user_agent?: string
  /** Probably a program and no person. */
  machine?: boolean
  /** Redacted SMTP conversation, at most 4 KiB. */
  conversation?: string
  exp: Date
}

/** Ownership of a delivery slot: the truth that fences workers. */
export interface SlotDoc {
  _id: number
  owner: string
  epoch: number
  until: Date
}

/** State of a destination site that is, or lately was, in trouble: what workers share and people see. */
export interface SiteDoc {
  _id: string
  /** Absent in documents of release 0.1.0: throttled. */
  state?: 'up' | 'throttled' | 'down'
  /** When this state began. */
  since?: Date
  /** The reply or error that began it; in English where it is ours. */
  reason?: string
  /** Code and parameters of `reason`, where it is ours. */
  explanation?: Sentence
  /** Nothing begins before; for a site that is down, the time of the next probe. */
  suspended_until?: Date
  /** Transactions at once that the writing worker allows. */
  limit: number
  /** Messages a second that the writing worker allows; absent without a limit. */
  rate?: number
  /** Worker that wrote it last. */
  by?: string
  updated_at: Date
}
