/** A message to some recipients of one destination, and what becomes of it: the terms between delivery and a transport. */
import type { Stage } from '../rules/classify-reply.ts'
import type { Reply } from '../rules/smtp-reply.ts'
import type { WireError } from './smtp-wire.ts'

/** One recipient of a transaction. */
export interface Recipient {
  email: string
  notify?: readonly string[] | undefined
  orcpt?: string | undefined
}

/** A message on its way to some recipients of one destination. */
export interface Transaction {
  /** What it is about and whose it is, for the captured mail; `deliveryId` is the first recipient's. */
  origin: { messageId: string; userId: string; deliveryId: string }
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
  /** Marks the attempt durably; false: another worker owns the delivery now, nothing may be sent. */
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
