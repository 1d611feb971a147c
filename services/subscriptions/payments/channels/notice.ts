/** The notice of a payment channel in a common form, after its signature was verified. */

/** One notice. Amounts are in cents. */
export type Notice =
  | { kind: 'paid'; outTradeNo: string; paymentId: string; amountCents: number; paidAt: number }
  | {
      kind: 'refunded'
      paymentId: string
      refundId: string
      amountCents: number
      /** True where the amount is the sum of all refunds of the payment so far. */
      cumulative: boolean
    }
  | { kind: 'changed'; type: string; subtype: string; purchaseToken: string; purchaseOrderId: string }
  | { kind: 'ignored'; reason: string }

/** A verified notice with the channel's own number of it, which identifies repeats. */
export interface CheckedNotice {
  eventId: string
  notice: Notice
}

/** Why a notice is refused: invalid signature, too old, or not for this app or order. */
export type RefusalReason = 'forged' | 'late' | 'mismatch' | 'malformed'

/** A notice that is refused. */
export class NoticeRefused extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'NoticeRefused'
    this.reason = reason
  }
}

/** Text in yuan as cents. Throws {@link NoticeRefused} for invalid text. */
export function centsOf(yuan: string): number {
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(yuan)) throw new NoticeRefused('malformed', 'not an amount')
  return Math.round(Number(yuan) * 100)
}
