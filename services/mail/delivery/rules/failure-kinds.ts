/** The classes of failed attempts, and the form of the tables that assign them. */

/**
 * Why an attempt failed. Only `address` is about the recipient's mailbox and may suppress it. `authentication`: the
 * receiver could not verify who sent it (SPF, DKIM, DMARC, PTR, TLS). `reputation`: the address, host or domain of the
 * sender is blocked. `content`: what the message says. `policy`: a refusal for a reason that the receiver keeps.
 * `own_fault`: our system or its DNS breaks a rule of SMTP (syntax, loop, relaying).
 */
export const FAILURE_KINDS = [
  'address',
  'mailbox_full',
  'greylisted',
  'throttled',
  'authentication',
  'reputation',
  'content',
  'policy',
  'own_fault',
  'size',
  'unsupported',
  'dns',
  'network',
  'tls',
  'relay_login',
  'signing',
  'other',
] as const

/** One of {@link FAILURE_KINDS}. */
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** What an attempt came to for one recipient. */
export interface Classification {
  outcome: 'delivered' | 'deferred' | 'bounced'
  kind?: FailureKind
  /** The receiver asks for less: the site's limit shrinks. */
  slowDown?: true
}

/** What a row of a table says about a reply that it matches. */
export interface Meaning {
  kind: FailureKind
  /** Deferred also after a 5xx, which some providers answer to a sender that is only too fast. */
  retry?: true
  /** A deferral asks for less. */
  slow?: true
}

/** A row of a table; a reply has to match all patterns that the row has. */
export interface ReplyRow extends Meaning {
  /** Destination sites (rules/assign-slot.ts); absent: any, because the provider has customers with domains of their own. */
  sites?: readonly string[]
  codes?: RegExp
  enhanced?: RegExp
  text?: RegExp
}
