/** What delivery asks of a way out: SMTP to receivers or to a relay, or the captured mail. */
import type { StsPolicy } from '../rules/tls-requirement.ts'
import type { TlsFacts } from './smtp-wire.ts'
import type { Recipient, RecipientOutcome, Transaction } from './transaction-types.ts'

/** Where a transaction goes: hosts in order, one key for connections that may be shared. */
export interface Route {
  /** Connections of equal keys serve each other's transactions. */
  key: string
  hosts: readonly string[]
  policy?: StsPolicy | undefined
}

/** The next hop of relay mode. */
export interface Relay {
  host: string
  port: number
  implicitTls: boolean
  login?: { user: string; password: string }
}

/** What a transaction came to. */
export interface Sent {
  /** In the order of the recipients. */
  outcomes: RecipientOutcome[]
  mx?: string | undefined
  ip?: string | undefined
  tls?: TlsFacts | undefined
  /** Redacted, at most 4 KiB. */
  conversation: string
  /** The next hop offers DSN (RFC 3461), so that it answers for reports from now on. */
  dsn: boolean
  /** It is in its mailbox; no next hop follows. */
  delivered?: true
  ms: number
  /**
   * No host let a session begin, and why. `until`: none was asked, because all failed lately; then the outcomes are
   * `withheld`. In milliseconds. `ofDomain`: for this domain only.
   */
  unreachable?: { reason: string; until?: number; ofDomain?: boolean } | undefined
}

/** A transaction whose content is not in memory yet. */
export interface Unopened {
  recipients: readonly Recipient[]
  /** Called once a session is open, at most once; undefined: it cannot be sent, and all its outcomes are `withheld`. */
  open(): Promise<Transaction | undefined>
}

/** Carries transactions: over SMTP, or into the captured mail. */
export interface Transport {
  send(route: Route, transaction: Transaction | Unopened, messagesPerConnection: number): Promise<Sent>
  /** Closes idle connections; those in use close when their transaction ends. */
  stop(): Promise<void>
}
