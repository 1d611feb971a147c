/** The terms between delivery and a way out (SMTP to receivers or to a relay, or the captured mail), and its interface. */
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'
import type { CaptureReason } from '../../store/documents.ts'
import type { Stage } from '../rules/classify-reply.ts'
import type { Reply } from '../rules/smtp-reply.ts'
import type { StsPolicy } from '../rules/tls-requirement.ts'
import type { ReportedPolicy } from '../rules/tls-results.ts'
import type { TlsFacts, WireError } from './smtp-wire.ts'

/** Where a transaction goes: hosts in order, one key for connections that may be shared. */
export interface Route {
  /** Connections of equal keys serve each other's transactions. */
  key: string
  hosts: readonly string[]
  policy?: StsPolicy | undefined
  /** The policy as TLS reports name it; absent: sessions are not counted for them. */
  reported?: ReportedPolicy | undefined
  /** Into the captured mail, and why; `installation`: DELIVERY_MODE=capture. */
  capture?: CaptureReason | 'installation'
  /** The simulator answers: no place at the site is needed, and nothing is learned about it. */
  simulated?: true
}

/** The next hop of relay mode. */
export interface Relay {
  host: string
  port: number
  implicitTls: boolean
  login?: { user: string; password: string }
}

/** One recipient of a transaction. */
export interface Recipient {
  email: string
  notify?: readonly string[] | undefined
  orcpt?: string | undefined
  /** Attempts before this one, for the simulator; default 0. */
  attempts?: number
  /** For the simulator: false when no complaint of this recipient is recorded; default true. */
  complains?: boolean
}

/** A message on its way to some recipients of one destination. */
export interface Transaction {
  /** What it is about and whose it is, for the captured mail; `deliveryId` is the first recipient's. */
  origin: { messageId: string; userId: string; deliveryId: string; domainId: string }
  from: string
  recipients: readonly Recipient[]
  /** Complete, CRLF line ends, dots not stuffed. */
  content: Buffer
  /** Has bytes above 127. */
  eightBit: boolean
  /**
   * The message in 7 bits, signed again, for a server without 8BITMIME; or the reply that explains why there is none.
   * Called before anything is sent. Never rejects.
   */
  sevenBit?(): Promise<{ content: Buffer } | Reply>
  /** An address, in the envelope or in the header, needs SMTPUTF8. */
  utf8: boolean
  dsn?: { ret?: 'FULL' | 'HDRS'; envid?: string } | undefined
  /** Marks the attempt durably; false: another worker owns the delivery, or the message is captured now; nothing may be sent. */
  mark(): Promise<boolean>
  /** Asked directly before the final dot. */
  mayFinish(): boolean
}

/** What became of each recipient, in order. `unknown`: the dot went out and no reply came. */
export type RecipientOutcome =
  | { kind: 'reply'; stage: Stage; reply: Reply }
  | { kind: 'error'; error: WireError }
  | { kind: 'unknown'; error: WireError }
  | { kind: 'withheld' }
  /** The server cannot take what the message needs; found before anything was sent. */
  | { kind: 'unsupported'; reply: Reply }

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
  /** The simulator answered, which is no evidence about a site. `retryMs`: the wait for the next attempt, if there is one. */
  simulated?: { retryMs: number }
  /**
   * No host let a session begin, and why. `until`: none was asked, because all failed lately; then the outcomes are
   * `withheld`. In milliseconds. `ofDomain`: for this domain only.
   */
  unreachable?: { reason: StoredSentence; until?: number; ofDomain?: boolean } | undefined
}

/** A transaction whose content is not in memory yet. */
export interface Unopened {
  recipients: readonly Recipient[]
  /** Called once a session is open, at most once; undefined: it cannot be sent, and all its outcomes are `withheld`. */
  open(): Promise<Transaction | undefined>
}

/** Carries transactions: over SMTP, into the captured mail, or to the simulator. */
export interface Transport {
  send(route: Route, transaction: Transaction | Unopened, messagesPerConnection: number): Promise<Sent>
  /** Closes idle connections; those in use close when their transaction ends. */
  stop(): Promise<void>
}
