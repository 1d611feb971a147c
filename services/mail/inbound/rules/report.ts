/** What an incoming message reports about a message of ours. */

/** A report, by what it says. Everything in it was written by the sender of the report and proves nothing. */
export type Report = DeliveryStatusReport | FeedbackReport | AutoReply | UnknownReport

/** What became of a message: a bounce, a delay or a confirmation (RFC 3464, and texts of products that do not follow it). */
export interface DeliveryStatusReport {
  kind: 'delivery_status'
  /** At least one; one without addresses if the report names none that can be read. */
  recipients: ReportedRecipient[]
  original?: OriginalMessage
}

/** One recipient of a delivery status report. Addresses are in the form of `normaliseEmail`. */
export interface ReportedRecipient {
  /** The address that the reporting server tried. */
  finalRecipient?: string
  /** The address of the submission, before forwarding. */
  originalRecipient?: string
  action: ReportedAction
  /** Enhanced status code, such as 5.1.1. */
  status?: string
  /** Reply or reason, on one line of at most 1,000 characters, without the type (`smtp;`). */
  diagnostic?: string
  /** Name of the server that gave the diagnostic. */
  remoteMta?: string
}

/** RFC 3464 section 2.3.3. */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** A complaint of a mailbox provider about a message (RFC 5965), or its report about failed authentication (RFC 6591). */
export interface FeedbackReport {
  kind: 'feedback'
  /** In lower case: `abuse`, `fraud`, `virus`, `not-spam`, `auth-failure`, `opt-out`, `other` or an extension. */
  feedbackType: string
  /** Empty if the provider redacts recipients. */
  originalRecipients: string[]
  /** Envelope sender of the original. */
  originalMailFrom?: string
  sourceIp?: string
  reportedDomain?: string
  /** Program of the provider that made the report; at most 200 characters. */
  userAgent?: string
  /** When the provider got the original. */
  arrivedAt?: Date
  original?: OriginalMessage
}

/** An answer that no person wrote: out of office, a read receipt, a ticket number. Never a reason to suppress. */
export interface AutoReply {
  kind: 'auto_reply'
}

/** Anything else, such as a person's answer. */
export interface UnknownReport {
  kind: 'unknown'
}

/** The message that a report is about, as far as the report has it. */
export interface OriginalMessage {
  /** With angle brackets, as in the field. */
  messageId?: string
  /** Address of the author. */
  from?: string
  feedbackId?: string
  listUnsubscribe?: string
  /** Unfolded values by lower-case name; of several fields with one name the first counts. */
  headers: ReadonlyMap<string, string>
  /** The original is a report itself (null sender, RFC 3464, `Auto-Submitted`): it must not lead to another one. */
  isReport: boolean
}
